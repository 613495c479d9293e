#include "sim/contract_client.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/strings.h"
#include "util/cluster_builder.h"

namespace sluice::sim {
namespace {

constexpr size_t kMachinesMax = 6;
constexpr size_t kTasksMax = 24;
constexpr int64_t kScheduleUs = 20000;
constexpr int64_t kCalmScheduleUs = 400000;
constexpr int64_t kCollectUs = 200000;

std::string NameOf(uint64_t uid) { return StrCat("ns/task-", uid); }

bool MayNotRunTwice(const RealCluster::Task& task) {
  return task.on_failure.action == OnFailure::Action::kNever;
}

}  // namespace

// One Schedule call.  The daemon may hold it until its process dies.
class ContractClient::SimCall final : public ScheduleCall {
 public:
  SimCall(ContractClient* client, uint64_t connection, size_t number)
      : client_(*client), connection_(connection), number_(number) {}

  uint64_t connection_number() const { return connection_; }
  size_t number() const { return number_; }  // In the order of their begin.

  bool IsCancelled() const override {
    return client_.connection_ != connection_;
  }

  void Answer(ScheduleReply reply, std::function<void(bool)> done) override {
    std::vector<std::string> uuids;
    for (const ScheduleReply::Entry& entry : reply.deltas) {
      uuids.push_back(client_.daemon_.state().FindMachine(entry.machine)->uuid);
    }
    // Its client comes to it later.
    const uint64_t message = client_.NoteSent(
        connection_,
        [this, reply = std::move(reply), uuids = std::move(uuids)] {
          client_.unread_ = [=, this] { client_.Read(reply, uuids, *this); };
        });
    client_.timeline_.After(
        client_.Delay(), [this, message, done = std::move(done),
                          process = client_.daemon_.process_number()] {
          const bool is_delivered = client_.Arrive(message);
          client_.daemon_.Deliver([&](CoreLoop&) {
            if (client_.daemon_.process_number() == process) {
              done(is_delivered);
            }
          });
          if (!is_delivered) return;
          client_.timeline_.After(
              client_.rng_.Between(1, client_.faults_.client_us), [this] {
                if (IsCancelled()) return;
                std::exchange(client_.unread_, nullptr)();
                client_.ScheduleLater();
              });
        });
  }

 private:
  ContractClient& client_;
  const uint64_t connection_;
  const size_t number_;
};

ContractClient::ContractClient(const Faults& faults, const Workload& workload,
                               Timeline* timeline, Rng* rng, SimDaemon* daemon,
                               RealCluster* cluster, bool uses_uuids_again)
    : faults_(faults),
      workload_(workload),
      uses_uuids_again_(uses_uuids_again),
      timeline_(*timeline),
      rng_(*rng),
      daemon_(*daemon),
      cluster_(*cluster) {
  daemon_.AddListener(
      {.died = [this] { NoteDeath(); },
       .recovered =
           [this](const ClusterState& state) { CheckRecovered(state); }});
  cluster_.OnRemoval([this](const std::string& uuid) { LoseMachine(uuid); });
  Schedule();
}

ContractClient::~ContractClient() = default;

void ContractClient::Act() {
  switch (rng_.Below(8)) {
    case 0:
      return AddMachine();
    case 1:
      return rng_.Chance(1, 2) ? RemoveMachine() : FailTask();
    case 2:
    case 3: {
      if (tasks_.empty()) return;
      return EndTask(std::next(tasks_.begin(), static_cast<ptrdiff_t>(
                                                   rng_.Below(tasks_.size())))
                         ->first);
    }
    default:
      if (tasks_.size() < kTasksMax) Submit(DrawTask(workload_, &rng_));
  }
}

// Then it is not added again yet: decision 0004 tells of this window.
bool ContractClient::RunsWhatABrokenCallTold(const std::string& uuid) const {
  return std::ranges::any_of(tasks_, [&](const auto& entry) {
    const Task& task = entry.second;
    return task.is_running && task.is_from_broken_call && task.machine == uuid;
  });
}

void ContractClient::AddMachine() {
  if (machines_.size() == kMachinesMax) return;
  // What another client was told of a machine that left may reach it when the
  // machine is back, so only one that is alone uses ids again.
  const uint64_t number =
      uses_uuids_again_ ? rng_.Below(kMachinesMax) : next_machine_++;
  const std::string uuid = StrCat("c", number);
  if (machines_.contains(uuid) || RunsWhatABrokenCallTold(uuid)) return;
  machines_[uuid] = {};
  const int64_t cpu = 1000 * static_cast<int64_t>(1 + number % 2);
  const bool has_gpu = number % 3 == 0;
  cluster_.AddMachine(uuid, cpu, has_gpu);
  MachineOptions options{.cpu = cpu};
  if (has_gpu) options.labels = {{"gpu", "yes"}};
  Ask(Added(uuid, options),
      [this, uuid] { machines_.at(uuid).phase = Phase::kThere; });
}

void ContractClient::RemoveMachine() {
  if (machines_.empty()) return;
  const auto it = std::next(
      machines_.begin(), static_cast<ptrdiff_t>(rng_.Below(machines_.size())));
  if (it->second.phase != Phase::kThere) return;
  it->second.phase = Phase::kLeaving;
  it->second.has_failed = workload_.has_failures && rng_.Chance(1, 2);
  sluice::RemoveMachine command = Removed(it->first);
  command.has_failed = it->second.has_failed;
  Ask(command, [this, uuid = it->first] { ForgetMachine(uuid); });
  cluster_.RemoveMachine(it->first);
}

bool ContractClient::HasFailed(const std::string& uuid) const {
  const auto it = machines_.find(uuid);
  return it != machines_.end() && it->second.has_failed;
}

void ContractClient::LoseMachine(const std::string& uuid) {
  for (auto& [uid, task] : tasks_) {
    if (!task.is_running || task.machine != uuid) continue;
    const Fate fate = HasFailed(uuid) ? FateWithMachine(workload_, task.real,
                                                        task.is_told_to_leave)
                                      : Fate::kStays;
    if (fate == Fate::kWaits) {
      AwaitNextRun(&task);
      continue;
    }
    if (fate == Fate::kEnds) {
      StopTask(&task);
      task.may_have_ended = true;
      // One that was submitted again asks for a place again.
      task.may_not_run_again =
          task.phase == Phase::kThere && !task.is_submitted_again &&
          !task.is_from_broken_call && MayNotRunTwice(task.real);
    }
    task.is_doomed = true;
    timeline_.After(rng_.Between(1, kCollectUs),
                    [this, lost = uid] { EndTask(lost); });
  }
}

void ContractClient::ForgetMachine(const std::string& uuid) {
  const bool has_failed = HasFailed(uuid);
  machines_.erase(uuid);
  if (!has_failed) return;
  // Some clients report each of its tasks, too.
  const bool says_more = !is_scheduling_ && rng_.Chance(1, 2);
  for (auto& [uid, task] : tasks_) {
    if (!task.is_lost || task.machine != uuid || task.report != 0) continue;
    task.knowing_call = schedule_calls_.size();
    if (says_more && task.phase == Phase::kThere && !task.is_from_broken_call) {
      ReportFailure(uid);
    }
  }
}

void ContractClient::Submit(const RealCluster::Task& task) {
  const uint64_t uid = next_uid_++;
  tasks_[uid].real = task;
  if (task.on_failure.action == OnFailure::Action::kRequeue) {
    tasks_[uid].reports_max = task.on_failure.failures_max;
  }
  TaskOptions options = OptionsOf(task);
  options.name = NameOf(uid);
  SubmitTask command = Submitted(uid, options);
  command.on_failure = task.on_failure;
  Ask(command, [this, uid] {
    Task& submitted = tasks_.at(uid);
    submitted.phase = Phase::kThere;
    if (submitted.is_doomed || submitted.has_to_end) EndTask(uid);
  });
}

void ContractClient::EndTask(uint64_t uid) {
  const auto it = tasks_.find(uid);
  if (it == tasks_.end() || it->second.phase != Phase::kThere) return;
  if (it->second.report != 0) return;  // It speaks of one thing at a time.
  it->second.phase = Phase::kLeaving;
  StopTask(&it->second);
  if (it->second.is_told_to_leave) Replace(it->second.real);
  const auto remove = [this, uid] {
    Ask(Removed(uid), [this, uid] { tasks_.erase(uid); });
  };
  if (rng_.Chance(1, 3)) {
    CompleteTask completed{.uid = {uid}};
    if (rng_.Chance(1, 2)) {
      completed.run_ms = rng_.Between(0, 100000);
      completed.instructions = rng_.Below(1000000000);
      // Turtles, sheep, rabbits and devils.
      const auto misses = static_cast<int64_t>(completed.instructions % 12000);
      completed.cache = CacheUse{.references = 3 * misses, .misses = misses};
    }
    Ask(completed, remove);
  } else if (rng_.Chance(1, 6)) {
    Ask(Failed(uid), remove);
  } else {
    remove();
  }
}

void ContractClient::StopTask(Task* task) {
  if (!task->is_running) return;
  cluster_.Stop(task->real, task->machine);
  task->is_running = false;
}

void ContractClient::AwaitNextRun(Task* task) {
  StopTask(task);
  task->is_lost = true;
  task->knowing_call = kNoCall;
  task->is_told_to_leave = false;
}

// What it was told may be told again where the daemon does not know that it
// arrived, and would be taken for the next run.
bool ContractClient::MayReport(const Task& task) const {
  return task.phase == Phase::kThere && task.is_running && !task.is_doomed &&
         !task.is_from_broken_call;
}

void ContractClient::FailTask() {
  if (tasks_.empty()) return;
  const auto it = std::next(tasks_.begin(),
                            static_cast<ptrdiff_t>(rng_.Below(tasks_.size())));
  const Task& task = it->second;
  if (task.real.on_failure.action != OnFailure::Action::kRequeue) return;
  if (MayReport(task)) ReportFailure(it->first);
}

void ContractClient::ReportFailure(uint64_t uid) {
  Task& task = tasks_.at(uid);
  task.is_report_late = task.is_lost;
  if (task.is_told_to_leave) ++task.reports_max;
  AwaitNextRun(&task);
  task.report = next_call_;
  Ask(Failed(uid), [this, uid] {
    Task& reported = tasks_.at(uid);
    reported.report = 0;
    reported.knowing_call = schedule_calls_.size();
    if (reported.may_have_ended) EndTask(uid);
  });
}

void ContractClient::NoteReport(uint64_t id) {
  for (auto& [uid, task] : tasks_) {
    if (task.report != id || task.is_report_late) continue;
    ++task.report_count;
    task.may_have_ended |= task.report_count > task.reports_max;
  }
}

bool ContractClient::HasOpenReport() const {
  return std::ranges::any_of(
      tasks_, [](const auto& entry) { return entry.second.report != 0; });
}

void ContractClient::Replace(const RealCluster::Task& former) {
  if (!former.is_owned || (!is_calm_ && rng_.Chance(1, 8))) return;
  const RealCluster::Task successor =
      is_calm_ ? former : DrawSuccessor(former, &rng_);
  if (rng_.Chance(1, 2)) return Submit(successor);
  timeline_.After(rng_.Between(1, kCollectUs),
                  [this, successor] { Submit(successor); });
}

void ContractClient::CalmDown() {
  is_calm_ = true;
  for (const auto& [uid, task] : tasks_) {
    if (task.is_told_to_leave) LeaveAfter(uid, rng_.Between(1, kCollectUs));
  }
}

bool ContractClient::HasLeaving() const {
  return std::ranges::any_of(tasks_, [](const auto& entry) {
    return entry.second.is_running && entry.second.is_told_to_leave;
  });
}

void ContractClient::Break() {
  ++connection_;
  is_scheduling_ = false;
  arriving_.clear();
  // It ends with what it has before it begins anew.
  is_breaking_off_ = true;
  if (unread_) std::exchange(unread_, nullptr)();
  is_breaking_off_ = false;
  for (auto& [uid, task] : tasks_) {
    task.is_submitted_again |= task.phase == Phase::kAnnounced;
  }
  for (const auto& [id, call] : calls_) Transmit(id);
  ScheduleLater();
}

void ContractClient::NoteDeath() {
  is_breaking_off_ = true;
  // A power failure forgets which replies arrived.
  for (auto& [uid, task] : tasks_) {
    task.is_from_broken_call = true;
    // So it may take a task for one that was never told of such a machine.
    if (HasFailed(task.machine)) task.may_not_run_again = false;
  }
  for (const auto& [message, take] : std::exchange(arriving_, {})) {
    if (rng_.Chance(1, 2)) take();
  }
  Break();
}

uint64_t ContractClient::NoteSent(uint64_t connection,
                                  std::function<void()> take) {
  if (connection != connection_) return 0;
  arriving_.emplace(next_message_, std::move(take));
  return next_message_++;
}

bool ContractClient::Arrive(uint64_t message) {
  const auto node = arriving_.extract(message);
  if (node.empty()) return false;
  node.mapped()();
  return true;
}

void ContractClient::Ask(Command command, std::function<void()> end) {
  const uint64_t id = next_call_++;
  calls_.emplace(id, Call{std::move(command), std::move(end)});
  Transmit(id);
}

void ContractClient::Transmit(uint64_t id) {
  timeline_.After(Delay(), [this, id, connection = connection_] {
    if (connection != connection_ || !calls_.contains(id)) return;
    if (!daemon_.is_up()) {  // Nobody answers; it tries again.
      timeline_.After(Delay(), [this, id, connection] {
        if (connection == connection_) Transmit(id);
      });
      return;
    }
    NoteReport(id);
    daemon_.Deliver([&](CoreLoop& loop) {
      loop.Submit(calls_.at(id).command, [this, id, connection](Ack) {
        const uint64_t message = NoteSent(connection, [this, id] {
          const auto call = calls_.extract(id);
          if (!call.empty()) call.mapped().end();
        });
        timeline_.After(Delay(), [this, message] { Arrive(message); });
      });
    });
  });
}

void ContractClient::ScheduleLater() {
  const int64_t most_us = is_calm_ ? kCalmScheduleUs : kScheduleUs;
  timeline_.After(rng_.Between(1, most_us), [this, now = connection_] {
    if (now == connection_) Schedule();
  });
}

void ContractClient::Schedule() {
  timeline_.After(Delay(), [this, connection = connection_] {
    if (connection != connection_) return;
    if (!daemon_.is_up() || HasOpenReport()) return ScheduleLater();
    is_scheduling_ = true;
    schedule_calls_.push_back(
        std::make_unique<SimCall>(this, connection, schedule_calls_.size()));
    daemon_.Deliver(
        [&](CoreLoop& loop) { loop.Schedule(schedule_calls_.back().get()); });
  });
}

void ContractClient::Read(const ScheduleReply& reply,
                          const std::vector<std::string>& uuids,
                          const SimCall& call) {
  is_scheduling_ = false;
  for (size_t i = 0; i < reply.deltas.size(); ++i) {
    const ScheduleReply::Entry& delta = reply.deltas[i];
    if (delta.type == DeltaType::kPlace) {
      Place(delta.uid.value, uuids[i]);
    } else {
      ++(delta.type == DeltaType::kMigrate ? move_count_ : stop_count_);
      TellToLeave(delta.uid.value, call);
    }
  }
}

void ContractClient::Place(uint64_t uid, const std::string& uuid) {
  const auto it = tasks_.find(uid);
  if (it == tasks_.end()) {
    return cluster_.Fail(NameOf(uid) + " is placed, and was removed");
  }
  if (uuid.starts_with("c") && !machines_.contains(uuid)) {
    return cluster_.Fail(NameOf(uid) + " is placed on " + uuid +
                         ", which was removed");
  }
  Task& task = it->second;
  if (task.phase == Phase::kLeaving) return;
  if (task.is_doomed) {
    if (task.may_not_run_again && task.machine != uuid) {
      cluster_.Fail(NameOf(uid) + " is to run twice, and may not");
    }
    return;
  }
  if (task.is_running) {
    if (task.machine != uuid) {
      cluster_.Fail(NameOf(uid) + " is placed twice");
    }
    return;
  }
  ++placement_count_;
  BeginNextRun(&task);
  task.machine = uuid;
  task.is_from_broken_call = is_breaking_off_;
  if (!cluster_.IsPresent(uuid)) return PlaceOnAbsent(uid);
  task.is_running = true;
  cluster_.Run(NameOf(uid), task.real, uuid);
}

void ContractClient::BeginNextRun(Task* task) {
  // That its failure is known is known now, too.
  calls_.erase(std::exchange(task->report, 0));
  task->is_lost = false;
  task->may_have_ended = false;
  task->told_connection = 0;
}

void ContractClient::PlaceOnAbsent(uint64_t uid) {
  Task& task = tasks_.at(uid);
  if (HasFailed(task.machine)) {
    switch (FateWithMachine(workload_, task.real, false)) {
      case Fate::kWaits:
        return AwaitNextRun(&task);
      case Fate::kEnds:
        task.may_have_ended = true;
        break;
      case Fate::kStays:
        break;
    }
  }
  GiveUp(uid);  // It cannot be bound there.
}

void ContractClient::GiveUp(uint64_t uid) {
  tasks_.at(uid).is_doomed = true;
  timeline_.After(1, [this, uid] { EndTask(uid); });
}

void ContractClient::TellToLeave(uint64_t uid, const SimCall& call) {
  const auto it = tasks_.find(uid);
  if (it == tasks_.end()) {
    return cluster_.Fail(NameOf(uid) + " is told to leave, and was removed");
  }
  Task& task = it->second;
  if (std::exchange(task.told_connection, call.connection_number()) ==
      call.connection_number()) {
    return cluster_.Fail(NameOf(uid) + " is told to leave twice");
  }
  if (task.phase == Phase::kLeaving || task.is_doomed) return;
  const bool is_of_former_run =
      task.is_lost && call.number() < task.knowing_call;
  if (is_of_former_run) return HeedLate(uid);
  if (!task.is_running) {
    return cluster_.Fail(NameOf(uid) + " is told to leave, and does not run");
  }
  task.is_from_broken_call |= is_breaking_off_;
  if (std::exchange(task.is_told_to_leave, true)) return;
  if (const auto grace_us = DrawGraceUs(is_calm_, &rng_)) {
    LeaveAfter(uid, *grace_us);
  }
}

// Its run has ended otherwise, but perhaps it had been told before.
void ContractClient::HeedLate(uint64_t uid) {
  Task& task = tasks_.at(uid);
  if (RunsAgainElsewhere(workload_, task.real)) return;
  task.is_told_to_leave = true;
  task.may_have_ended = true;
  GiveUp(uid);
}

void ContractClient::LeaveAfter(uint64_t uid, int64_t grace_us) {
  timeline_.After(grace_us, [this, uid] {
    const auto it = tasks_.find(uid);
    // It may run anew by now.
    if (it == tasks_.end() || !it->second.is_told_to_leave) return;
    const bool runs_again = RunsAgainElsewhere(workload_, it->second.real) &&
                            MayReport(it->second) && rng_.Chance(2, 3);
    if (runs_again) return ReportFailure(uid);
    it->second.has_to_end = true;
    EndTask(uid);
  });
}

void ContractClient::CheckRecovered(const ClusterState& state) {
  for (const auto& [uid, task] : tasks_) {
    if (task.phase != Phase::kThere) continue;
    const sluice::Task* known = state.FindHolder({uid});
    if (known != nullptr && known->state == TaskState::kFailed &&
        task.may_have_ended) {
      continue;
    }
    if (known == nullptr || !known->IsLive()) {
      cluster_.Fail(NameOf(uid) + " was acknowledged, and is lost");
    } else if (task.is_running && !task.is_doomed &&
               (known->state != TaskState::kRunning ||
                state.FindMachine(known->machine)->uuid != task.machine)) {
      cluster_.Fail(NameOf(uid) + " runs, and its placement is lost");
    }
  }
  for (const auto& [uuid, machine] : machines_) {
    if (machine.phase != Phase::kThere) continue;
    const sluice::Machine* known = state.FindMachine(uuid);
    if (known == nullptr || !known->is_present) {
      cluster_.Fail(uuid + " was acknowledged, and is lost");
    }
  }
  for (const auto& [id, known] : state.tasks()) {
    const bool is_removed = !known->client.IsOfFeed() && known->IsLive() &&
                            !tasks_.contains(known->client.uid.value);
    if (is_removed) {
      cluster_.Fail(NameOf(known->client.uid.value) +
                    " was removed, and is back");
    }
  }
}

void ContractClient::CheckEnd(const std::vector<std::string>& machines) {
  CheckRecovered(daemon_.state());
  for (const auto& [uid, task] : tasks_) {
    const sluice::Task* known = daemon_.state().FindHolder({uid});
    if (known == nullptr || task.is_running) continue;
    if (known->state == TaskState::kRunning) {
      cluster_.Fail(NameOf(uid) + " is placed, and nobody was told");
    }
    for (const std::string& uuid : machines) {
      if (daemon_.IsReserved(uuid)) continue;
      if (cluster_.Fits(task.real, uuid)) {
        cluster_.Fail(NameOf(uid) + " waits, and fits on " + uuid);
      }
      if (!workload_.budget.has_value() && daemon_.MustStopFor(task.real) &&
          cluster_.FitsInstead(task.real, uuid)) {
        cluster_.Fail(NameOf(uid) + " waits for what is less urgent on " +
                      uuid);
      }
    }
  }
}

std::vector<std::string> ContractClient::MachineUuids() const {
  std::vector<std::string> uuids;
  for (const auto& [uuid, machine] : machines_) {
    if (machine.phase == Phase::kThere) uuids.push_back(uuid);
  }
  return uuids;
}

}  // namespace sluice::sim
