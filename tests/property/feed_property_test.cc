// Lives of a feed: a client whose cluster changes all the time, a daemon, and a
// connection between them that breaks anywhere.  Messages are lost with it, the
// daemon is killed between applying and writing, and the client forgets all but
// its cluster.
//
// The client is a model of a bridge: it binds what it is told to run, and
// states its cluster.  At all times no task is told to run in two places, and
// no machine is given more than it has.  In the end, after one more snapshot,
// the daemon knows exactly what the client stated, each task that it placed is
// bound where it placed it, and what still waits fits nowhere.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "clients/feeds.h"
#include "observe/metrics.h"
#include "persist/memory_store.h"
#include "persist/records.h"
#include "persist/recovery.h"
#include "rpc/feed_protocol.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int64_t kMachineCpu = 1000;

// The end of the daemon's that a client talks to.
class Line final : public FeedSession {
 public:
  explicit Line(bool is_slow) : is_slow_(is_slow) {}

  bool AwaitReady() override { return !is_slow_ || news.size() < 2; }
  void Tell(FeedNews one) override {
    if (!is_over && !one.IsSilent()) news.push_back(std::move(one));
  }
  void End(const absl::Status& status) override {
    ADD_FAILURE() << status;
    is_over = true;
  }
  void Release() override {}

  std::deque<FeedNews> news;
  bool is_over = false;

 private:
  const bool is_slow_;
};

// What is in memory of a daemon.
struct Daemon {
  explicit Daemon(Store* the_store) : store(*the_store) {
    EXPECT_THAT(Recover(store, &scheduler.mutable_state()), IsOk());
    Write();
  }
  void Write() {
    ClusterState& state = scheduler.mutable_state();
    if (!state.has_changes()) return;
    const ChangeSet changes = state.TakeChanges();
    EXPECT_THAT(store.Write(EncodeChanges(state, changes), Durability::kSynced),
                IsOk());
  }

  Store& store;
  TestScheduler scheduler;
  Metrics metrics;
  Feeds feeds{&scheduler.mutable_state(), scheduler.scheduler(), metrics, {}};
};

class FeedLife {
 public:
  explicit FeedLife(uint64_t seed) : rng_(seed) {
    daemon_ = std::make_unique<Daemon>(&store_);
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) Step();
    is_calm_ = true;
    if (line_ == nullptr) Connect();
    int turns = 0;
    for (bool is_quiet = false; !is_quiet;) {
      ASSERT_LT(++turns, 100) << "it goes on for ever";
      is_quiet = true;
      Send();
      while (!requests_.empty()) Arrive();
      RunRound();
      // What waits for a decision waits no longer.
      now_us_ = daemon_->feeds.AckDueUs().value_or(now_us_);
      Publish();
      while (!line_->news.empty()) {
        is_quiet = false;
        Receive(/*binds=*/true);
      }
    }
    Check();
  }

 private:
  struct Task {
    int64_t cpu = 0;
    std::string machine = {};  // Where it is bound; empty: it waits.
    bool is_told = false;      // To run there, by the daemon.
    bool is_foreign = false;
    bool is_terminating = false;  // Until it is gone; it is bound.
  };

  template <class Collection>
  auto Draw(Collection& collection) {
    return std::next(collection.begin(),
                     static_cast<ptrdiff_t>(rng_.Below(collection.size())));
  }

  void Step() {
    switch (rng_.Below(14)) {
      case 0:
        return AddMachine();
      case 1:
        return RemoveMachine();
      case 2:
      case 3:
        return AddTask();
      case 4:
        return RemoveTask();
      case 5:
        return BindElsewhere();
      case 6:
        if (line_ == nullptr) return Connect();
        if (rng_.Chance(1, 3)) return Cut();
        return;
      case 7:
        if (rng_.Chance(1, 5)) return Kill();
        return;
      case 8:
      case 9:
        if (line_ != nullptr && !requests_.empty()) Arrive();
        return;
      case 10:
      case 11:
        if (line_ != nullptr && !line_->news.empty()) {
          Receive(/*binds=*/rng_.Chance(4, 5));
        }
        return;
      case 12:
        if (line_ != nullptr && rng_.Chance(1, 8)) StateAll();
        return;
      default:
        return RunRound();
    }
  }

  // The client's cluster changes, and it says so if it is connected.

  void AddMachine() {
    const std::string uuid = StrCat("m", rng_.Below(6));
    machines_.insert(uuid);
    StateMachine(uuid);
  }
  void RemoveMachine() {
    if (machines_.empty()) return;
    const std::string uuid = *Draw(machines_);
    machines_.erase(uuid);
    removed_.insert(uuid);
    std::vector<std::string> lost;
    for (const auto& [id, task] : tasks_) {
      if (task.machine == uuid) lost.push_back(id);
    }
    // Either may be told first.
    const bool is_machine_first = rng_.Chance(1, 2);
    if (is_machine_first) Event()->mutable_machine_gone()->set_machine(uuid);
    for (const std::string& id : lost) Forget(id);
    if (!is_machine_first) Event()->mutable_machine_gone()->set_machine(uuid);
    Send();
  }
  void AddTask() {
    const std::string id = StrCat("t", next_task_++);
    Task task = {.cpu = rng_.Between(100, 600)};
    if (rng_.Chance(1, 8) && !machines_.empty()) {
      task.machine = *Draw(machines_);
      task.is_foreign = true;
    }
    tasks_.emplace(id, task);
    StateTask(id);
    Send();
  }
  void RemoveTask() {
    if (tasks_.empty()) return;
    const std::string id = Draw(tasks_)->first;
    Task& task = tasks_.at(id);
    if (!task.machine.empty() && !task.is_terminating && rng_.Chance(1, 2)) {
      task.is_terminating = true;
      StateTask(id);
      return Send();
    }
    if (rng_.Chance(1, 3)) Event()->mutable_task_ended()->set_id(id);
    Forget(id);
    Send();
  }
  void Forget(const std::string& id) {
    tasks_.erase(id);
    Event()->mutable_task_gone()->set_id(id);
  }
  // Another scheduler, or a person, binds a task that waits.
  void BindElsewhere() {
    if (tasks_.empty() || machines_.empty() || rng_.Chance(2, 3)) return;
    auto& [id, task] = *Draw(tasks_);
    if (!task.machine.empty()) return;
    task.machine = *Draw(machines_);
    task.is_told = false;
    StateTask(id);
    Send();
  }

  // What it says.

  void Connect() {
    line_ = std::make_unique<Line>(rng_.Chance(1, 3));
    protocol_.emplace(MessageDefaults{.max_pods = 110});
    sequence_ = 0;
    seen_ = 0;
    removed_.clear();
    next_.Clear();
    StateAll();
  }
  void StateAll() {
    Event()->mutable_begin_snapshot();
    for (const std::string& uuid : machines_) StateMachine(uuid);
    for (const auto& [id, task] : tasks_) {
      StateTask(id);
      if (rng_.Chance(1, 4)) Send();
    }
    Event()->mutable_end_snapshot();
    Send();
  }
  void StateMachine(const std::string& uuid) {
    firmament::ResourceDescriptor* machine =
        Event()->mutable_machine()->mutable_resource_desc();
    machine->set_uuid(uuid);
    machine->mutable_available_resources()->set_cpu_cores(kMachineCpu);
    if (rng_.Chance(1, 2)) Send();
  }
  void StateTask(const std::string& id) {
    const Task& task = tasks_.at(id);
    v1::TaskStated* stated = Event()->mutable_task();
    stated->set_id(id);
    stated->set_runs_on(task.machine);
    stated->set_is_foreign(task.is_foreign);
    stated->set_is_terminating(task.is_terminating);
    firmament::TaskDescriptor* description =
        stated->mutable_description()->mutable_task_descriptor();
    description->set_job_id("job");
    description->mutable_resource_request()->set_cpu_cores(
        static_cast<float>(task.cpu));
  }
  v1::FeedEvent* Event() {
    v1::FeedEvent* event = next_.add_events();
    event->set_sequence(++sequence_);
    return event;
  }
  void Send() {
    const bool is_empty =
        next_.events().empty() && next_.deltas_received() == 0;
    if (line_ != nullptr && !is_empty) {
      next_.set_feed("shop");
      requests_.push_back(next_);
    }
    next_.Clear();
  }

  // What breaks.

  void Cut() {
    daemon_->feeds.Release(line_.get(), now_us_);
    daemon_->Write();
    Tell();
    Disconnect();
  }
  void Disconnect() {
    line_.reset();
    requests_.clear();
  }
  void Kill() {
    daemon_ = std::make_unique<Daemon>(&store_);
    Disconnect();
  }

  // What arrives.

  void Arrive() {
    absl::StatusOr<FeedBatch> batch = protocol_->Take(requests_.front());
    requests_.pop_front();
    ASSERT_THAT(batch, IsOk());
    daemon_->feeds.Take(line_.get(), *batch, 0, now_us_);
    if (!is_calm_ && rng_.Chance(1, 50))
      return Kill();  // Before anything is on disk.
    Publish();
  }
  void RunRound() {
    daemon_->scheduler.Round();
    Publish();
  }
  void Publish() {
    daemon_->Write();
    if (rng_.Chance(1, 2)) now_us_ += 10000;
    Tell();
    EXPECT_EQ(FindContradiction(daemon_->scheduler.state()), "");
  }
  void Tell() {
    Messages messages;
    daemon_->feeds.TakeMessages(now_us_, &messages);
    SendToFeeds(&messages);
  }
  void Receive(bool binds) {
    const FeedNews news = std::move(line_->news.front());
    line_->news.pop_front();
    for (const FeedNews::Entry& delta : news.deltas) {
      EXPECT_EQ(delta.type, DeltaType::kPlace);
      if (delta.sequence <= seen_) continue;  // It comes again.
      seen_ = delta.sequence;
      const auto it = tasks_.find(delta.task);
      if (it == tasks_.end()) continue;  // It is gone, and that is on its way.
      Task& task = it->second;
      if (task.is_told) {
        EXPECT_EQ(task.machine, delta.machine) << delta.task << " runs twice";
      }
      if (!task.machine.empty()) continue;
      if (binds && machines_.contains(delta.machine)) {
        task.machine = delta.machine;
        // A decision about a machine that went away and came back meanwhile
        // may be void already, and another on its way: the client is right to
        // leave the task where it is.
        task.is_told = !removed_.contains(delta.machine);
        StateTask(delta.task);
      } else {
        v1::BindFailed* failed = Event()->mutable_bind_failed();
        failed->set_id(delta.task);
        failed->set_machine(delta.machine);
      }
    }
    if (!news.deltas.empty() && (binds || rng_.Chance(1, 2))) {
      next_.set_deltas_received(news.deltas.back().sequence);
    }
    Send();
  }

  void Check() {
    const ClusterState& state = daemon_->scheduler.state();
    std::map<std::string, int64_t> used;
    for (const auto& [id, task] : tasks_) used[task.machine] += task.cpu;
    std::map<std::string, std::string> stated;
    for (const auto& [id, task] : tasks_) stated[id] = task.machine;
    std::map<std::string, std::string> known;
    for (const auto& [id, task] : state.tasks()) {
      known[task->client.feed_task_id] =
          task->state == TaskState::kRunning
              ? state.FindMachine(task->machine)->uuid
              : "";
    }
    EXPECT_EQ(known, stated);
    for (const auto& [id, task] : state.tasks()) {
      const auto it = tasks_.find(task->client.feed_task_id);
      if (it == tasks_.end()) continue;
      EXPECT_EQ(task->is_evicted, it->second.is_terminating) << it->first;
    }
    std::set<std::string> present;
    for (const auto& [id, machine] : state.machines()) {
      if (!machine->is_present) continue;
      present.insert(machine->uuid);
      EXPECT_EQ(machine->used[kCpu], used[machine->uuid]) << machine->uuid;
    }
    EXPECT_EQ(present, machines_);
    EXPECT_THAT(state.outbox(), testing::IsEmpty());
    for (const auto& [id, task] : tasks_) {
      if (!task.machine.empty()) continue;
      for (const std::string& uuid : machines_) {
        EXPECT_GT(used[uuid] + task.cpu, kMachineCpu)
            << id << " waits, and fits on " << uuid;
      }
    }
  }

  Rng rng_;
  MemoryStore store_;
  std::unique_ptr<Daemon> daemon_;
  // The client's cluster.
  std::set<std::string> machines_;
  std::set<std::string> removed_;  // Since it connected.
  std::map<std::string, Task> tasks_;
  int next_task_ = 0;
  // Its call, if it is connected.
  std::unique_ptr<Line> line_;
  std::optional<FeedProtocol> protocol_;
  std::deque<v1::FeedRequest> requests_;  // On their way.
  v1::FeedRequest next_;
  uint64_t sequence_ = 0;  // Of events,
  uint64_t seen_ = 0;      // and of deltas.
  bool is_calm_ = false;   // Nothing breaks any more.
  int64_t now_us_ = 0;
};

TEST(FeedProperty, EndsWithWhatItsClientStated) {
  for (uint64_t seed = 1; seed <= SeedCount(3000); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    FeedLife life(seed);
    life.Run(/*steps=*/120);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace sluice
