#include "round/passes/range_demand.h"

#include <algorithm>
#include <span>
#include <utility>

#include "network/machine_groups.h"
#include "round/passes/tier_demand.h"

namespace sluice {
namespace {

// After this many restarts no more commands are let in.
constexpr int kRestartsMax = 3;

// The cost of a pass grows with the square of its shapes, unless each has many
// tasks.  Up to this many shapes are tried together in any case.
constexpr size_t kShapesMax = 64;
constexpr size_t kPrioritiesPerShapeMin = 2;
// After this many priorities it is checked whether going on is worthwhile.
constexpr size_t kLookAhead = 1024;

}  // namespace

bool RangeSearch::Continue() {
  if (version_ != context_.state.version()) Restart();
  const auto& pending = context_.state.pending();
  while (true) {
    const auto it = pending.lower_bound(ClassKey{next_, {}});
    if (it == pending.end()) break;
    next_ = it->first.priority;
    if (tier_apart_.has_value() && next_ <= *tier_apart_) {
      demand_.next = tier_apart_;
      demand_.is_next_apart = true;
      break;
    }
    if (next_ < bounds_.lowest || priorities_ == bounds_.priorities_max ||
        (priorities_ >= kLookAhead && IsTooVaried())) {
      demand_.next = next_;
      break;
    }
    const std::optional<Verdict> verdict = Add();
    if (!verdict.has_value()) return false;
    if (verdict != Verdict::kAdded) {
      demand_.next = next_;
      demand_.is_next_apart =
          verdict == Verdict::kIsBound || demand_.members.empty();
      break;
    }
    if (next_ == 0) break;
    --next_;
  }
  if (IsTooVaried()) DropTooVaried();
  return true;
}

bool RangeSearch::IsTooVaried() const {
  return alike_ < demand_.members.size() &&
         shapes_used_ * kPrioritiesPerShapeMin > priorities_;
}

void RangeSearch::DropTooVaried() {
  demand_.next = demand_.members[alike_].key.priority;
  demand_.is_next_apart = false;
  demand_.members.erase(demand_.members.begin() + static_cast<int64_t>(alike_),
                        demand_.members.end());
}

void RangeSearch::Restart() {
  ++restarts_;
  const std::vector<MachineGroup>& groups = context_.FreshGroups();
  version_ = context_.state.version();
  tier_apart_ = FindTierApart();
  next_ = bounds_.highest;
  last_.reset();
  added_.clear();
  priorities_ = shapes_used_ = alike_ = 0;
  demand_ = {};
  free_ = cluster_ = request_ = added_request_ = Resources();
  shapes_.clear();
  const auto kinds = static_cast<size_t>(context_.eligibility().kind_count());
  groups_of_kind_.assign(kinds, {});
  most_of_kind_.assign(kinds, {});
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto kind = static_cast<size_t>(groups[g].kind);
    groups_of_kind_[kind].push_back(g);
    most_of_kind_[kind].MaxWith(groups[g].free);
    Resources free = groups[g].free;
    for (ResourceIndex i = 0; i < free.size(); ++i) {
      free.Set(i, std::max<int64_t>(free[i], 0));
    }
    free_.AddScaled(free, groups[g].size());
    cluster_.AddScaled(groups[g].representative().allocatable,
                       groups[g].size());
  }
}

std::optional<uint32_t> RangeSearch::FindTierApart() const {
  std::optional<uint32_t> apart;
  if (!context_.plan.has_value()) return apart;
  const PackingPlan& plan = *context_.plan;
  for (const ClassKey& key : plan.classes) {
    if (!key.gang.has_value() && !plan.followers.contains(key)) continue;
    const uint32_t tier = plan.TierOf(key);
    if (tier > bounds_.highest || (apart.has_value() && tier <= *apart)) {
      continue;
    }
    if (context_.CountWaiting(key) > 0) apart = tier;
  }
  return apart;
}

std::optional<RangeSearch::Verdict> RangeSearch::Add() {
  const auto& pending = context_.state.pending();
  auto it = last_.has_value() ? pending.upper_bound(*last_)
                              : pending.lower_bound(ClassKey{next_, {}});
  for (; it != pending.end() && it->first.priority == next_; ++it) {
    if (context_.budget.IsStepOver() && restarts_ <= kRestartsMax) {
      return std::nullopt;
    }
    const ClassKey& key = it->first;
    last_ = key;
    const int64_t tasks = context_.CountWaiting(key);
    if (tasks == 0) continue;
    if (context_.gangs.IsClosed(key)) return Verdict::kIsBound;
    Shape& shape = shapes_[ShapeOf(key)];
    FindRoom(key, shape.tasks + tasks, &shape);
    if (shape.fit == 0) continue;
    if (key.IsBound()) return Verdict::kIsBound;
    if (shape.fit < shape.tasks + tasks) return Verdict::kHasNoRoom;
    added_.emplace_back(BandMember{key, tasks, SizeOf(key.request, cluster_)},
                        &shape);
    added_request_.AddScaled(key.request, tasks);
  }
  if (added_.empty()) return Verdict::kAdded;
  request_.AddScaled(std::exchange(added_request_, Resources()), 1);
  if (!request_.FitsIn(free_)) return Verdict::kHasNoRoom;
  ++priorities_;
  for (auto& [member, shape] : added_) {
    if (shape->tasks == 0) ++shapes_used_;
    shape->tasks += member.count;
    demand_.members.push_back(std::move(member));
  }
  added_.clear();
  if (priorities_ == 1 || shapes_used_ <= kShapesMax) {
    alike_ = demand_.members.size();
  }
  return Verdict::kAdded;
}

void RangeSearch::FindRoom(const ClassKey& key, int64_t tasks, Shape* shape) {
  const std::vector<MachineGroup>& groups = context_.FreshGroups();
  const std::span<const Eligibility::Kind> kinds =
      context_.eligibility().KindsFor(*key.rules);
  context_.budget.Note(1);
  for (; shape->fit < tasks && shape->kinds_seen < kinds.size();
       ++shape->kinds_seen, shape->groups_seen = 0) {
    const auto kind = static_cast<size_t>(kinds[shape->kinds_seen].id);
    context_.budget.Note(1);
    if (!key.request.FitsIn(most_of_kind_[kind])) continue;
    const std::vector<size_t>& of_kind = groups_of_kind_[kind];
    while (shape->fit < tasks && shape->groups_seen < of_kind.size()) {
      const MachineGroup& group = groups[of_kind[shape->groups_seen++]];
      context_.budget.Note(1);
      if (!context_.constraints.AllowsLoad(key, group.representative(),
                                           group.free)) {
        continue;
      }
      shape->fit += group.size() *
                    TimesIn(group.free, key, context_.state.pending_count());
    }
    if (shape->groups_seen < of_kind.size()) return;
  }
}

}  // namespace sluice
