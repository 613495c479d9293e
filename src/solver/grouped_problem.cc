#include "solver/grouped_problem.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "solver/solution.h"

namespace sluice {
namespace {

constexpr int32_t kNone = -1;

// A second problem is worth drawing if it saves this part of the arcs.
constexpr int64_t kSavedPart = 8;

// Stands in for a hash.
constexpr uint64_t kUngroupable = 0;

template <class T>
T& At(std::vector<T>& values, int32_t index) {
  return values[static_cast<size_t>(index)];
}
template <class T>
const T& At(const std::vector<T>& values, int32_t index) {
  return values[static_cast<size_t>(index)];
}

bool IsOpen(const FlowProblem::Arc& arc) { return arc.capacity() > 0; }

// True if the arc may be merged with its parallels.
bool IsMergeable(const FlowProblem::Arc& arc) {
  return IsOpen(arc) && arc.is_plain() && arc.lower == 0 &&
         arc.tail != arc.head;
}

// Where a source's arcs lead, and at what cost: sources with equal offers are
// equal.
struct Offers {
  const FlowProblem* problem;
  std::span<const ArcIndex> arcs;  // By head and cost.

  friend bool operator==(const Offers& a, const Offers& b) {
    return std::ranges::equal(a.arcs, b.arcs, [&](ArcIndex x, ArcIndex y) {
      const FlowProblem::Arc& of_x = a.problem->arc(x);
      const FlowProblem::Arc& of_y = b.problem->arc(y);
      return of_x.head == of_y.head && of_x.whole.cost == of_y.whole.cost;
    });
  }
  template <class H>
  friend H AbslHashValue(H hash, const Offers& offers) {
    for (const ArcIndex arc : offers.arcs) {
      const FlowProblem::Arc& of = offers.problem->arc(arc);
      hash = H::combine(std::move(hash), of.head, of.whole.cost);
    }
    return hash;
  }
};

}  // namespace

GroupedProblem::GroupedProblem(const FlowProblem& problem) : problem_(problem) {
  ListArcs();
  const int64_t saved = GroupSources() + GroupArcs();
  is_worthwhile_ = saved * kSavedPart > std::ssize(arcs_);
  if (is_worthwhile_) Draw();
}

std::span<ArcIndex> GroupedProblem::ArcsFrom(NodeIndex node) {
  return std::span(arcs_).subspan(
      static_cast<size_t>(At(first_arc_, node)),
      static_cast<size_t>(At(first_arc_, node + 1) - At(first_arc_, node)));
}

std::span<const ArcIndex> GroupedProblem::ArcsFrom(NodeIndex node) const {
  return std::span(arcs_).subspan(
      static_cast<size_t>(At(first_arc_, node)),
      static_cast<size_t>(At(first_arc_, node + 1) - At(first_arc_, node)));
}

void GroupedProblem::ListArcs() {
  const auto node_count = static_cast<size_t>(problem_.node_count());
  first_arc_.assign(node_count + 1, 0);
  has_arrivals_.assign(node_count, false);
  for (ArcIndex i = 0; i < problem_.arc_count(); ++i) {
    const FlowProblem::Arc& arc = problem_.arc(i);
    if (!IsOpen(arc)) continue;
    ++At(first_arc_, arc.tail + 1);
    has_arrivals_[static_cast<size_t>(arc.head)] = true;
  }
  for (size_t i = 0; i < node_count; ++i) first_arc_[i + 1] += first_arc_[i];
  arcs_.resize(static_cast<size_t>(first_arc_.back()));
  heads_.resize(arcs_.size());
  std::vector<int32_t> next(first_arc_.begin(), first_arc_.end() - 1);
  for (ArcIndex i = 0; i < problem_.arc_count(); ++i) {
    const FlowProblem::Arc& arc = problem_.arc(i);
    if (!IsOpen(arc)) continue;
    const int32_t k = At(next, arc.tail)++;
    At(arcs_, k) = i;
    At(heads_, k) = arc.head;
  }
}

std::vector<uint64_t> GroupedProblem::HashOffers() const {
  std::vector<uint64_t> hashes(static_cast<size_t>(problem_.node_count()));
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    const bool is_source =
        problem_.supply(node) > 0 && !has_arrivals_[static_cast<size_t>(node)];
    At(hashes, node) = is_source ? 1 : kUngroupable;
  }
  for (ArcIndex i = 0; i < problem_.arc_count(); ++i) {
    const FlowProblem::Arc& arc = problem_.arc(i);
    uint64_t& hash = At(hashes, arc.tail);
    if (hash == kUngroupable || !IsOpen(arc)) continue;
    if (!IsMergeable(arc) || arc.capacity() < problem_.supply(arc.tail)) {
      hash = kUngroupable;
      continue;
    }
    // Order does not matter.  If the sum happens to be 0, once in 2^64 times,
    // the node stays alone.
    hash += absl::HashOf(arc.head, arc.whole.cost);
  }
  return hashes;
}

int64_t GroupedProblem::GroupSources() {
  next_member_.assign(static_cast<size_t>(problem_.node_count()), kNone);
  first_member_.resize(static_cast<size_t>(problem_.node_count()));
  struct Group {
    NodeIndex first;
    NodeIndex last;
  };
  const std::vector<uint64_t> hashes = HashOffers();
  absl::flat_hash_map<uint64_t, int32_t> count_of;
  for (const uint64_t hash : hashes) {
    if (hash != kUngroupable) ++count_of[hash];
  }
  absl::flat_hash_map<Offers, Group> groups;
  int64_t saved = 0;
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    At(first_member_, node) = node;
    const uint64_t hash = At(hashes, node);
    if (hash == kUngroupable || count_of[hash] == 1) continue;
    const std::span<ArcIndex> arcs = ArcsFrom(node);
    std::ranges::sort(arcs, {}, [&](ArcIndex i) {
      const FlowProblem::Arc& arc = problem_.arc(i);
      return std::tuple(arc.head, arc.whole.cost, i);
    });
    const auto [it, is_new] =
        groups.try_emplace(Offers{&problem_, arcs}, Group{node, node});
    if (is_new) continue;
    At(first_member_, node) = it->second.first;
    At(next_member_, std::exchange(it->second.last, node)) = node;
    saved += std::ssize(arcs);
  }
  return saved;
}

std::vector<bool> GroupedProblem::FindParallels() const {
  std::vector<bool> has_parallels(static_cast<size_t>(problem_.node_count()));
  std::vector<NodeIndex> last_from(has_parallels.size(), kNone);
  for (NodeIndex tail = 0; tail < problem_.node_count(); ++tail) {
    const auto begin = static_cast<size_t>(At(first_arc_, tail));
    const auto end = static_cast<size_t>(At(first_arc_, tail + 1));
    for (size_t k = begin; k < end; ++k) {
      if (std::exchange(At(last_from, heads_[k]), tail) == tail) {
        has_parallels[static_cast<size_t>(tail)] = true;
      }
    }
  }
  return has_parallels;
}

int64_t GroupedProblem::GroupArcs() {
  next_parallel_.assign(static_cast<size_t>(problem_.arc_count()), kNone);
  is_follower_.assign(static_cast<size_t>(problem_.arc_count()), false);
  int64_t saved = 0;
  const std::vector<bool> has_parallels = FindParallels();
  // By head: the arcs there from the current tail.
  std::vector<ArcIndex> last_to(static_cast<size_t>(problem_.node_count()),
                                kNone);
  std::vector<ArcIndex> parallels;
  for (NodeIndex tail = 0; tail < problem_.node_count(); ++tail) {
    if (IsGrouped(tail) || !has_parallels[static_cast<size_t>(tail)]) continue;
    for (const ArcIndex i : ArcsFrom(tail)) {
      const FlowProblem::Arc& arc = problem_.arc(i);
      if (!IsMergeable(arc)) continue;
      At(next_parallel_, i) = std::exchange(At(last_to, arc.head), i);
    }
    for (const ArcIndex i : ArcsFrom(tail)) {
      const FlowProblem::Arc& arc = problem_.arc(i);
      if (!IsMergeable(arc)) continue;
      ArcIndex next = std::exchange(At(last_to, arc.head), kNone);
      if (next == kNone || At(next_parallel_, next) == kNone) continue;
      parallels.clear();
      for (; next != kNone; next = At(next_parallel_, next)) {
        parallels.push_back(next);
      }
      std::ranges::sort(parallels, {}, [&](ArcIndex parallel) {
        return std::pair(problem_.arc(parallel).whole.cost, parallel);
      });
      for (size_t k = 0; k + 1 < parallels.size(); ++k) {
        At(next_parallel_, parallels[k]) = parallels[k + 1];
        is_follower_[static_cast<size_t>(parallels[k + 1])] = true;
      }
      At(next_parallel_, parallels.back()) = kNone;
      saved += std::ssize(parallels) - 1;
    }
  }
  return saved;
}

void GroupedProblem::Draw() {
  node_.assign(static_cast<size_t>(problem_.node_count()), kNone);
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    const NodeIndex first = At(first_member_, node);
    if (first == node) {
      At(node_, node) = grouped_.AddNode(problem_.supply(node));
    } else {
      At(node_, node) = At(node_, first);
      grouped_.SetSupply(At(node_, first), grouped_.supply(At(node_, first)) +
                                               problem_.supply(node));
    }
  }
  arc_.assign(static_cast<size_t>(problem_.arc_count()), kNone);
  std::vector<CostSegment> segments;
  for (ArcIndex i = 0; i < problem_.arc_count(); ++i) {
    const FlowProblem::Arc& arc = problem_.arc(i);
    if (!IsOpen(arc) || is_follower_[static_cast<size_t>(i)] ||
        At(first_member_, arc.tail) != arc.tail) {
      continue;
    }
    const NodeIndex tail = At(node_, arc.tail);
    const NodeIndex head = At(node_, arc.head);
    if (IsGrouped(arc.tail)) {
      // Room for one more unit than there is, so that the arc is never full,
      // and no member's arc has a negative reduced cost.
      At(arc_, i) = grouped_.AddArc(tail, head, grouped_.supply(tail) + 1,
                                    arc.whole.cost);
      continue;
    }
    segments.clear();
    if (At(next_parallel_, i) == kNone) {
      const std::span<const CostSegment> own = problem_.segments(i);
      segments.assign(own.begin(), own.end());
    } else {
      for (ArcIndex k = i; k != kNone; k = At(next_parallel_, k)) {
        segments.push_back(problem_.arc(k).whole);
      }
    }
    At(arc_, i) = grouped_.AddConvexArc(tail, head, segments, arc.lower);
  }
}

FlowSolution GroupedProblem::Expand(FlowSolution solution) const {
  if (solution.outcome == SolveOutcome::kOptimal) {
    ExpandFlows(&solution);
    std::vector<FlowCost> potentials;
    potentials.reserve(node_.size());
    for (const NodeIndex node : node_) {
      potentials.push_back(At(solution.potentials, node));
    }
    solution.potentials = std::move(potentials);
  } else if (solution.outcome == SolveOutcome::kInfeasible) {
    solution.witness_cut = ExpandCut(solution.witness_cut);
    solution.error = InfeasibleText(solution.witness_cut);
  }
  return solution;
}

void GroupedProblem::ExpandFlows(FlowSolution* solution) const {
  std::vector<FlowUnits> flows(static_cast<size_t>(problem_.arc_count()), 0);
  for (ArcIndex i = 0; i < problem_.arc_count(); ++i) {
    if (At(arc_, i) == kNone || IsGrouped(problem_.arc(i).tail)) continue;
    FlowUnits left = At(solution->flows, At(arc_, i));
    if (At(next_parallel_, i) == kNone) {
      At(flows, i) = left;
      continue;
    }
    for (ArcIndex k = i; k != kNone && left > 0; k = At(next_parallel_, k)) {
      At(flows, k) = std::min(left, problem_.arc(k).capacity());
      left -= At(flows, k);
    }
  }
  for (NodeIndex first = 0; first < problem_.node_count(); ++first) {
    if (At(first_member_, first) != first || !IsGrouped(first)) continue;
    // The members take the flow on the group's arcs, one after the other.
    const std::span<const ArcIndex> of_group = ArcsFrom(first);
    size_t offer = 0;
    FlowUnits left =
        of_group.empty() ? 0 : At(solution->flows, At(arc_, of_group[0]));
    for (NodeIndex node = first; node != kNone; node = At(next_member_, node)) {
      FlowUnits supply = problem_.supply(node);
      while (supply > 0) {
        while (left == 0) {
          left = At(solution->flows, At(arc_, of_group[++offer]));
        }
        const FlowUnits units = std::min(supply, left);
        At(flows, ArcsFrom(node)[offer]) = units;
        supply -= units;
        left -= units;
      }
    }
  }
  solution->flows = std::move(flows);
}

std::vector<NodeIndex> GroupedProblem::ExpandCut(
    const std::vector<NodeIndex>& cut) const {
  std::vector<bool> is_in_cut(static_cast<size_t>(grouped_.node_count()));
  for (const NodeIndex node : cut) is_in_cut[static_cast<size_t>(node)] = true;
  const auto contains = [&](NodeIndex node) {
    return is_in_cut[static_cast<size_t>(At(node_, node))];
  };
  std::vector<NodeIndex> expanded;
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    if (!contains(node)) continue;
    // A group with an arc out of the cut can dispose of all its supply: it
    // proves nothing, and its members' arcs may hold more than the group's.
    if (IsGrouped(node) &&
        !std::ranges::all_of(ArcsFrom(node), [&](ArcIndex i) {
          return contains(problem_.arc(i).head);
        })) {
      continue;
    }
    expanded.push_back(node);
  }
  return expanded;
}

}  // namespace sluice
