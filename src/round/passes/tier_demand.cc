#include "round/passes/tier_demand.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "round/passes/admission.h"
#include "state/dominant_share.h"

namespace sluice {
namespace {

// In a band, the largest class is at most this many times the smallest.  The
// narrower the band, the better its mean request represents all of it, but the
// more passes a round takes.
constexpr int64_t kBandRatioNumerator = 15;
constexpr int64_t kBandRatioDenominator = 10;

// Per pass, by estimate: a pass of this size takes some 10 ms to draw.
constexpr int64_t kArcsMax = 50000;

// After this many restarts no more commands are let in.
constexpr int kRestartsMax = 3;

constexpr int64_t kSizeUnits = int64_t{1} << 40;

}  // namespace

int64_t SizeOf(const Resources& request, const Resources& whole) {
  return DominantShare(request, whole)
      .In(kSizeUnits, std::numeric_limits<int64_t>::max() / 64);
}

bool DemandSearch::Continue() {
  const ClusterState& state = context_.state;
  if (version_ != state.version()) Restart();
  const std::vector<MachineGroup>& groups = context_.FreshGroups();
  const auto& pending = state.pending();
  auto it = last_.has_value() ? pending.upper_bound(*last_)
                              : pending.lower_bound(ClassKey{priority_, {}});
  for (; it != pending.end() && it->first.priority == priority_; ++it) {
    if (context_.budget.IsStepOver() && restarts_ <= kRestartsMax) {
      return false;
    }
    last_ = it->first;
    if (!context_.gangs.IsClosed(*last_)) LookAt(*last_, groups);
  }
  // A machine that takes nothing does not show what is scarce.
  Resources cluster;
  for (OfKind& kind : kinds_) {
    kind.order.resize(kind.taking);
    for (const size_t i : kind.order) {
      demand_.free.AddScaled(groups[i].free, groups[i].size());
      cluster.AddScaled(groups[i].representative().allocatable,
                        groups[i].size());
    }
  }
  for (BandMember& member : demand_.members) {
    member.size = SizeOf(member.key.request, cluster);
  }
  return true;
}

void DemandSearch::Restart() {
  ++restarts_;
  const std::vector<MachineGroup>& groups = context_.FreshGroups();
  version_ = context_.state.version();
  last_.reset();
  demand_ = {};
  kinds_.assign(static_cast<size_t>(context_.eligibility().kind_count()), {});
  for (size_t g = 0; g < groups.size(); ++g) {
    OfKind& kind = kinds_[static_cast<size_t>(groups[g].kind)];
    kind.order.push_back(g);
    kind.most.MaxWith(groups[g].free);
  }
}

void DemandSearch::LookAt(const ClassKey& key,
                          const std::vector<MachineGroup>& groups) {
  const int64_t tasks = context_.CountWaiting(key);
  int64_t fit = 0;
  for (const Eligibility::Kind& kind :
       context_.eligibility().KindsFor(*key.rules)) {
    auto& [order, taking, most] = kinds_[static_cast<size_t>(kind.id)];
    context_.budget.Note(1);
    if (!key.request.FitsIn(most)) continue;
    for (size_t i = fit < tasks ? 0 : taking; i < order.size(); ++i) {
      if (i < taking && fit >= tasks) i = taking;
      if (i == order.size()) break;
      context_.budget.Note(1);
      const MachineGroup& group = groups[order[i]];
      if (!context_.constraints.AllowsLoad(key, group.representative(),
                                           group.free)) {
        continue;
      }
      if (i >= taking) std::swap(order[i], order[taking++]);
      if (fit >= tasks) continue;
      fit += group.size() * TimesIn(group.free, key, tasks);
    }
  }
  if (fit > 0 && tasks > 0) {
    demand_.members.push_back({key, std::min(fit, tasks), 0});
  }
}

TierDemand FindDemand(const Tier& tier, RoundContext* context) {
  DemandSearch search(tier, context);
  while (!search.Continue()) context->budget.BeginStep();
  return search.Take();
}

void Admit(const RoundContext& context, TierDemand* demand) {
  std::vector<BandMember>* members = &demand->members;
  std::vector<AdmissionGroup> groups;
  std::vector<size_t> member_of_group;
  for (size_t i = 0; i < members->size(); ++i) {
    const BandMember& member = (*members)[i];
    for (const Task* task :
         context.WaitingTasks(member.key, static_cast<size_t>(member.count))) {
      const Cost cost = context.UrgencyOf(*task);
      if (groups.empty() || member_of_group.back() != i ||
          groups.back().waiting_cost != cost) {
        groups.push_back({member.key.request, cost, 0});
        member_of_group.push_back(i);
      }
      ++groups.back().count;
    }
  }
  const std::vector<int64_t> admitted = Admit(groups, demand->free);
  for (BandMember& member : *members) member.count = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    (*members)[member_of_group[g]].count += admitted[g];
  }
}

ClassKey ShapeOf(ClassKey key) {
  key.priority = 0;
  return key;
}

std::vector<BandMember> MergeAlike(std::vector<BandMember> members) {
  std::vector<BandMember> merged;
  std::map<ClassKey, size_t> of_shape;
  for (BandMember& member : members) {
    if (member.key.IsBound()) {
      merged.push_back(std::move(member));
      continue;
    }
    const auto [it, is_new] =
        of_shape.try_emplace(ShapeOf(member.key), merged.size());
    if (is_new) {
      merged.push_back(std::move(member));
    } else {
      merged[it->second].alike.push_back(member.key);
      merged[it->second].count += member.count;
    }
  }
  return merged;
}

std::vector<Band> CutBands(std::vector<BandMember> members, size_t groups) {
  std::vector<Band> bands;
  std::ranges::stable_sort(members, std::ranges::greater{}, &BandMember::size);
  int64_t smallest_in_band = 0;
  int64_t tasks = 0;  // In the band.
  for (BandMember& member : members) {
    if (member.count == 0) continue;
    tasks += member.count;
    // A class is drawn to as many groups as all tasks may need.
    const bool has_many_arcs =
        !bands.empty() && std::min(tasks, static_cast<int64_t>(groups)) >
                              kArcsMax / (std::ssize(bands.back().members) + 1);
    if (bands.empty() || member.size < smallest_in_band || has_many_arcs) {
      bands.emplace_back();
      tasks = member.count;
      smallest_in_band =
          member.size / kBandRatioNumerator * kBandRatioDenominator;
    }
    bands.back().members.push_back(std::move(member));
  }
  return bands;
}

}  // namespace sluice
