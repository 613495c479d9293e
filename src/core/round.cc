#include "core/round.h"

#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/int128.h"
#include "core/admission.h"
#include "cost/waiting_cost.h"

namespace sluice {
namespace {

// In a band the largest class is at most this many times the smallest: the
// narrower, the better a band's mean request stands for all of it, and the
// more passes a round takes.
constexpr int64_t kBandRatioNumerator = 15;
constexpr int64_t kBandRatioDenominator = 10;

// Classes an exchange may look at before it lets commands in: some 10 ms.
constexpr int64_t kLooksPerStep = 100000;

constexpr int64_t kSizeUnits = int64_t{1} << 40;

// The largest share of the cluster's capacity that a request takes of any
// resource.
int64_t DominantShare(const Resources& request, const Resources& cluster) {
  Int128 share = 0;
  for (ResourceIndex i = 0; i < request.size(); ++i) {
    if (request[i] <= 0 || cluster[i] <= 0) continue;
    share = std::max(share,
                     static_cast<Int128>(request[i]) * kSizeUnits / cluster[i]);
  }
  return static_cast<int64_t>(
      std::min<Int128>(share, std::numeric_limits<int64_t>::max() / 64));
}

}  // namespace

Round::Round(ClusterState* state, const PolicySet& policies,
             const ConstraintSet& constraints, Eligibility* eligibility,
             const RoundOptions& options, int64_t now_ms)
    : state_(state),
      policies_(policies),
      constraints_(constraints),
      eligibility_(eligibility),
      options_(options),
      now_ms_(now_ms),
      sequence_end_(state->counters().next_task_sequence) {}

std::optional<FlowProblem> Round::NextPass(RoundStats* stats) {
  CHECK(!pass_.has_value());
  while (true) {
    while (bands_.empty()) {
      if (exchange_.has_value()) {
        if (!StepExchange(stats)) return FlowProblem();
      } else if (!Advance(stats)) {
        return std::nullopt;
      }
    }
    if (IsSpent(*stats)) {
      stats->is_cut_short = true;
      return std::nullopt;
    }
    pass_.emplace(Groups(), policies_, constraints_, eligibility_,
                  CollectTasks(bands_.front()), now_ms_);
    stats->arcs += pass_->problem().arc_count();
    if (pass_->has_machines()) {
      ++stats->passes;
      return pass_->TakeProblem();
    }
    pass_.reset();
    bands_.pop_front();
  }
}

void Round::FinishPass(const FlowSolution& solution, RoundStats* stats) {
  if (!pass_.has_value()) return;  // A pause of the exchange.
  int64_t placed = 0;
  Band& band = bands_.front();
  for (const Proposal& proposal : pass_->Decode(solution)) {
    // The commit check: the cluster may have changed since the network was
    // drawn, and nothing but the state as it is now decides.
    const Task* task = state_->FindTask(proposal.task);
    const Machine* machine = state_->FindMachine(proposal.machine);
    if (task == nullptr || !task->IsSchedulable() || machine == nullptr ||
        !machine->IsUsable() ||
        !constraints_.Allows(task->class_key, *machine)) {
      ++stats->refused;
      continue;
    }
    --band[proposal.class_index].count;
    state_->Place(task->id, machine->id, now_ms_);
    placed_in_tier_.push_back(task->id);
    ++placed;
  }
  pass_.reset();
  stats->placed += placed;
  placed_in_stage_ += placed;
  std::erase_if(band, [](const Member& member) { return member.count <= 0; });
  if (placed == 0 || band.empty()) bands_.pop_front();
}

bool Round::StepExchange(RoundStats* stats) {
  if (!exchange_->Step(kLooksPerStep)) return false;
  stats->placed += exchange_->outcome().placed - exchange_->outcome().withdrawn;
  stats->withdrawn += exchange_->outcome().withdrawn;
  exchange_.reset();
  return true;
}

bool Round::Advance(RoundStats* stats) {
  while (true) {
    if (!priority_.has_value()) {
      if (!EnterTierBelow(std::nullopt)) return false;
    } else if (stage_ == Stage::kSettle) {
      // What is taken back must be placed again in this round.
      if (!IsSpent(*stats) && PlanSettling(stats)) return true;
      if (!EnterTierBelow(priority_)) return false;
    } else if (!IsTierWaiting() ||
               (stage_ == Stage::kRefill && placed_in_stage_ == 0)) {
      StartSettling();
      continue;
    } else if (stage_ == Stage::kAdmit) {
      stage_ = Stage::kFill;
    } else if (stage_ == Stage::kFill && placed_in_stage_ == 0) {
      exchange_.emplace(state_, constraints_, eligibility_, *priority_,
                        placed_in_tier_, sequence_end_, now_ms_);
      stage_ = Stage::kExchange;
      return true;
    } else if (stage_ == Stage::kExchange) {
      stage_ = Stage::kRefill;
    }
    placed_in_stage_ = 0;
    if (PlanStage()) return true;
  }
}

// A band's slots are those of its largest request, and a later band may leave
// room where an earlier one had none: what was placed for want of anything
// better may do better now.
void Round::StartSettling() {
  stage_ = Stage::kSettle;
  Groups();  // Eligibility is asked below.
  // What the rules are charged where they like best, unless they like all
  // machines alike.
  std::map<const PlacementRules*, std::optional<Cost>> least_of;
  std::map<ClassKey, std::vector<TaskId>> of_class;
  for (const TaskId id : placed_in_tier_) {
    const Task* task = state_->FindTask(id);
    if (task == nullptr || task->state != TaskState::kRunning) continue;
    const auto kinds = eligibility_->KindsFor(*task->class_key.rules);
    const auto [it, is_new] = least_of.try_emplace(task->class_key.rules);
    if (is_new && !kinds.empty()) {
      const auto [least, most] =
          std::ranges::minmax(kinds, {}, &Eligibility::Kind::preference);
      if (least.preference < most.preference) it->second = least.preference;
    }
    if (!it->second.has_value()) continue;
    const Machine& machine = *state_->FindMachine(task->machine);
    const auto kind = std::ranges::lower_bound(
        kinds, eligibility_->KindOf(machine), {}, &Eligibility::Kind::id);
    if (kind != kinds.end() && kind->preference > *it->second) {
      of_class[task->class_key].push_back(id);
    }
  }
  unsettled_.clear();
  for (auto& [key, tasks] : of_class) {
    unsettled_.emplace_back(key, std::move(tasks));
  }
}

bool Round::PlanSettling(RoundStats* stats) {
  while (!unsettled_.empty()) {
    const auto [key, tasks] = std::move(unsettled_.front());
    unsettled_.pop_front();
    const std::optional<Cost> least = LeastPreference(key);
    if (!least.has_value()) continue;
    int64_t count = 0;
    for (const TaskId id : tasks) {
      const Task* task = state_->FindTask(id);
      if (task == nullptr || task->state != TaskState::kRunning ||
          task->class_key != key || !state_->IsUntold(id)) {
        continue;
      }
      const Machine* machine = state_->FindMachine(task->machine);
      if (policies_.PreferenceCost(*key.rules, *machine) <= *least) continue;
      state_->Withdraw(id);
      ++count;
    }
    if (count == 0) continue;
    stats->placed -= count;
    stats->withdrawn += count;
    bands_.push_back({{key, count, 0}});
    return true;
  }
  return false;
}

std::optional<Cost> Round::LeastPreference(const ClassKey& key) {
  const std::vector<MachineGroup>& groups = Groups();
  std::vector<std::optional<Cost>> preference_of(
      static_cast<size_t>(eligibility_->kind_count()));
  for (const Eligibility::Kind& kind : eligibility_->KindsFor(*key.rules)) {
    preference_of[static_cast<size_t>(kind.id)] = kind.preference;
  }
  std::optional<Cost> least;
  for (const MachineGroup& group : groups) {
    const auto& cost = preference_of[static_cast<size_t>(group.kind)];
    if (cost.has_value() && (!least.has_value() || *cost < *least) &&
        constraints_.AllowsLoad(key, group.representative())) {
      least = cost;
    }
  }
  return least;
}

bool Round::IsTierWaiting() const {
  for (auto it = state_->pending().lower_bound(ClassKey{*priority_, {}});
       it != state_->pending().end() && it->first.priority == *priority_;
       ++it) {
    if (it->second.begin()->first < sequence_end_) return true;
  }
  return false;
}

bool Round::EnterTierBelow(std::optional<uint32_t> priority) {
  for (const auto& [key, tasks] : state_->pending()) {
    if (priority.has_value() && key.priority >= *priority) continue;
    priority_ = key.priority;
    stage_ = Stage::kAdmit;
    placed_in_tier_.clear();
    return true;
  }
  return false;
}

bool Round::PlanStage() {
  Resources free;
  std::vector<Member> members = FittingClasses(&free);
  if (members.empty()) return false;
  if (stage_ == Stage::kAdmit) AdmitMembers(&members, free);
  std::ranges::stable_sort(members, std::ranges::greater{}, &Member::size);
  int64_t smallest_in_band = 0;
  for (Member& member : members) {
    if (member.count == 0) continue;
    if (bands_.empty() || member.size < smallest_in_band) {
      bands_.emplace_back();
      smallest_in_band =
          member.size / kBandRatioNumerator * kBandRatioDenominator;
    }
    bands_.back().push_back(std::move(member));
  }
  return true;
}

std::vector<Round::Member> Round::FittingClasses(Resources* free) {
  const std::vector<MachineGroup>& groups = Groups();
  struct OfKind {
    std::vector<size_t> order;  // Groups; those known to take something first.
    size_t taking = 0;          // So many are.
  };
  std::vector<OfKind> kinds(static_cast<size_t>(eligibility_->kind_count()));
  for (size_t g = 0; g < groups.size(); ++g) {
    kinds[static_cast<size_t>(groups[g].kind)].order.push_back(g);
  }
  std::vector<Member> members;
  for (auto it = state_->pending().lower_bound(ClassKey{*priority_, {}});
       it != state_->pending().end() && it->first.priority == *priority_;
       ++it) {
    const ClassKey& key = it->first;
    const auto tasks = std::distance(it->second.begin(),
                                     it->second.lower_bound(sequence_end_));
    int64_t fit = 0;
    for (const Eligibility::Kind& kind : eligibility_->KindsFor(*key.rules)) {
      auto& [order, taking] = kinds[static_cast<size_t>(kind.id)];
      for (size_t i = fit < tasks ? 0 : taking; i < order.size(); ++i) {
        if (i < taking && fit >= tasks) i = taking;
        if (i == order.size()) break;
        const MachineGroup& group = groups[order[i]];
        if (!constraints_.AllowsLoad(key, group.representative())) continue;
        if (i >= taking) std::swap(order[i], order[taking++]);
        if (fit >= tasks) continue;
        fit +=
            group.size() * TimesIn(group.representative().Free(), key, tasks);
      }
    }
    if (fit == 0 || tasks == 0) continue;
    members.push_back({key, std::min<int64_t>(fit, tasks), 0});
  }
  // A machine that takes nothing says nothing about what is scarce.
  Resources cluster;
  for (OfKind& kind : kinds) {
    kind.order.resize(kind.taking);
    for (const size_t i : kind.order) {
      const MachineGroup& group = groups[i];
      free->AddScaled(group.representative().Free(), group.size());
      cluster.AddScaled(group.representative().allocatable, group.size());
    }
  }
  for (Member& member : members) {
    member.size = DominantShare(member.key.request, cluster);
  }
  return members;
}

const std::vector<MachineGroup>& Round::Groups() {
  if (groups_version_ != state_->version()) {
    eligibility_->Refresh(state_);
    groups_ = GroupMachines(*state_, *eligibility_);
    groups_version_ = state_->version();
  }
  return groups_;
}

void Round::AdmitMembers(std::vector<Member>* members,
                         const Resources& free) const {
  std::vector<AdmissionGroup> groups;
  std::vector<size_t> member_of_group;
  for (size_t i = 0; i < members->size(); ++i) {
    const Member& member = (*members)[i];
    int64_t left = member.count;
    for (const auto& [sequence, task] : state_->pending().at(member.key)) {
      if (left-- == 0) break;
      const Cost cost = WaitingCost(now_ms_ - task->submitted_ms);
      if (groups.empty() || member_of_group.back() != i ||
          groups.back().waiting_cost != cost) {
        groups.push_back({member.key.request, cost, 0});
        member_of_group.push_back(i);
      }
      ++groups.back().count;
    }
  }
  const std::vector<int64_t> admitted = Admit(groups, free);
  for (Member& member : *members) member.count = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    (*members)[member_of_group[g]].count += admitted[g];
  }
}

std::vector<BandClass> Round::CollectTasks(const Band& band) const {
  std::vector<BandClass> classes;
  for (const Member& member : band) {
    BandClass& band_class = classes.emplace_back();
    band_class.key = member.key;
    const auto it = state_->pending().find(member.key);
    if (it == state_->pending().end()) continue;
    for (const auto& [sequence, task] : it->second) {
      if (sequence >= sequence_end_ ||
          std::ssize(band_class.tasks) == member.count) {
        break;
      }
      band_class.tasks.push_back(task);
    }
  }
  return classes;
}

}  // namespace sluice
