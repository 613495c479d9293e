#include "round/passes/pass.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "base/strings.h"
#include "round/passes/commit_order.h"
#include "round/passes/job_dealer.h"

namespace sluice {
namespace {

// After this many, commands are let in: some 20 ms.
constexpr size_t kProposalsPerStep = 25000;
// Per pass, by estimate: drawing this many takes some 0.2 s.  With fewer, tasks
// of many sizes fit together less well.
constexpr int64_t kArcsMax = 1'000'000;

}  // namespace

std::optional<RoundWork> Passes::Next(bool must_go_on) {
  CHECK(!network_.has_value());
  if (!proposals_.empty()) {
    Commit();
    return Pause();
  }
  while (!bands_.empty()) {
    if (context_.budget.IsSpent(Effort::kPasses) && !must_go_on) {
      context_.stats->is_cut_short = true;
      return std::nullopt;
    }
    Open();
    if (network_->has_machines()) {
      ++context_.stats->passes;
      if (context_.network_log != nullptr) NoteNetwork();
      return network_->TakeProblem();
    }
    network_.reset();
    bands_.pop_front();
  }
  return std::nullopt;
}

void Passes::NoteNetwork() {
  NetworkLog& log = *context_.network_log;
  if (!log.HasRoomFor(network_->problem(), context_.stats->number)) return;
  std::vector<std::string> names;
  for (const BandClass& one : classes_) {
    const JobId job = one.tasks.empty() ? JobId() : one.tasks.front()->job;
    const Job* of = context_.state.FindJob(job);
    names.push_back(StrCat(one.tasks.size(), " of ",
                           of == nullptr ? "no job" : of->name, ", priority ",
                           one.key.priority));
  }
  log.Open(network_->problem(), network_->Meanings(), std::move(names));
}

void Passes::CutFirst() {
  Band& band = bands_.front();
  if (band.patterns != nullptr || !band.gangs.empty()) return;
  const std::vector<MachineGroup>& groups = context_.FreshGroups();
  int64_t tasks = 0;
  for (size_t i = 0; i < band.members.size(); ++i) {
    tasks += band.members[i].count;
    // A class is drawn to as many groups as all tasks may need.
    if (i == 0 || std::min(tasks, std::ssize(groups)) <=
                      kArcsMax / static_cast<int64_t>(i + 1)) {
      continue;
    }
    const auto rest = band.members.begin() + static_cast<int64_t>(i);
    Band next;
    next.members.assign(std::make_move_iterator(rest),
                        std::make_move_iterator(band.members.end()));
    band.members.erase(rest, band.members.end());
    bands_.insert(bands_.begin() + 1, std::move(next));
    return;
  }
}

void Passes::Open() {
  context_.state.SyncPeers();
  CutFirst();
  classes_ = CollectTasks(bands_.front());
  LookUpPeers();
  version_ = context_.state.version();
  const std::vector<MachineGroup> own = Groups(bands_.front());
  const std::vector<MachineGroup>& groups =
      own.empty() ? context_.FreshGroups() : own;
  const Aggregates& aggregates = context_.FreshAggregates();
  const std::vector<uint32_t> own_group_at =
      own.empty() ? std::vector<uint32_t>() : aggregates.GroupsByPlace(own);
  const std::span<const uint32_t> group_at =
      own.empty() ? context_.FreshGroupsByPlace() : own_group_at;
  const std::span<const Aggregates::Parts> parts =
      own.empty() ? context_.FreshParts()
                  : std::span<const Aggregates::Parts>();
  if (bands_.front().patterns == nullptr) {
    context_.followers().Guide(groups, &context_.eligibility(), &classes_);
  }
  network_.emplace(
      BandNetwork::Input{groups, context_.policies, context_.constraints,
                         classes_, aggregates, group_at, parts},
      &context_.eligibility(), context_.prices, bands_.front().minimums);
  context_.stats->arcs += network_->problem().arc_count();
  context_.budget.Spend(Effort::kPasses, network_->problem().arc_count());
}

// Machines told apart as the band needs it; empty if the groups of the context
// will do.
std::vector<MachineGroup> Passes::Groups(const Band& band) {
  Eligibility& eligibility = context_.eligibility();
  if (band.patterns != nullptr) {
    const auto& of_machine = band.patterns->of_machine;
    MachineParts parts(of_machine);
    // Some machines of a pattern may have company by now, and others not.
    std::vector<const ClassPeers*> followers;
    for (const BandClass& one : classes_) {
      if (one.peers != nullptr && !one.key.rules->affinity.empty()) {
        followers.push_back(one.peers);
      }
    }
    if (!followers.empty()) {
      parts = MachineParts(parts, MachineParts(context_.state, followers,
                                               /*tells_domains=*/false));
    }
    std::vector<const Machine*> machines;
    for (const auto& [id, pattern] : of_machine) {
      const Machine* machine = context_.state.FindMachine(id);
      if (machine != nullptr) machines.push_back(machine);
    }
    std::ranges::sort(machines, {}, &Machine::id);
    std::vector<MachineGroup> groups =
        Parted(GroupMachines(machines, eligibility, parts));
    std::map<ClassKey, size_t> members;
    for (size_t i = 0; i < band.members.size(); ++i) {
      members[band.members[i].key] = i;
      for (const ClassKey& key : band.members[i].alike) members[key] = i;
    }
    for (MachineGroup& group : groups) {
      group.room.assign(band.members.size(), 0);
      for (const auto& [key, count] :
           band.patterns
               ->patterns[of_machine.at(group.representative().id) - 1]) {
        const auto it = members.find(key);
        if (it != members.end()) group.room[it->second] += count;
      }
    }
    return groups;
  }
  std::vector<const ClassPeers*> peers;
  for (const auto& one : peers_) peers.push_back(one.get());
  // Classes that gangs are weighed against are not placed.
  for (const ClassPeers* one : context_.followers().Find(
           band.gangs.empty() ? std::span<const BandClass>(classes_)
                              : std::span<const BandClass>())) {
    peers.push_back(one);
  }
  if (peers.empty()) return {};
  // A gang that goes together takes one machine, not one of many.
  const bool tells_domains =
      std::ranges::any_of(classes_, [](const BandClass& one) {
        return one.gang_minimum > 0 && one.peers != nullptr &&
               one.peers->NeedsLeader();
      });
  return Parted(
      GroupMachines(context_.state, eligibility,
                    MachineParts(context_.state, peers, tells_domains)));
}

std::vector<MachineGroup> Passes::Parted(
    std::vector<MachineGroup> groups) const {
  if (!context_.policies.TellsMachinesApart()) return groups;
  return PartGroups(groups);
}

std::vector<BandClass> Passes::CollectTasks(const Band& band) const {
  std::vector<BandClass> classes;
  for (const BandMember& member : band.members) {
    BandClass& band_class = classes.emplace_back();
    band_class.key = member.key;
    for (const Gangs::Waiting& gang : band.gangs) {
      if (member.key.gang == gang.job) band_class.gang_minimum = gang.minimum;
    }
    const auto count = static_cast<size_t>(member.count);
    band_class.tasks = context_.WaitingTasks(member.key, count);
    for (const ClassKey& key : member.alike) {
      for (const Task* task :
           context_.WaitingTasks(key, count - band_class.tasks.size())) {
        band_class.tasks.push_back(task);
      }
    }
  }
  return classes;
}

void Passes::LookUpPeers() {
  peers_.clear();
  heeding_.clear();
  for (BandClass& band_class : classes_) {
    band_class.peers = nullptr;
    const ClassKey& key = band_class.key;
    if (band_class.tasks.empty() || !key.DependsOnPeers()) continue;
    peers_.push_back(std::make_unique<ClassPeers>(context_.state,
                                                  context_.constraints, key));
    ClassPeers* peers = peers_.back().get();
    if (peers->HeedsPlacements()) heeding_.push_back(peers);
    band_class.peers = peers;
    if (peers->MustWait()) {
      band_class.tasks.clear();
    } else if (band_class.gang_minimum > 0) {
      band_class.followers = band_class.gang_minimum;
    } else if (peers->NeedsLeader() && bands_.front().patterns == nullptr) {
      band_class.followers = std::ssize(band_class.tasks);
      band_class.tasks.resize(1);
    }
  }
}

void Passes::Finish(const FlowSolution& solution) {
  CHECK(network_.has_value());
  if (context_.network_log != nullptr) context_.network_log->Close(solution);
  if (solution.outcome != SolveOutcome::kOptimal) {
    // All else could wait.
    CHECK(bands_.front().minimums == BandNetwork::Minimums::kBinding)
        << "a pass without minimums is infeasible";
    bands_.front().minimums = BandNetwork::Minimums::kElastic;
    network_.reset();
    return;
  }
  RefreshPeers();
  const ClusterState& state = context_.state;
  JobDealer dealer(state);
  const auto deal = [&dealer](JobId job, std::span<const MachineId> machines) {
    return dealer.Deal(job, machines);
  };
  // Each machine of a group in turn gets its share of a minimum.
  const bool heeds_siblings =
      context_.policies.Charges(CostKind::kSiblings) &&
      bands_.front().minimums == BandNetwork::Minimums::kNone;
  proposals_ = InCommitOrder(
      state, classes_,
      heeds_siblings ? network_->Decode(solution, deal, /*mixes_jobs=*/true)
                     : network_->Decode(solution));
  network_.reset();
  Commit();
}

void Passes::RefreshPeers() {
  if (version_ == context_.state.version()) return;
  context_.state.SyncPeers();
  LookUpPeers();
  version_ = context_.state.version();
}

void Passes::Commit() {
  ClusterState& state = context_.state;
  RefreshPeers();
  Band& band = bands_.front();
  // No client may see a part of a gang.
  const size_t end =
      band.gangs.empty()
          ? std::min(next_proposal_ + kProposalsPerStep, proposals_.size())
          : proposals_.size();
  constexpr size_t kAhead = ClusterState::TaskMap::kStepsAhead;
  for (; next_proposal_ < end; ++next_proposal_) {
    const auto task_in = [&](size_t steps) {
      return proposals_[std::min(next_proposal_ + steps, end - 1)].task;
    };
    state.tasks().PrefetchEntry(task_in(2 * kAhead));
    state.tasks().PrefetchObject(task_in(kAhead));
    const Proposal& proposal = proposals_[next_proposal_];
    BandMember& member = band.members[proposal.class_index];
    // What gangs were weighed against has its own pass later.
    if (!band.gangs.empty() && !classes_[proposal.class_index].gang_minimum) {
      continue;
    }
    if (!IsLegal(proposal)) continue;
    --member.count;
    state.Place(proposal.task, proposal.machine, context_.now_ms);
    for (ClassPeers* peers : heeding_) {
      peers->Note(member.key, proposal.machine);
    }
    placed_in_pass_.push_back(proposal.task);
  }
  version_ = state.version();
  if (next_proposal_ == proposals_.size()) EndPass();
}

void Passes::EndPass() {
  proposals_.clear();
  next_proposal_ = 0;
  Band& band = bands_.front();
  const std::vector<TaskId> placed = std::exchange(placed_in_pass_, {});
  placed_.insert(placed_.end(), placed.begin(), placed.end());
  context_.stats->placed += std::ssize(placed);
  context_.budget.Note(kWorkPerPlacement * std::ssize(placed));
  while (WithdrawParts(band.gangs, placed)) WithdrawUnmet(placed);
  std::erase_if(band.members,
                [](const BandMember& member) { return member.count <= 0; });
  if (!band.gangs.empty() || band.patterns != nullptr || placed.empty() ||
      band.minimums != BandNetwork::Minimums::kNone || band.members.empty()) {
    bands_.pop_front();
  }
  if (!placed.empty() && following_ == Following::kNext) AddFollowers();
}

bool Passes::WithdrawParts(std::span<const Gangs::Waiting> gangs,
                           std::span<const TaskId> placed) {
  bool is_any = false;
  for (const Gangs::Waiting& gang : gangs) {
    if (context_.gangs.IsWhole(gang)) continue;
    std::vector<TaskId> of_gang;
    for (const TaskId id : placed) {
      const Task* task = context_.state.FindTask(id);
      if (task->class_key.gang == gang.job &&
          task->state == TaskState::kRunning) {
        of_gang.push_back(id);
      }
    }
    context_.Withdraw(of_gang);
    is_any = is_any || !of_gang.empty();
  }
  return is_any;
}

void Passes::WithdrawUnmet(std::span<const TaskId> placed) {
  for (const TaskId id : placed) {
    const Task& task = *context_.state.FindTask(id);
    if (task.state != TaskState::kRunning || !task.class_key.DependsOnPeers()) {
      continue;
    }
    const Machine& machine = *context_.state.FindMachine(task.machine);
    if (!ClassPeers(context_.state, context_.constraints, task.class_key, &task)
             .Allows(machine)) {
      context_.Withdraw({&id, 1});
    }
  }
}

void Passes::AddFollowers() {
  Band band;
  for (const ClassKey& key : context_.followers().OfGuided()) {
    const int64_t waiting = context_.CountWaiting(key);
    // If no task waits, its job may be gone.
    if (key.priority != classes_.front().key.priority || waiting == 0 ||
        context_.gangs.IsClosed(key)) {
      continue;
    }
    band.members.push_back({key, waiting, 0});
    if (!key.rules->minimums.empty()) {
      band.minimums = BandNetwork::Minimums::kBinding;
    }
  }
  if (!band.members.empty()) bands_.push_front(std::move(band));
}

bool Passes::IsLegal(const Proposal& proposal) const {
  // The cluster may have changed since the network was drawn; only the current
  // state decides.
  const BandClass& band_class = classes_[proposal.class_index];
  const Task* task = context_.state.FindTask(proposal.task);
  const Machine* machine = context_.state.FindMachine(proposal.machine);
  if (task == nullptr || !task->IsSchedulable() || machine == nullptr ||
      !machine->IsUsable() ||
      (task->class_key != band_class.key &&
       (task->class_key.IsBound() || band_class.key.IsBound()))) {
    ++context_.stats->refused;
    return false;
  }
  if (!context_.constraints.Allows(task->class_key, *machine)) {
    // Another class of the pass may have taken the part that this one needs.
    ++(task->class_key.rules->DemandsParts() ? context_.stats->conflicts
                                             : context_.stats->refused);
    return false;
  }
  if (band_class.peers != nullptr && !band_class.peers->Allows(*machine)) {
    ++context_.stats->conflicts;
    return false;
  }
  return true;
}

}  // namespace sluice
