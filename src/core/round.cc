#include "core/round.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/int128.h"
#include "core/admission.h"
#include "core/commit_order.h"
#include "core/gang_exchange.h"
#include "core/gang_search.h"
#include "core/leader_moves.h"
#include "core/tier_search.h"
#include "cost/waiting_cost.h"

namespace sluice {
namespace {

// In a band the largest class is at most this many times the smallest: the
// narrower, the better a band's mean request stands for all of it, and the
// more passes a round takes.
constexpr int64_t kBandRatioNumerator = 15;
constexpr int64_t kBandRatioDenominator = 10;

// Steps of work that a packing may take.
constexpr int64_t kPackingWork = 20000000;

// Machines that searches may look at in a round: some 50 ms.
constexpr int64_t kSearchBudget = 500000;

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
      sequence_end_(state->counters().next_task_sequence),
      gangs_(state, eligibility, sequence_end_, now_ms),
      search_budget_(kSearchBudget) {}

std::optional<RoundWork> Round::NextStep(RoundStats* stats) {
  CHECK(!pass_.has_value());
  if (!std::exchange(has_replaced_, true)) {
    gangs_.WithdrawHalves();
    Replace(stats);
  }
  while (true) {
    while (bands_.empty()) {
      if (std::exchange(must_ask_, false)) {
        ++stats->packings;
        return PackingWork{packing_->problem, kPackingWork};
      }
      if (!Advance(stats)) return std::nullopt;
    }
    // A gang's trial goes on to its end, or a gang that takes more than one
    // round's work would never start.
    if (IsSpent(*stats) && (!trial_.has_value() || trial_->placed.empty())) {
      stats->is_cut_short = true;
      return std::nullopt;
    }
    state_->SyncPeers();
    pass_classes_ = CollectTasks(bands_.front());
    LookUpPeers(&pass_classes_);
    pass_version_ = state_->version();
    std::vector<const ClassPeers*> peers;
    for (const auto& one : pass_peers_) peers.push_back(one.get());
    for (const ClassPeers* one : FindFollowers()) peers.push_back(one);
    // A gang that goes together takes one machine, not one of many.
    const bool tells_domains =
        std::ranges::any_of(pass_classes_, [](const BandClass& one) {
          return one.gang_minimum > 0 && one.peers != nullptr &&
                 one.peers->NeedsLeader();
        });
    Groups();  // The eligibility is fresh from here.
    std::vector<MachineGroup> parted;
    if (!patterns_.empty()) {
      parted = GroupsByPattern();
    } else if (!peers.empty()) {
      parted = GroupMachines(*state_, *eligibility_,
                             MachineParts(*state_, peers, tells_domains));
    }
    const std::vector<MachineGroup>& groups =
        patterns_.empty() && peers.empty() ? groups_ : parted;
    if (patterns_.empty()) {
      followers_->Guide(groups, eligibility_, &pass_classes_);
    }
    pass_.emplace(groups, policies_, constraints_, eligibility_, pass_classes_,
                  now_ms_);
    stats->arcs += pass_->problem().arc_count();
    if (pass_->has_machines()) {
      ++stats->passes;
      return pass_->TakeProblem();
    }
    pass_.reset();
    bands_.pop_front();
  }
}

void Round::FinishStep(const RoundAnswer& answer, RoundStats* stats) {
  has_changed_ = has_changed_ || pass_version_ != state_->version();
  if (const auto* flow = std::get_if<FlowSolution>(&answer)) {
    FinishPass(*flow, stats);
  } else if (const auto* packing = std::get_if<PackingSolution>(&answer)) {
    FinishPacking(*packing, stats);
  }
}

void Round::FinishPass(const FlowSolution& solution, RoundStats* stats) {
  if (pass_version_ != state_->version()) {
    state_->SyncPeers();
    LookUpPeers(&pass_classes_);
  }
  Band& band = bands_.front();
  std::map<JobId, std::vector<TaskId>> placed_of_gang;
  std::vector<TaskId> placed;
  for (const Proposal& proposal :
       InCommitOrder(*state_, pass_classes_, pass_->Decode(solution))) {
    Member& member = band.members[proposal.class_index];
    // What gangs were weighed against has its own pass later.
    if (!band.gangs.empty() &&
        !pass_classes_[proposal.class_index].gang_minimum)
      continue;
    if (!IsLegal(proposal, stats)) continue;
    --member.count;
    state_->Place(proposal.task, proposal.machine, now_ms_);
    for (const auto& peers : pass_peers_) {
      peers->Note(member.key, proposal.machine);
    }
    placed.push_back(proposal.task);
    if (!band.gangs.empty()) {
      placed_of_gang[*member.key.gang].push_back(proposal.task);
    }
  }
  pass_.reset();
  const auto count = std::ssize(placed);
  stats->placed += count;
  placed_in_stage_ += count;
  placed_in_tier_.insert(placed_in_tier_.end(), placed.begin(), placed.end());
  if (trial_.has_value()) {
    trial_->placed.insert(trial_->placed.end(), placed.begin(), placed.end());
  }
  if (!band.gangs.empty()) {
    for (const Gangs::Waiting& gang : band.gangs) {
      if (!gangs_.IsWhole(gang)) Withdraw(placed_of_gang[gang.job], stats);
    }
    bands_.pop_front();
    return;
  }
  std::erase_if(band.members,
                [](const Member& member) { return member.count <= 0; });
  const bool is_once = !patterns_.empty();
  patterns_.clear();
  pattern_of_.clear();
  if (is_once || count == 0 || band.members.empty()) bands_.pop_front();
  if (count > 0) PlanFollowers();
}

std::vector<const ClassPeers*> Round::FindFollowers() {
  if (!followers_.has_value()) {
    followers_.emplace(*state_, constraints_, sequence_end_, now_ms_);
  }
  // What gangs are weighed against is not placed.
  return followers_->Find(bands_.front().gangs.empty() && patterns_.empty()
                              ? std::span<const BandClass>(pass_classes_)
                              : std::span<const BandClass>());
}

void Round::PlanFollowers() {
  if (trial_.has_value()) return;
  Band band;
  for (const ClassKey& key : followers_->OfGuided()) {
    const int64_t waiting = CountWaiting(key);
    // Where none waits its job may be gone.
    if (key.priority != *priority_ || waiting == 0 || gangs_.IsClosed(key)) {
      continue;
    }
    band.members.push_back({key, waiting, 0});
  }
  if (!band.members.empty()) bands_.push_front(std::move(band));
}

void Round::End(RoundStats* stats) {
  if (trial_.has_value()) EndTrial(stats);
}

bool Round::IsLegal(const Proposal& proposal, RoundStats* stats) const {
  // The cluster may have changed since the network was drawn, and nothing but
  // the state as it is now decides.
  const BandClass& band_class = pass_classes_[proposal.class_index];
  const Task* task = state_->FindTask(proposal.task);
  const Machine* machine = state_->FindMachine(proposal.machine);
  if (task == nullptr || !task->IsSchedulable() || machine == nullptr ||
      !machine->IsUsable() ||
      (task->class_key != band_class.key &&
       (task->class_key.IsBound() || band_class.key.IsBound())) ||
      !constraints_.Allows(task->class_key, *machine)) {
    ++stats->refused;
    return false;
  }
  if (band_class.peers != nullptr && !band_class.peers->Allows(*machine)) {
    ++stats->conflicts;
    return false;
  }
  return true;
}

void Round::LookUpPeers(std::vector<BandClass>* classes) {
  pass_peers_.clear();
  for (BandClass& band_class : *classes) {
    band_class.peers = nullptr;
    const ClassKey& key = band_class.key;
    if (band_class.tasks.empty() ||
        (key.meant_by->empty() && !key.rules->HasPeerTerms())) {
      continue;
    }
    pass_peers_.push_back(
        std::make_unique<ClassPeers>(*state_, constraints_, key));
    const ClassPeers* peers = pass_peers_.back().get();
    band_class.peers = peers;
    if (peers->MustWait()) {
      band_class.tasks.clear();
    } else if (band_class.gang_minimum > 0) {
      band_class.followers = band_class.gang_minimum;
    } else if (peers->NeedsLeader()) {
      band_class.followers = std::ssize(band_class.tasks);
      band_class.tasks.resize(1);
    }
  }
}

void Round::Replace(RoundStats* stats) {
  std::vector<const Task*> newcomers;
  for (const auto& [key, tasks] : state_->pending()) {
    if (!key.rules->replaces.has_value() || gangs_.IsClosed(key)) continue;
    for (const auto& [sequence, task] : tasks) newcomers.push_back(task);
  }
  if (newcomers.empty()) return;
  state_->SyncPeers();
  for (const Task* newcomer : newcomers) {
    const Task* former = state_->FindTask(*newcomer->class_key.rules->replaces);
    if (former == nullptr || former->state != TaskState::kRunning ||
        !state_->CanPreempt(*former)) {
      continue;
    }
    const Machine* machine = state_->FindMachine(former->machine);
    // As if the former one were gone already.
    Machine after = *machine;
    after.used -= former->class_key.request;
    after.ReleasePorts(former->class_key.rules->host_ports);
    if (!machine->IsUsable() ||
        !constraints_.Allows(newcomer->class_key, after) ||
        !ClassPeers(*state_, constraints_, newcomer->class_key, former)
             .Allows(*machine)) {
      continue;
    }
    const bool is_untold = state_->IsUntold(former->id);
    // Others may have been placed because of it.
    if (is_untold && former->class_key.IsBound()) continue;
    if (is_untold) {  // There is nobody to stop yet.
      state_->Withdraw(former->id);
      ++stats->withdrawn;
    } else {
      state_->Preempt(former->id);
      ++stats->replaced;
    }
    state_->PlaceInstead(newcomer->id, machine->id, now_ms_);
    ++stats->placed;
  }
}

bool Round::StartPacking(RoundStats* stats) {
  if (IsSpent(*stats)) return false;
  Groups();
  TierPacking tier =
      DescribeTier(*state_, *priority_, delta_begin_, sequence_end_, gangs_,
                   constraints_, eligibility_, now_ms_);
  if (tier.now <= tier.least || tier.problem.groups.empty()) return false;
  packing_ = std::move(tier);
  must_ask_ = true;
  pass_version_ = state_->version();
  return true;
}

void Round::FinishPacking(const PackingSolution& solution, RoundStats* stats) {
  const TierPacking tier = *std::exchange(packing_, std::nullopt);
  const PackingCost cost = {solution.cost.waiting + tier.least.waiting,
                            solution.cost.placed};
  if (cost >= tier.now) return;
  std::vector<TaskId> tasks;
  for (const TaskId id : tier.placed) tasks.push_back(id);
  Withdraw(tasks, stats);
  // Machines that nothing is meant for get what is meant for others like them:
  // the flow then spreads the load over all of them.
  std::vector<std::vector<size_t>> of_group(tier.machines.size());
  std::vector<size_t> taken(tier.machines.size(), 0);
  for (const Pattern& pattern : solution.patterns) {
    auto& holds = patterns_.emplace_back();
    for (const auto& [c, count] : pattern.tasks) {
      holds[tier.classes[c]] = count;
    }
    of_group[pattern.group].push_back(patterns_.size() - 1);
    for (int64_t i = 0; i < pattern.machines; ++i) {
      pattern_of_[tier.machines[pattern.group][taken[pattern.group]++]] =
          static_cast<uint32_t>(patterns_.size() - 1);
    }
  }
  for (size_t g = 0; g < tier.machines.size(); ++g) {
    for (size_t i = taken[g]; i < tier.machines[g].size(); ++i) {
      if (of_group[g].empty()) break;
      pattern_of_[tier.machines[g][i]] =
          static_cast<uint32_t>(of_group[g][i % of_group[g].size()]);
    }
  }
  if (patterns_.empty()) return;
  Band& band = bands_.emplace_back();
  for (const ClassKey& key : tier.classes) {
    const int64_t count = CountWaiting(key);
    if (count > 0) band.members.push_back({key, count, 0});
  }
  if (band.members.empty()) bands_.pop_back();
}

std::vector<MachineGroup> Round::GroupsByPattern() {
  std::vector<MachineGroup> groups =
      GroupMachines(*state_, *eligibility_, MachineParts(pattern_of_));
  std::erase_if(groups, [&](const MachineGroup& group) {
    return !pattern_of_.contains(group.representative().id);
  });
  for (MachineGroup& group : groups) {
    const auto& holds = patterns_[group.part];
    for (const BandClass& one : pass_classes_) {
      const auto it = holds.find(one.key);
      group.room.push_back(it == holds.end() ? 0 : it->second);
    }
  }
  return groups;
}

bool Round::Advance(RoundStats* stats) {
  while (true) {
    if (trial_.has_value()) {
      if (PlanTrial()) return true;
      EndTrial(stats);
    }
    if (!priority_.has_value()) {
      placed_before_ = stats->placed;
      if (!EnterTierBelow(std::nullopt)) return false;
    } else if (stage_ == Stage::kSettle) {
      // What is taken back must be placed again in this round.
      if (!IsSpent(*stats) && PlanSettling(stats)) return true;
      if (!EnterTierBelow(priority_)) {
        if (!MustStartOver(*stats)) return false;
        priority_.reset();
        has_started_over_ = true;
        continue;
      }
    } else if (stage_ == Stage::kHeal) {
      stage_ = Stage::kGangs;
      waiting_gangs_.clear();
      FindWaitingGangs();
    } else if (stage_ == Stage::kGangs || stage_ == Stage::kTrials) {
      if (!waiting_gangs_.empty()) {
        if (PlanGangs(stats)) return true;
        continue;
      }
      if (stage_ == Stage::kGangs) {
        stage_ = Stage::kAdmit;
      } else if (std::exchange(must_refill_, false) ||
                 MoveLeadersOfTier(stats)) {
        stage_ = Stage::kFill;
      } else {
        SearchThisTier(stats);
        StartSettling();
        continue;
      }
    } else if (!IsTierWaiting() && !std::exchange(has_packed_, true) &&
               StartPacking(stats)) {
      stage_ = Stage::kPack;
      return true;
    } else if (!IsTierWaiting() ||
               (stage_ == Stage::kRefill && placed_in_stage_ == 0)) {
      stage_ = Stage::kTrials;
      FindWaitingGangs();
      continue;
    } else if (stage_ == Stage::kAdmit) {
      stage_ = Stage::kFill;
    } else if (stage_ == Stage::kFill && placed_in_stage_ == 0) {
      stage_ = Stage::kPack;
      has_packed_ = true;
      if (StartPacking(stats)) return true;
    } else if (stage_ == Stage::kPack) {
      stage_ = Stage::kRefill;
    }
    placed_in_stage_ = 0;
    if (stage_ != Stage::kGangs && PlanStage()) return true;
  }
}

bool Round::MustStartOver(const RoundStats& stats) const {
  if (stats.placed <= placed_before_) return false;
  return std::ranges::any_of(state_->pending(), [](const auto& entry) {
    const PlacementRules& rules = *entry.first.rules;
    return !rules.affinity.empty() || !rules.spread.empty();
  });
}

// ---------------------------------------------------------------------------
// Gangs

void Round::FindWaitingGangs() {
  Groups();  // The eligibility is asked.
  std::vector<Gangs::Waiting> waiting = gangs_.FindWaiting(*priority_);
  // Of one age those first that are harder to please.
  std::ranges::stable_sort(
      waiting, [this](const Gangs::Waiting& a, const Gangs::Waiting& b) {
        return std::pair(a.submitted_ms, !NeedsLeader(a)) <
               std::pair(b.submitted_ms, !NeedsLeader(b));
      });
  waiting_gangs_.assign(std::make_move_iterator(waiting.begin()),
                        std::make_move_iterator(waiting.end()));
}

bool Round::PlanGangs(RoundStats* stats) {
  const int64_t submitted_ms = waiting_gangs_.front().submitted_ms;
  Band band;
  while (!waiting_gangs_.empty() &&
         waiting_gangs_.front().submitted_ms == submitted_ms) {
    Gangs::Waiting gang = std::move(waiting_gangs_.front());
    waiting_gangs_.pop_front();
    if (!MayFit(gang)) {
      if (stage_ == Stage::kTrials && ExchangeFor(gang, stats)) {
        ++stats->searches;
      }
      continue;
    }
    if (stage_ == Stage::kTrials || NeedsLeader(gang)) {
      if (!band.gangs.empty()) {
        waiting_gangs_.push_front(std::move(gang));
        break;
      }
      StartTrial(std::move(gang));
      return true;
    }
    for (const ClassKey& key : gang.classes) {
      band.members.push_back({key, CountWaiting(key), 0});
    }
    band.gangs.push_back(std::move(gang));
  }
  if (band.gangs.empty()) return false;
  Resources free;
  for (Member& member : FittingClasses(&free)) {
    band.members.push_back(std::move(member));
  }
  bands_.push_back(std::move(band));
  return true;
}

bool Round::MayFit(const Gangs::Waiting& gang) {
  int64_t missing = gang.minimum;
  std::vector<int64_t> room_of_class;
  for (const ClassKey& key : gang.classes) {
    const int64_t count = CountWaiting(key);
    std::vector<bool> allowed(static_cast<size_t>(eligibility_->kind_count()));
    for (const Eligibility::Kind& kind : eligibility_->KindsFor(*key.rules)) {
      allowed[static_cast<size_t>(kind.id)] = true;
    }
    int64_t fit = 0;
    for (const MachineGroup& group : Groups()) {
      if (fit >= count) break;
      if (!allowed[static_cast<size_t>(group.kind)] ||
          !constraints_.AllowsLoad(key, group.representative(), group.free)) {
        continue;
      }
      fit += group.size() * TimesIn(group.free, key, count);
    }
    missing -= std::min(fit, count);
    room_of_class.push_back(std::min(fit, count));
  }
  if (missing > 0) return false;
  for (size_t i = 0; i < room_of_class.size(); ++i) {
    const int64_t room = room_of_class[i];
    missing += room - RoomBesideItself(gang.classes[i], room);
  }
  return missing <= 0;
}

int64_t Round::RoomBesideItself(const ClassKey& key, int64_t count) const {
  if (count == 0 || !key.rules->HasPeerTerms()) return count;
  const ClassPeers peers(*state_, constraints_, key);
  for (const auto& one : peers.LimitsFor(count).topologies) {
    const bool binds_everywhere =
        std::ranges::all_of(state_->machines(), [&](const auto& entry) {
          return one.topology->DomainOf(entry.first) != kNoDomain;
        });
    if (!one.room.has_value() || !binds_everywhere) continue;
    int64_t room = 0;
    for (DomainIndex d = 0; d < one.topology->domain_end(); ++d) {
      if (one.topology->MachinesOf(d).empty()) continue;
      room += (*one.room)[static_cast<size_t>(d)];
    }
    count = std::min(count, room);
  }
  return count;
}

int64_t Round::CountWaiting(const ClassKey& key) const {
  const auto it = state_->pending().find(key);
  if (it == state_->pending().end()) return 0;
  return std::distance(it->second.begin(),
                       it->second.lower_bound(sequence_end_));
}

bool Round::NeedsLeader(const Gangs::Waiting& gang) const {
  const auto wants_others = [](const ClassKey& key) {
    return !key.rules->affinity.empty() || !key.rules->preferred_peers.empty();
  };
  if (std::ranges::none_of(gang.classes, wants_others)) return false;
  // All in one domain are decided on together.
  return !std::ranges::all_of(gang.classes, [&](const ClassKey& key) {
    const ClassPeers peers(*state_, constraints_, key);
    return key.rules->preferred_peers.empty() && peers.NeedsLeader() &&
           key.rules->affinity == gang.classes.front().rules->affinity &&
           key.rules->affinity.size() == 1;
  });
}

void Round::StartTrial(Gangs::Waiting gang) {
  trial_.emplace().gang = std::move(gang);
  PlanTrial();
}

bool Round::PlanTrial() {
  Trial& trial = *trial_;
  const bool has_placed = trial.placed.size() > trial.placed_before;
  if (trial.is_planned && !has_placed) return false;
  trial.is_planned = true;
  trial.placed_before = trial.placed.size();
  std::vector<Member> members;
  for (const ClassKey& key : trial.gang.classes) {
    members.push_back({key, CountWaiting(key), 0});
  }
  // Each class by itself: what one leaves is the next one's.
  std::ranges::stable_sort(members, [](const Member& a, const Member& b) {
    return b.key.request < a.key.request;
  });
  for (Member& member : members) {
    if (member.count == 0) continue;
    bands_.emplace_back().members.push_back(std::move(member));
  }
  return !bands_.empty();
}

void Round::EndTrial(RoundStats* stats) {
  bands_.clear();
  const Trial trial = *std::exchange(trial_, std::nullopt);
  if (gangs_.IsWhole(trial.gang)) return;
  Withdraw(trial.placed, stats);
  if (stage_ != Stage::kTrials || search_budget_ <= 0) return;
  state_->SyncPeers();
  ++stats->searches;
  const std::vector<TaskId> placed =
      SearchForGang(trial.gang, sequence_end_, constraints_, now_ms_, state_,
                    &search_budget_);
  stats->placed += std::ssize(placed);
  placed_in_tier_.insert(placed_in_tier_.end(), placed.begin(), placed.end());
  if (placed.empty()) ExchangeFor(trial.gang, stats);
}

bool Round::HasRoomBesideItself(const Gangs::Waiting& gang) const {
  int64_t missing = gang.minimum;
  for (const ClassKey& key : gang.classes) {
    missing -= RoomBesideItself(key, CountWaiting(key));
  }
  return missing <= 0;
}

bool Round::ExchangeFor(const Gangs::Waiting& gang, RoundStats* stats) {
  if (search_budget_ <= 0 ||
      delta_begin_ == state_->counters().next_delta_sequence) {
    return false;
  }
  search_budget_ -= std::ssize(state_->machines());
  if (!HasRoomBesideItself(gang)) return false;
  Groups();  // The eligibility is asked.
  state_->SyncPeers();
  const auto [placed, given_up, has_searched] =
      ExchangeForGang(gang, delta_begin_, sequence_end_, constraints_,
                      eligibility_, now_ms_, state_, &search_budget_);
  stats->placed += std::ssize(placed) - given_up;
  stats->withdrawn += given_up;
  placed_in_tier_.insert(placed_in_tier_.end(), placed.begin(), placed.end());
  must_refill_ = must_refill_ || !placed.empty();
  return has_searched;
}

void Round::Withdraw(const std::vector<TaskId>& tasks, RoundStats* stats) {
  for (const TaskId id : tasks) {
    const Task* task = state_->FindTask(id);
    if (task == nullptr || task->state != TaskState::kRunning ||
        !state_->IsUntold(id)) {
      continue;
    }
    state_->Withdraw(id);
    --stats->placed;
    ++stats->withdrawn;
  }
}

bool Round::MoveLeadersOfTier(RoundStats* stats) {
  if (std::exchange(has_moved_leaders_, true) || IsTierHealing() ||
      !followers_.has_value() || followers_->empty()) {
    return false;
  }
  Groups();  // The eligibility is asked.
  state_->SyncPeers();
  const auto [placed, given_up] =
      MoveLeaders(*priority_, delta_begin_, sequence_end_, gangs_, policies_,
                  constraints_, eligibility_, now_ms_, state_, &search_budget_);
  stats->placed += std::ssize(placed) - given_up;
  stats->withdrawn += given_up;
  placed_in_tier_.insert(placed_in_tier_.end(), placed.begin(), placed.end());
  return !placed.empty();
}

void Round::SearchThisTier(RoundStats* stats) {
  // Others may have been placed because of tasks that were placed before; what
  // was placed may not be legal by now; and gangs are healed before others
  // start.
  if (has_started_over_ || has_changed_ || IsTierHealing()) return;
  Groups();  // The eligibility is asked.
  state_->SyncPeers();
  const auto [placed, given_up] =
      SearchTier(*priority_, delta_begin_, sequence_end_, gangs_, policies_,
                 constraints_, eligibility_, now_ms_, state_, &search_budget_);
  stats->placed += std::ssize(placed) - given_up;
  stats->withdrawn += given_up;
  placed_in_tier_.insert(placed_in_tier_.end(), placed.begin(), placed.end());
}

// ---------------------------------------------------------------------------
// Preferences

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
    if (task == nullptr || task->state != TaskState::kRunning ||
        task->class_key.IsBound()) {
      continue;  // Others may be where they are because of it.
    }
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
    bands_.emplace_back().members.push_back({key, count, 0});
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
        constraints_.AllowsLoad(key, group.representative(), group.free)) {
      least = cost;
    }
  }
  return least;
}

bool Round::IsTierWaiting() const {
  for (auto it = state_->pending().lower_bound(ClassKey{*priority_, {}});
       it != state_->pending().end() && it->first.priority == *priority_;
       ++it) {
    if (it->second.begin()->first < sequence_end_ &&
        !gangs_.IsClosed(it->first)) {
      return true;
    }
  }
  return false;
}

bool Round::IsTierHealing() const {
  for (auto it = state_->pending().lower_bound(ClassKey{*priority_, {}});
       it != state_->pending().end() && it->first.priority == *priority_;
       ++it) {
    if (gangs_.IsHealing(it->first)) return true;
  }
  return false;
}

bool Round::EnterTierBelow(std::optional<uint32_t> priority) {
  for (const auto& [key, tasks] : state_->pending()) {
    if (priority.has_value() && key.priority >= *priority) continue;
    priority_ = key.priority;
    stage_ = Stage::kHeal;
    delta_begin_ = state_->counters().next_delta_sequence;
    placed_in_tier_.clear();
    has_packed_ = false;
    has_moved_leaders_ = false;
    placed_in_stage_ = 0;
    return true;
  }
  return false;
}

bool Round::PlanStage() {
  Resources free;
  std::vector<Member> members = FittingClasses(&free);
  if (stage_ == Stage::kHeal) {
    std::erase_if(members, [&](const Member& member) {
      return !gangs_.IsHealing(member.key);
    });
  }
  if (members.empty()) return false;
  if (stage_ == Stage::kAdmit) AdmitMembers(&members, free);
  CutBands(std::move(members));
  return true;
}

void Round::CutBands(std::vector<Member> members) {
  std::ranges::stable_sort(members, std::ranges::greater{}, &Member::size);
  int64_t smallest_in_band = 0;
  for (Member& member : members) {
    if (member.count == 0) continue;
    if (bands_.empty() || member.size < smallest_in_band) {
      bands_.emplace_back();
      smallest_in_band =
          member.size / kBandRatioNumerator * kBandRatioDenominator;
    }
    bands_.back().members.push_back(std::move(member));
  }
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
    if (gangs_.IsClosed(key)) continue;
    const auto tasks = std::distance(it->second.begin(),
                                     it->second.lower_bound(sequence_end_));
    int64_t fit = 0;
    for (const Eligibility::Kind& kind : eligibility_->KindsFor(*key.rules)) {
      auto& [order, taking] = kinds[static_cast<size_t>(kind.id)];
      for (size_t i = fit < tasks ? 0 : taking; i < order.size(); ++i) {
        if (i < taking && fit >= tasks) i = taking;
        if (i == order.size()) break;
        const MachineGroup& group = groups[order[i]];
        if (!constraints_.AllowsLoad(key, group.representative(), group.free)) {
          continue;
        }
        if (i >= taking) std::swap(order[i], order[taking++]);
        if (fit >= tasks) continue;
        fit += group.size() * TimesIn(group.free, key, tasks);
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
      free->AddScaled(group.free, group.size());
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

std::vector<BandClass> Round::CollectTasks(const Band& band) {
  std::vector<BandClass> classes;
  for (const Member& member : band.members) {
    BandClass& band_class = classes.emplace_back();
    band_class.key = member.key;
    for (const Gangs::Waiting& gang : band.gangs) {
      if (member.key.gang == gang.job) band_class.gang_minimum = gang.minimum;
    }
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
