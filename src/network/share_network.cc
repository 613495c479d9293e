#include "network/share_network.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "solver/dual_bound.h"

namespace sluice {
namespace {

constexpr int64_t kGainMax = std::numeric_limits<int32_t>::max();
// Half of what arrives is lost, and the other half arrives again.
constexpr FlowGain kLost = {1, 2};

// A common divisor of these, or more if the largest would not be a valid gain
// otherwise.
int64_t UnitOf(std::span<const int64_t> amounts) {
  int64_t unit = 0;
  int64_t most = 0;
  for (const int64_t amount : amounts) {
    unit = std::gcd(unit, amount);
    most = std::max(most, amount);
  }
  return std::max(unit, most / kGainMax + 1);
}

// How many tasks of the class a machine of the group has room for.
int64_t FitOn(const PackingProblem& problem, size_t c,
              const PackingGroup& group) {
  if (problem.costs[group.kind][c] == kNotAllowed) return 0;
  const PackingClass& one = problem.classes[c];
  int64_t most = std::min(one.count(), problem.MostOn(c, group.kind));
  for (size_t d = 0; d < one.request.size(); ++d) {
    if (one.request[d] > 0) {
      most = std::min(most, group.free[d] / one.request[d]);
    }
  }
  return std::max<int64_t>(most, 0);
}

// By kind: how many tasks of the class fit on all its machines, at most as many
// as there are.
std::vector<int64_t> FitByKind(const PackingProblem& problem, size_t c) {
  const int64_t count = problem.classes[c].count();
  std::vector<int64_t> fit(problem.costs.size(), 0);
  for (const PackingGroup& group : problem.groups) {
    const int64_t here = FitOn(problem, c, group);
    if (here == 0) continue;
    fit[group.kind] += std::min(count, here * std::min(group.machines, count));
    fit[group.kind] = std::min(fit[group.kind], count);
  }
  return fit;
}

}  // namespace

std::vector<size_t> FindScarce(const PackingProblem& problem) {
  struct Resource {
    double scarcity = 0;
    size_t dimension = 0;
  };
  std::vector<Resource> scarce;
  if (problem.classes.empty()) return {};
  for (size_t d = 0; d < problem.classes.front().request.size(); ++d) {
    double asked = 0;
    double offered = 0;
    for (const PackingClass& one : problem.classes) {
      asked += static_cast<double>(one.request[d]) *
               static_cast<double>(one.count());
    }
    for (const PackingGroup& group : problem.groups) {
      offered += static_cast<double>(group.free[d]) *
                 static_cast<double>(group.machines);
    }
    if (asked > 0 && offered > 0) scarce.push_back({asked / offered, d});
  }
  std::ranges::stable_sort(scarce, std::ranges::greater(), &Resource::scarcity);
  std::vector<size_t> dimensions;
  for (const Resource& one : scarce) dimensions.push_back(one.dimension);
  return dimensions;
}

ShareNetwork::ShareNetwork(const PackingProblem& problem, size_t dimension)
    : packing_(problem) {
  std::vector<int64_t> amounts;
  std::vector<int64_t> waiting;
  std::vector<int64_t> costs;
  for (const PackingClass& one : packing_.classes) {
    amounts.push_back(one.request[dimension]);
    for (const WaitingStep& step : one.waiting) waiting.push_back(step.cost);
  }
  for (const std::vector<int64_t>& row : packing_.costs) {
    for (const int64_t cost : row) {
      if (cost != kNotAllowed) costs.push_back(cost);
    }
  }
  amount_unit_ = UnitOf(amounts);
  waiting_unit_ = UnitOf(waiting);
  cost_unit_ = UnitOf(costs);
  for (const PackingClass& one : packing_.classes) {
    problem_.AddNode(one.count());
  }
  AddKinds(dimension);
  AddLevels();
  AddClasses(dimension);
}

void ShareNetwork::AddKinds(size_t dimension) {
  std::vector<FlowUnits> room(packing_.costs.size(), 0);
  for (const PackingGroup& group : packing_.groups) {
    room[group.kind] += group.free[dimension] / amount_unit_ * group.machines;
  }
  for (size_t k = 0; k < room.size(); ++k) {
    kinds_.push_back(problem_.AddNode(0));
  }
  for (size_t l = 0; l < packing_.level_count(); ++l) {
    levels_.push_back(problem_.AddNode(0));
  }
  sink_ = problem_.AddNode(0);
  for (size_t k = 0; k < room.size(); ++k) {
    problem_.AddArc(kinds_[k], sink_, room[k], 0);
  }
}

void ShareNetwork::AddLevels() {
  most_.resize(levels_.size(), 0);
  for (const PackingClass& one : packing_.classes) {
    for (const WaitingStep& step : one.waiting) {
      most_[step.level] += step.count * (step.cost / waiting_unit_);
    }
  }
  for (size_t l = 0; l < levels_.size(); ++l) {
    held_.push_back(problem_.AddArc(levels_[l], sink_, most_[l], 0));
  }
}

void ShareNetwork::AddClasses(size_t dimension) {
  FlowUnits lost = 0;
  for (ArcIndex a = 0; a < problem_.arc_count(); ++a) {
    lost += problem_.arc(a).capacity();
  }
  for (size_t c = 0; c < packing_.classes.size(); ++c) {
    const PackingClass& one = packing_.classes[c];
    const auto node = static_cast<NodeIndex>(c);
    lost += one.count();
    for (const WaitingStep& step : one.waiting) {
      const FlowCost cost = step.cost / waiting_unit_;
      // A cost that is rounded down to 0 bounds nothing.
      const NodeIndex head = cost > 0 ? levels_[step.level] : sink_;
      const ArcIndex arc = problem_.AddArc(node, head, step.count, 0);
      if (cost > 1) problem_.SetGain(arc, {static_cast<int32_t>(cost), 1});
      wait_arcs_.push_back({arc, step.level, cost});
    }
    const std::vector<int64_t> fit = FitByKind(packing_, c);
    const int64_t amount = one.request[dimension] / amount_unit_;
    for (size_t k = 0; k < fit.size(); ++k) {
      if (fit[k] == 0) continue;
      const FlowCost cost = packing_.costs[k][c] / cost_unit_;
      const ArcIndex arc =
          problem_.AddArc(node, amount > 0 ? kinds_[k] : sink_, fit[k], 0);
      if (amount > 1) problem_.SetGain(arc, {static_cast<int32_t>(amount), 1});
      place_arcs_.push_back({arc, cost});
    }
  }
  problem_.SetGain(problem_.AddArc(sink_, sink_, 2 * lost, 0), kLost);
}

void ShareNetwork::AimAt(std::span<const int64_t> held) {
  for (size_t l = 0; l < levels_.size(); ++l) {
    const int64_t most = l < held.size()
                             ? std::min(held[l] / waiting_unit_, most_[l])
                             : most_[l];
    problem_.SetArc(held_[l], most, 0);
  }
  for (const WaitArc& one : wait_arcs_) {
    problem_.SetArc(one.arc, problem_.arc(one.arc).capacity(),
                    one.level == held.size() ? one.cost : 0);
  }
  const bool is_placed = held.size() >= levels_.size();
  for (const PlaceArc& one : place_arcs_) {
    problem_.SetArc(one.arc, problem_.arc(one.arc).capacity(),
                    is_placed ? one.cost : 0);
  }
  unit_ = is_placed ? cost_unit_ : waiting_unit_;
}

int64_t ShareNetwork::BoundOf(const GeneralizedSolution& solution) const {
  if (solution.outcome != SolveOutcome::kOptimal) return 0;
  const std::optional<FlowCost> bound =
      DualBound(problem_, solution.potentials);
  return std::max<FlowCost>(bound.value_or(0), 0) * unit_;
}

std::vector<NodeMeaning> ShareNetwork::Meanings(
    std::span<const std::vector<MachineId>> machines) const {
  using Kind = NodeMeaning::Kind;
  std::vector<NodeMeaning> meanings(static_cast<size_t>(problem_.node_count()));
  for (size_t c = 0; c < packing_.classes.size(); ++c) {
    meanings[c] = {.kind = Kind::kClass, .class_index = c};
  }
  for (const NodeIndex node : kinds_) {
    meanings[static_cast<size_t>(node)].kind = Kind::kMachines;
  }
  for (size_t g = 0; g < packing_.groups.size(); ++g) {
    NodeMeaning& kind =
        meanings[static_cast<size_t>(kinds_[packing_.groups[g].kind])];
    if (kind.machine_count == 0 && !machines[g].empty()) {
      kind.machine = machines[g].front();
    }
    kind.machine_count += machines[g].size();
  }
  for (size_t l = 0; l < levels_.size(); ++l) {
    meanings[static_cast<size_t>(levels_[l])] = {.kind = Kind::kLevel,
                                                 .level = l};
  }
  meanings[static_cast<size_t>(sink_)].kind = Kind::kSink;
  return meanings;
}

}  // namespace sluice
