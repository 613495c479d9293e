#include "sim/feed_client.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "util/cluster_builder.h"

namespace sluice::sim {
namespace {

constexpr size_t kMachinesMax = 5;
constexpr size_t kTasksMax = 24;
constexpr int64_t kReconnectUs = 20000;
constexpr int64_t kCollectUs = 200000;
constexpr uint64_t kReadsToAForgetting = 50;

}  // namespace

// One call.
class FeedClient::Session final : public FeedSession {
 public:
  Session(FeedClient* client, uint64_t connection)
      : client_(*client), connection_(connection) {}

  bool AwaitReady() override { return !is_writing_; }
  void Tell(FeedNews news) override {
    if (!is_open() || news.IsSilent()) return;
    is_writing_ = true;
    client_.arriving_ = std::move(news);
    int64_t& received_us = client_.received_us_;
    received_us = std::max(received_us + 1,
                           client_.timeline_.MonotonicUs() + client_.Delay());
    client_.timeline_.After(
        received_us - client_.timeline_.MonotonicUs(), [this] {
          is_writing_ = false;
          client_.daemon_.Deliver([](CoreLoop& loop) { loop.WakeUp(); });
          if (is_open()) client_.ReadArriving();
        });
  }
  void End(const absl::Status& status) override {
    client_.cluster_.Fail(StrCat("the feed's call ends: ", status.ToString()));
  }
  void Release() override {}

 private:
  bool is_open() const { return client_.connection_ == connection_; }

  FeedClient& client_;
  const uint64_t connection_;
  bool is_writing_ = false;
};

FeedClient::FeedClient(const Faults& faults, const Workload& workload,
                       Timeline* timeline, Rng* rng, SimDaemon* daemon,
                       RealCluster* cluster)
    : faults_(faults),
      workload_(workload),
      timeline_(*timeline),
      rng_(*rng),
      daemon_(*daemon),
      cluster_(*cluster) {
  daemon_.AddListener(
      {.died = [this] { NoteDeath(); },
       .recovered =
           [this](const ClusterState& state) { CheckRecovered(state); }});
  cluster_.OnRemoval([this](const std::string& uuid) { LoseMachine(uuid); });
  Connect();
}

FeedClient::~FeedClient() = default;

void FeedClient::Act() {
  switch (rng_.Below(8)) {
    case 0:
      AddMachine();
      break;
    case 1:
      if (rng_.Chance(1, 2)) RemoveMachine();
      break;
    case 2:
    case 3:
      if (tasks_.empty()) break;
      EndTask(std::next(tasks_.begin(),
                        static_cast<ptrdiff_t>(rng_.Below(tasks_.size())))
                  ->first);
      break;
    case 4:
      if (is_connected_ && rng_.Chance(1, 20)) StateAll();
      break;
    default:
      if (tasks_.size() < kTasksMax) AddTask(DrawTask(workload_, &rng_));
  }
  Send();
}

void FeedClient::AddMachine() {
  if (machines_.size() == kMachinesMax) return;
  const int number = next_machine_++;
  const std::string uuid = StrCat("f", number);
  machines_[uuid] = 1000 + 500 * (number % 3);
  cluster_.AddMachine(uuid, machines_.at(uuid), /*has_gpu=*/number % 5 == 0);
  StateMachine(uuid);
}

void FeedClient::RemoveMachine() {
  if (machines_.empty()) return;
  const std::string uuid =
      std::next(machines_.begin(),
                static_cast<ptrdiff_t>(rng_.Below(machines_.size())))
          ->first;
  machines_.erase(uuid);
  Event(MachineGone{uuid});
  cluster_.RemoveMachine(uuid);
}

void FeedClient::LoseMachine(const std::string& uuid) {
  for (auto& [id, task] : tasks_) {
    if (!task.is_running || task.machine != uuid) continue;
    task.is_doomed = true;
    timeline_.After(rng_.Between(1, kCollectUs), [this, lost = id] {
      EndTask(lost);
      Send();
    });
  }
}

void FeedClient::AddTask(const RealCluster::Task& task) {
  const std::string id = StrCat("t", next_task_++);
  tasks_[id].real = task;
  StateTask(id);
}

void FeedClient::EndTask(std::string id) {
  const auto it = tasks_.find(id);
  if (it == tasks_.end()) return;
  if (it->second.is_running) {
    cluster_.Stop(it->second.real, it->second.machine);
  }
  const Task ended = it->second;
  tasks_.erase(it);
  if (rng_.Chance(1, 3)) {
    Event(TaskEnded{.id = id, .is_failure = rng_.Chance(1, 3)});
  }
  Event(TaskGone{std::move(id)});
  if (ended.is_told_to_leave) Replace(ended.real);
}

void FeedClient::Replace(const RealCluster::Task& former) {
  if (!former.is_owned || (!is_calm_ && rng_.Chance(1, 8))) return;
  const RealCluster::Task successor =
      is_calm_ ? former : DrawSuccessor(former, &rng_);
  if (rng_.Chance(1, 2)) return AddTask(successor);
  timeline_.After(rng_.Between(1, kCollectUs), [this, successor] {
    AddTask(successor);
    Send();
  });
}

void FeedClient::CalmDown() {
  is_calm_ = true;
  for (const auto& [id, task] : tasks_) {
    if (task.is_told_to_leave) LeaveAfter(id, rng_.Between(1, kCollectUs));
  }
}

bool FeedClient::HasLeaving() const {
  return std::ranges::any_of(tasks_, [](const auto& entry) {
    return entry.second.is_running && entry.second.is_told_to_leave;
  });
}

void FeedClient::Break() {
  if (!is_connected_) return;
  is_connected_ = false;
  ++connection_;
  arriving_.reset();
  Session* const session = sessions_.back().get();
  daemon_.Deliver([&](CoreLoop& loop) { loop.EndFeed(session); });
  timeline_.After(rng_.Between(1, kReconnectUs), [this] { Connect(); });
}

void FeedClient::NoteDeath() {
  if (arriving_.has_value() && rng_.Chance(1, 2)) ReadArriving();
  Break();
}

void FeedClient::Connect() {
  if (!daemon_.is_up()) {
    timeline_.After(rng_.Between(1, kReconnectUs), [this] { Connect(); });
    return;
  }
  is_connected_ = true;
  sessions_.push_back(std::make_unique<Session>(this, connection_));
  daemon_.Deliver([&](CoreLoop& loop) {
    loop.TakeFromFeed(sessions_.back().get(), std::nullopt);
  });
  next_ = {};
  sequence_ = 0;
  durable_ = 0;
  seen_ = 0;
  snapshot_count_ = 0;
  next_.feed = "feed";
  StateAll();
  Send();
}

void FeedClient::StateAll() {
  ++snapshot_count_;
  Event(SnapshotBegan());
  for (const auto& [uuid, cpu] : machines_) {
    StateMachine(uuid);
    if (rng_.Chance(1, 4)) Send();
  }
  for (const auto& [id, task] : tasks_) {
    StateTask(id);
    if (rng_.Chance(1, 4)) Send();
  }
  Event(SnapshotEnded());
}

void FeedClient::StateMachine(const std::string& uuid) {
  MachineOptions options{.cpu = machines_.at(uuid)};
  if (cluster_.machine(uuid).has_gpu) options.labels = {{"gpu", "yes"}};
  Event(MachineStated{MachineSpecOf(uuid, options)});
}

void FeedClient::StateTask(const std::string& id) {
  Task& task = tasks_.at(id);
  TaskOptions options = OptionsOf(task.real);
  options.name = id;
  const std::string job = StrCat("feed-", task.real.job);
  const bool runs = task.is_running && !task.is_doomed;
  // A task whose machine is gone is about to be gone itself.
  TaskStated stated;
  stated.id = id;
  stated.job_uuid = job;
  stated.job_name = job;
  stated.budget = options.budget;
  stated.spec = TaskSpecOf(0, options);
  stated.machine_uuid = runs ? task.machine : "";
  stated.is_terminating = runs && task.is_terminating;
  Event(std::move(stated));
  task.stated = is_connected_ ? sequence_ : 0;
}

void FeedClient::Event(FeedEvent event) {
  if (!is_connected_) return;
  next_.events.push_back({++sequence_, std::move(event)});
  next_.up_to = sequence_;
}

void FeedClient::Send() {
  if (!is_connected_ || (next_.events.empty() && next_.deltas_received == 0)) {
    return;
  }
  sent_us_ = std::max(sent_us_ + 1, timeline_.MonotonicUs() + Delay());
  timeline_.After(
      sent_us_ - timeline_.MonotonicUs(),
      [this, batch = std::exchange(next_, {}), connection = connection_] {
        if (connection != connection_) return;
        daemon_.Deliver([&](CoreLoop& loop) {
          loop.TakeFromFeed(sessions_.back().get(), batch);
        });
      });
}

void FeedClient::ReadArriving() {
  const FeedNews news = *std::exchange(arriving_, std::nullopt);
  durable_ = std::max(durable_, news.events_durable);
  for (const FeedProblem& problem : news.problems) {
    // Of what it takes back twice.
    if (problem.code != FeedProblem::Code::kUnknown &&
        problem.code != FeedProblem::Code::kNotPlacedThere) {
      cluster_.Fail(problem.message);
    }
  }
  const bool forgets = faults_.breaks_ms > 0 && !news.deltas.empty() &&
                       rng_.Chance(1, kReadsToAForgetting);
  uint64_t former = 0;
  for (const FeedNews::Entry& delta : news.deltas) {
    if (delta.sequence <= former) cluster_.Fail("a delta is out of order");
    former = delta.sequence;
    if (delta.sequence <= seen_) continue;  // It comes again.
    seen_ = delta.sequence;
    if (delta.type == DeltaType::kPlace) {
      if (!forgets) Place(delta.task, delta.machine);
    } else {
      ++(delta.type == DeltaType::kMigrate ? move_count_ : stop_count_);
      CountToldToLeave(delta.task);
      if (!forgets) TellToLeave(delta.task);
    }
  }
  if (!news.deltas.empty()) next_.deltas_received = seen_;
  Send();
  if (!forgets) return;
  // It dies before it does what it confirmed, and begins anew.
  timeline_.After(2 * faults_.message_us, [this, connection = connection_] {
    if (connection == connection_) Break();
  });
}

void FeedClient::Place(const std::string& id, const std::string& uuid) {
  const auto it = tasks_.find(id);
  if (it == tasks_.end()) return;  // It is gone, and that is on its way.
  Task& task = it->second;
  if (task.is_doomed) return;
  if (task.is_running) {
    if (task.machine != uuid) cluster_.Fail(id + " is placed twice");
    return;
  }
  if (!cluster_.IsPresent(uuid) || rng_.Chance(1, 10)) {
    Event(BindFailed{.id = id, .machine_uuid = uuid, .reason = "simulated"});
    return;
  }
  ++placement_count_;
  task.is_running = true;
  task.machine = uuid;
  cluster_.Run(id, task.real, uuid);
  StateTask(id);
}

void FeedClient::CountToldToLeave(const std::string& id) {
  const auto it = tasks_.find(id);
  if (it == tasks_.end()) return;
  Task& task = it->second;
  if (std::exchange(task.told_connection, connection_) != connection_) {
    task.told_count = 0;
  }
  // Whoever states everything anew is told anew.
  if (++task.told_count > snapshot_count_) {
    cluster_.Fail(id + " is told to leave twice");
  }
}

void FeedClient::TellToLeave(const std::string& id) {
  const auto it = tasks_.find(id);
  if (it == tasks_.end()) return;  // It is gone, and that is on its way.
  Task& task = it->second;
  if (task.is_doomed || std::exchange(task.is_told_to_leave, true)) return;
  if (rng_.Chance(1, 2)) {
    task.is_terminating = true;
    StateTask(id);
  }
  if (const auto grace_us = DrawGraceUs(is_calm_, &rng_)) {
    LeaveAfter(id, *grace_us);
  }
}

void FeedClient::LeaveAfter(const std::string& id, int64_t grace_us) {
  timeline_.After(grace_us, [this, id] {
    EndTask(id);
    Send();
  });
}

void FeedClient::CheckRecovered(const ClusterState& state) {
  std::map<std::string, const sluice::Task*> known;
  for (const auto& [id, task] : state.tasks()) {
    if (task->client.IsOfFeed()) known[task->client.feed_task_id] = task.get();
  }
  for (const auto& [id, task] : tasks_) {
    if (task.stated > durable_ || task.stated == 0) continue;
    const auto it = known.find(id);
    if (it == known.end()) {
      cluster_.Fail(id + " was durable, and is lost");
    } else if (task.is_running && !task.is_doomed &&
               (it->second->state != TaskState::kRunning ||
                state.FindMachine(it->second->machine)->uuid != task.machine)) {
      cluster_.Fail(id + " runs, and its placement is lost");
    }
  }
}

void FeedClient::CheckEnd(const std::vector<std::string>& machines) {
  CheckRecovered(daemon_.state());
  size_t known = 0;
  for (const auto& [id, task] : daemon_.state().tasks()) {
    if (task->client.IsOfFeed()) ++known;
  }
  if (known != tasks_.size()) {
    cluster_.Fail("the feed has other tasks than are known");
  }
  for (const auto& [id, task] : tasks_) {
    if (task.is_running) continue;
    for (const std::string& uuid : machines) {
      if (daemon_.IsReserved(uuid)) continue;
      if (cluster_.Fits(task.real, uuid)) {
        cluster_.Fail(id + " waits, and fits on " + uuid);
      }
      if (!workload_.budget.has_value() && daemon_.MustStopFor(task.real) &&
          cluster_.FitsInstead(task.real, uuid)) {
        cluster_.Fail(id + " waits for what is less urgent on " + uuid);
      }
    }
  }
}

std::vector<std::string> FeedClient::MachineUuids() const {
  std::vector<std::string> uuids;
  for (const auto& [uuid, cpu] : machines_) uuids.push_back(uuid);
  return uuids;
}

}  // namespace sluice::sim
