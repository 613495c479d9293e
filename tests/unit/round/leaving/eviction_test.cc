#include "round/leaving/eviction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "util/cluster_builder.h"
#include "util/state_invariants.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kSecond = 1000;

// ---------------------------------------------------------------------------
// When: rules 11 and 16 of the semantics

TEST(EvictionMsTest, IsWhenTheFirstTaintIsNoLongerTolerated) {
  constexpr int64_t kAtOnce = std::numeric_limits<int64_t>::min();
  constexpr int64_t kLong = std::numeric_limits<int64_t>::max();
  const Taint a = NoExecute("a", "1");
  const Taint b = NoExecute("b");
  // The taints appeared 100 s and 200 s after the epoch, as they come.
  struct Case {
    std::string name;
    std::vector<Taint> taints;
    std::vector<Toleration> tolerations;
    int64_t eviction_ms;
  };
  for (const auto& [name, taints, tolerations, eviction_ms] : std::vector<Case>{
           {"no taint", {}, {}, kNever},
           {"other effects",
            {NoSchedule("a"), PreferNoSchedule("b")},
            {},
            kNever},
           {"no toleration", {a}, {}, kAtOnce},
           {"another key", {a}, {Tolerates(b)}, kAtOnce},
           {"another value", {a}, {Tolerates(NoExecute("a", "2"))}, kAtOnce},
           {"another effect", {a}, {Tolerates(NoSchedule("a", "1"))}, kAtOnce},
           {"for ever", {a}, {Tolerates(a)}, kNever},
           {"any value and effect", {a}, {ToleratesKey("a")}, kNever},
           {"everything", {a, b}, {ToleratesEverything()}, kNever},
           {"for a time", {a}, {Tolerates(a, 7)}, 107 * kSecond},
           {"for no time", {a}, {Tolerates(a, 0)}, 100 * kSecond},
           {"negative is none", {a}, {Tolerates(a, -9)}, 100 * kSecond},
           {"the longest is for ever", {a}, {Tolerates(a, kLong)}, kNever},
           {"the shortest counts",
            {a},
            {Tolerates(a, 9), Tolerates(a, 7)},
            107 * kSecond},
           {"a limit counts before none",
            {a},
            {ToleratesEverything(), Tolerates(a, 7)},
            107 * kSecond},
           {"each taint has its clock",
            {a, b},
            {Tolerates(a, 500), Tolerates(b, 300)},
            500 * kSecond},
           {"one of two is not tolerated", {a, b}, {Tolerates(a, 7)}, kAtOnce},
       }) {
    Machine machine;
    int64_t since_ms = 0;
    for (const Taint& taint : taints) {
      machine.taints.push_back({taint, since_ms += 100 * kSecond});
    }
    const PlacementRules rules = {.tolerations = tolerations};
    Task task;
    task.class_key.rules = &rules;
    EXPECT_EQ(EvictionMs(task, machine), eviction_ms) << name;
  }
}

TEST(EvictionMsTest, CountsFromThePlacementOfALaterTask) {
  const Taint taint = NoExecute("a");
  Machine machine;
  machine.taints = {{taint, 100 * kSecond}};
  const PlacementRules rules = {.tolerations = {Tolerates(taint, 7)}};
  Task task;
  task.class_key.rules = &rules;
  task.placed_ms = 300 * kSecond;
  EXPECT_EQ(EvictionMs(task, machine), 307 * kSecond);
}

TEST(EvictionMsTest, LeavesTasksOnMachinesThatAreNotReadyForFiveMinutes) {
  struct Case {
    std::string name;
    std::string key;
    std::vector<Toleration> tolerations;
    int64_t eviction_ms;
  };
  constexpr int64_t kAtOnce = std::numeric_limits<int64_t>::min();
  const Taint not_ready = NoExecute("node.kubernetes.io/not-ready");
  const Taint unreachable = NoExecute("node.kubernetes.io/unreachable");
  const Taint other_value = NoExecute("node.kubernetes.io/not-ready", "x");
  const Taint no_schedule = NoSchedule("node.kubernetes.io/not-ready");
  for (const auto& [name, key, tolerations, eviction_ms] : std::vector<Case>{
           {"not ready", not_ready.key, {}, 400 * kSecond},
           {"unreachable", unreachable.key, {}, 400 * kSecond},
           {"other keys", "node.kubernetes.io/disk-pressure", {}, kAtOnce},
           {"the other one is borne for ever",
            not_ready.key,
            {Tolerates(unreachable)},
            400 * kSecond},
           {"for ever", not_ready.key, {Tolerates(not_ready)}, kNever},
           {"as it says",
            not_ready.key,
            {Tolerates(not_ready, 7)},
            107 * kSecond},
           {"not at all",
            not_ready.key,
            {Tolerates(not_ready, 0)},
            100 * kSecond},
           {"everything", not_ready.key, {ToleratesEverything()}, kNever},
           {"something is said of the key",
            not_ready.key,
            {Tolerates(other_value)},
            kAtOnce},
           {"nothing of the effect",
            not_ready.key,
            {Tolerates(no_schedule)},
            400 * kSecond}}) {
    Machine machine;
    machine.taints = {{NoExecute(key), 100 * kSecond}};
    const PlacementRules rules = {.tolerations = tolerations};
    Task task;
    task.class_key.rules = &rules;
    EXPECT_EQ(EvictionMs(task, machine), eviction_ms) << name;
  }
}

// ---------------------------------------------------------------------------
// What follows

const Taint kTaint = NoExecute("sick");

class EvictionTest : public testing::Test {
 protected:
  EvictionTest() : cluster_({.evicts_on_no_execute = true}) {}
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  static TaskOptions Bearing(int64_t seconds) {
    return {.cpu = 100, .rules = {.tolerations = {Tolerates(kTaint, seconds)}}};
  }
  // Has task 1 run on machine "m", as its client knows.
  void Run(const TaskOptions& options = {.cpu = 100}) {
    cluster_.Apply(Added("m", {.cpu = 100}));
    cluster_.Apply(Submitted(1, options));
    cluster_.Round();
    ASSERT_THAT(Told(), ElementsAre("place 1"));
  }
  void Taint(int64_t now_ms, std::string_view uuid = "m") {
    cluster_.Apply(Updated(uuid, {.cpu = 100, .taints = {kTaint}}), now_ms);
  }
  static std::vector<std::string> TextOf(const ScheduleReply& reply) {
    std::vector<std::string> told;
    for (const ScheduleReply::Entry& entry : reply.deltas) {
      told.push_back(
          StrCat(entry.type == DeltaType::kPreempt ? "preempt " : "place ",
                 entry.uid.value));
    }
    return told;
  }
  // What the next reply tells.
  std::vector<std::string> Told() { return TextOf(cluster_.Deliver()); }
  // What a round and its reply tell.
  std::vector<std::string> ToldAt(int64_t now_ms) {
    cluster_.Round(now_ms);
    return Told();
  }
  TestScheduler cluster_;
};

TEST_F(EvictionTest, TellsATaskToLeaveOnce) {
  Run();
  Taint(5);
  cluster_.Round(5);
  EXPECT_EQ(cluster_.scheduler().round_stats().evicted, 1);
  EXPECT_THAT(Told(), ElementsAre("preempt 1"));
  cluster_.Round(6);
  EXPECT_EQ(cluster_.scheduler().round_stats().evicted, 0);
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(EvictionTest, IsOffUnlessAskedFor) {
  TestScheduler cluster;
  ClusterBuilder().Machine("m", {}).Task(1).ApplyTo(&cluster);
  cluster.Round();
  cluster.Deliver();
  cluster.Apply(Updated("m", {.taints = {kTaint}}), 5);
  cluster.Round(1000 * kSecond);
  EXPECT_EQ(cluster.scheduler().round_stats().evicted, 0);
  EXPECT_THAT(cluster.Deliver().deltas, IsEmpty());
}

TEST_F(EvictionTest, WaitsUntilTheTolerationEnds) {
  Run(Bearing(7));
  Taint(1 * kSecond);
  EXPECT_THAT(ToldAt(1 * kSecond), IsEmpty());
  EXPECT_THAT(ToldAt(8 * kSecond - 1), IsEmpty());
  EXPECT_THAT(ToldAt(8 * kSecond), ElementsAre("preempt 1"));
  EXPECT_THAT(ToldAt(9 * kSecond), IsEmpty());
}

TEST_F(EvictionTest, ForgetsATaintThatIsGoneInTime) {
  Run(Bearing(7));
  Taint(1 * kSecond);
  EXPECT_THAT(ToldAt(1 * kSecond), IsEmpty());
  cluster_.Apply(Updated("m", {.cpu = 100}), 6 * kSecond);
  EXPECT_THAT(ToldAt(9 * kSecond), IsEmpty());
  Taint(10 * kSecond);
  EXPECT_THAT(ToldAt(16 * kSecond), IsEmpty());
  EXPECT_THAT(ToldAt(17 * kSecond), ElementsAre("preempt 1"));
}

TEST_F(EvictionTest, GoesByWhatTheTaskToleratesNow) {
  Run(Bearing(7));
  Taint(1 * kSecond);
  EXPECT_THAT(ToldAt(1 * kSecond), IsEmpty());
  cluster_.Apply(Updated(1, Bearing(3)));
  EXPECT_THAT(ToldAt(4 * kSecond - 1), IsEmpty());
  EXPECT_THAT(ToldAt(4 * kSecond), ElementsAre("preempt 1"));
}

TEST_F(EvictionTest, LooksAtWhatIsPlacedOnATaintedMachine) {
  cluster_.Apply(Added("m", {.cpu = 100, .taints = {kTaint}}), 0);
  cluster_.Apply(Submitted(1, Bearing(7)), 20 * kSecond);
  EXPECT_THAT(ToldAt(20 * kSecond), ElementsAre("place 1"));
  EXPECT_THAT(ToldAt(27 * kSecond - 1), IsEmpty());
  EXPECT_THAT(ToldAt(27 * kSecond), ElementsAre("preempt 1"));
}

// A pod that terminates still uses its machine.
TEST_F(EvictionTest, LeavesTheTaskItsPlaceUntilItIsReportedGone) {
  Run();
  Taint(5);
  EXPECT_THAT(ToldAt(5), ElementsAre("preempt 1"));
  cluster_.Apply(Submitted(
      2, {.cpu = 100, .rules = {.tolerations = {ToleratesEverything()}}}));
  EXPECT_THAT(ToldAt(6), IsEmpty());
  EXPECT_EQ(cluster_.MachineOf(1), "m");
  cluster_.Apply(Updated(1, {.cpu = 50}));
  EXPECT_TRUE(cluster_.TaskOf(1).is_evicted);
  cluster_.Apply(Removed(1));
  EXPECT_THAT(ToldAt(7), ElementsAre("place 2"));
}

// R13: nothing about a task whose end was acknowledged.
TEST_F(EvictionTest, SaysNothingOfATaskThatHasEnded) {
  for (const Command& end :
       {Command(Completed(1)), Command(Failed(1)), Command(Removed(1))}) {
    cluster_.Apply(Removed(1));
    Run();
    Taint(5);
    cluster_.Round(5);
    cluster_.Apply(end);
    EXPECT_THAT(Told(), IsEmpty());
    EXPECT_THAT(ToldAt(6), IsEmpty());
    cluster_.Apply(Updated("m", {.cpu = 100}));
  }
}

// R12: a placement that was not told is not told any more.
TEST_F(EvictionTest, WithdrawsAPlacementThatNoClientKnows) {
  ClusterBuilder()
      .Machine("m", {.cpu = 100})
      .Task(1, {.cpu = 100})
      .ApplyTo(&cluster_);
  cluster_.Round();
  Taint(5);
  cluster_.Apply(Added("n", {.cpu = 100}));
  cluster_.Round(5);
  EXPECT_EQ(cluster_.scheduler().round_stats().evicted, 0);
  EXPECT_THAT(Told(), ElementsAre("place 1"));
  EXPECT_EQ(cluster_.MachineOf(1), "n");
}

// ---------------------------------------------------------------------------
// Deltas that wait, replies that fail

TEST_F(EvictionTest, IsToldAgainWhereTheReplyDidNotArrive) {
  Run();
  Taint(5);
  cluster_.Round(5);
  cluster_.replies().Take(kReplyBytesMax);
  cluster_.replies().End(/*is_delivered=*/false);
  cluster_.Round(6);
  EXPECT_EQ(cluster_.scheduler().round_stats().evicted, 0);
  EXPECT_THAT(Told(), ElementsAre("preempt 1"));
}

TEST_F(EvictionTest, WaitsWhileThePlacementIsOnItsWay) {
  ClusterBuilder().Machine("m", {.cpu = 100}).Task(1).ApplyTo(&cluster_);
  cluster_.Round();
  cluster_.replies().Take(kReplyBytesMax);
  Taint(5);
  cluster_.Round(5);
  EXPECT_EQ(cluster_.scheduler().round_stats().evicted, 0);
  cluster_.replies().End(/*is_delivered=*/true);
  EXPECT_THAT(ToldAt(6), ElementsAre("preempt 1"));
}

TEST_F(EvictionTest, TakesThePlaceOfARepeatedPlacement) {
  Run();
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  Taint(5);
  EXPECT_THAT(ToldAt(5), ElementsAre("preempt 1"));
}

TEST_F(EvictionTest, LeavesDepartedMachinesAlone) {
  Run();
  Taint(5);
  cluster_.Apply(Removed("m"));
  EXPECT_THAT(ToldAt(6), IsEmpty());
  cluster_.Apply(Added("m", {.cpu = 100, .taints = {kTaint}}), 7);
  EXPECT_THAT(ToldAt(7), ElementsAre("preempt 1"));
}

TEST_F(EvictionTest, IsTakenBackWhereTheMachineDepartsBeforeItIsTold) {
  Run();
  Taint(5);
  cluster_.Round(5);
  cluster_.Apply(Removed("m"));
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_EQ(cluster_.MachineOf(1), "m");
  EXPECT_FALSE(cluster_.TaskOf(1).is_evicted);
  cluster_.Apply(Added("m", {.cpu = 100, .taints = {kTaint}}), 7);
  EXPECT_THAT(ToldAt(7), ElementsAre("preempt 1"));
}

TEST_F(EvictionTest, IsTakenBackWhereItIsLostWithTheMachine) {
  Run();
  Taint(5);
  cluster_.Round(5);
  cluster_.replies().Take(kReplyBytesMax);
  cluster_.Apply(Removed("m"));
  cluster_.replies().End(/*is_delivered=*/false);
  EXPECT_THAT(ToldAt(6), IsEmpty());
  EXPECT_EQ(cluster_.MachineOf(1), "m");
  EXPECT_FALSE(cluster_.TaskOf(1).is_evicted);
}

// ---------------------------------------------------------------------------
// Uids that come twice: rule R9 of the contract

// A bridge that restarted has forgotten what it was told, and has the pod.
TEST_F(EvictionTest, IsRepeatedToAClientThatAsksAgain) {
  Run();
  Taint(5);
  EXPECT_THAT(ToldAt(5), ElementsAre("preempt 1"));
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  EXPECT_THAT(ToldAt(6), ElementsAre("preempt 1"));
  EXPECT_THAT(ToldAt(7), IsEmpty());
  EXPECT_EQ(cluster_.MachineOf(1), "m");
}

TEST_F(EvictionTest, IsToldOnceToAClientThatAsksBeforeItIsTold) {
  Run();
  Taint(5);
  cluster_.Round(5);
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  EXPECT_THAT(Told(), ElementsAre("preempt 1"));
  EXPECT_THAT(ToldAt(7), IsEmpty());
}

TEST_F(EvictionTest, DoesNotHitANewcomerOfTheUid) {
  Run();
  Taint(5);
  cluster_.Apply(Added("n", {.cpu = 100}));
  cluster_.Round(5);
  cluster_.Apply(Submitted(1, {.cpu = 100, .name = "newcomer"}));
  EXPECT_THAT(ToldAt(6), ElementsAre("place 1"));
  EXPECT_EQ(cluster_.MachineOf(1), "n");
  EXPECT_FALSE(cluster_.TaskOf(1).is_evicted);
  // An acknowledged end may be either's: nobody is told to leave.
  Taint(7, "n");
  EXPECT_THAT(ToldAt(7), IsEmpty());
  cluster_.Apply(Removed(1));
  EXPECT_THAT(ToldAt(8), IsEmpty()) << "its client has forgotten the uid";
  // Which it knows again, for one task, after the next submission.
  cluster_.Apply(Submitted(1, {.cpu = 100, .name = "newcomer"}));
  EXPECT_THAT(ToldAt(9), ElementsAre("preempt 1"));
}

TEST_F(EvictionTest, BeginsAnewWithTheTask) {
  Run();
  Taint(5);
  EXPECT_THAT(ToldAt(5), ElementsAre("preempt 1"));
  cluster_.Apply(Completed(1));
  cluster_.Apply(Submitted(1, Bearing(7)), 6 * kSecond);
  EXPECT_THAT(ToldAt(6 * kSecond), ElementsAre("place 1"));
  EXPECT_THAT(ToldAt(13 * kSecond), ElementsAre("preempt 1"));
}

// ---------------------------------------------------------------------------
// After a restart

// A state with task 1 on a machine that has been tainted since `since_ms`.
void Restore(int64_t since_ms, const Task& task, ClusterState* state) {
  ASSERT_THAT(
      state->RestoreJob({.id = {0}, .uuid = "job", .name = "job", .gang = {}}),
      IsOk());
  const MachineSpec machine =
      MachineSpecOf("m", {.cpu = 100, .taints = {kTaint}});
  ASSERT_THAT(state->RestoreMachine(Machine(), machine, {}, {since_ms}),
              IsOk());
  const TaskOptions options = {
      .cpu = 100, .rules = {.tolerations = {Tolerates(kTaint, 7)}}};
  ASSERT_THAT(state->RestoreTask(task, TaskSpecOf(1, options)), IsOk());
}

Task RunningTask() {
  Task task;
  task.id = {1};
  task.job = {0};
  task.state = TaskState::kRunning;
  task.machine = {0};
  return task;
}

TEST(EvictionRecoveryTest, GoesOnWithTheClock) {
  ClusterState state;
  Restore(1 * kSecond, RunningTask(), &state);
  state.RestoreCounters({});
  Eviction eviction(&state);
  EXPECT_EQ(eviction.Run(8 * kSecond - 1), 0);
  EXPECT_EQ(eviction.Run(8 * kSecond), 1);
  EXPECT_EQ(eviction.Run(9 * kSecond), 0);
  EXPECT_EQ(FindContradiction(state), "");
}

TEST(EvictionRecoveryTest, KnowsWhomItTold) {
  Task task = RunningTask();
  task.is_evicted = true;
  ClusterState state;
  Restore(1 * kSecond, task, &state);
  const Delta preempt = {
      .sequence = 3, .task = {1}, .type = DeltaType::kPreempt, .machine = {0}};
  ASSERT_THAT(state.RestoreDelta(preempt), IsOk());
  state.RestoreCounters({.next_delta_sequence = 4});
  Eviction eviction(&state);
  EXPECT_EQ(eviction.Run(100 * kSecond), 0);
  EXPECT_EQ(state.outbox().size(), 1);
  EXPECT_EQ(FindContradiction(state), "");
}

TEST(EvictionRecoveryTest, RefusesRecordsThatContradictEachOther) {
  ClusterState state;
  Restore(0, RunningTask(), &state);
  EXPECT_FALSE(
      state
          .RestoreDelta(
              {.task = {1}, .type = DeltaType::kPreempt, .machine = {0}})
          .ok())
      << "the task is not told to leave";
  Task task = RunningTask();
  task.id = {2};
  task.is_evicted = true;
  task.client.earlier_holders = {{9}};
  EXPECT_FALSE(state.RestoreTask(task, TaskSpecOf(2, {})).ok());
  task.id = {3};
  task.client.earlier_holders.clear();
  task.state = TaskState::kPending;
  EXPECT_FALSE(state.RestoreTask(task, TaskSpecOf(3, {})).ok());
}

// ---------------------------------------------------------------------------
// Whatever happens

// Random commands, rounds and replies, watched by a client that keeps its own
// account of what it did and was told.
class Trial {
 public:
  explicit Trial(uint64_t seed)
      : rng_(seed), cluster_({.evicts_on_no_execute = true}) {}

  // Returns what was wrong, or "".
  std::string Go() {
    for (int step = 0; step < 100 && error_.empty(); ++step) {
      now_ms_ += rng_.Between(0, 2 * kSecond);
      DoStep();
      if (error_.empty()) error_ = FindContradiction(cluster_.state());
    }
    return error_;
  }
  int told() const { return told_; }
  int withdrawn() const { return withdrawn_; }

 private:
  // What the client knows of a uid.
  struct Pod {
    std::string name;
    int holders = 0;
    bool is_placed = false;
    bool is_preempted = false;  // Since it was submitted last.
    bool is_over = false;       // Its end, or one removal, is acknowledged.
  };

  void DoStep() {
    switch (rng_.Below(8)) {
      case 0:
      case 1:
        return DoRound();
      case 2:
        return DoReply();
      case 3:
      case 4:
        return DescribeMachine();
      default:
        return TouchPod(1 + rng_.Below(8));
    }
  }

  Taint RandomTaint() {
    return {
        rng_.Chance(1, 2) ? "a" : "b", rng_.Chance(1, 2) ? "x" : "",
        rng_.Chance(4, 5) ? TaintEffect::kNoExecute : TaintEffect::kNoSchedule};
  }

  void DescribeMachine() {
    const std::string uuid = StrCat("m", rng_.Below(3));
    if (rng_.Chance(1, 6)) {
      cluster_.Apply(Removed(uuid), now_ms_);
      return;
    }
    MachineOptions options = {.cpu = 300};
    while (rng_.Chance(1, 3)) options.taints.push_back(RandomTaint());
    cluster_.Apply(Added(uuid, options), now_ms_);
    cluster_.Apply(Updated(uuid, options), now_ms_);
  }

  TaskOptions RandomTask(std::string name) {
    TaskOptions options = {.cpu = 100, .name = std::move(name)};
    while (rng_.Chance(2, 3)) {
      Toleration toleration = Tolerates(RandomTaint());
      if (rng_.Chance(1, 3)) toleration.op = TolerationOperator::kExists;
      if (rng_.Chance(1, 3)) toleration.effect.reset();
      if (rng_.Chance(2, 3)) toleration.seconds = rng_.Between(-2, 12);
      options.rules.tolerations.push_back(toleration);
    }
    return options;
  }

  void TouchPod(uint64_t uid) {
    Pod& pod = pods_[uid];
    if (pod.holders == 0 || rng_.Chance(1, 6)) {
      Submit(uid, &pod);
    } else if (rng_.Chance(1, 3)) {
      cluster_.Apply(Updated(uid, RandomTask(pod.name)), now_ms_);
    } else if (rng_.Chance(1, 2)) {
      cluster_.Apply(Removed(uid), now_ms_);
      --pod.holders;
      pod.is_over = true;
    } else {
      cluster_.Apply(Completed(uid), now_ms_);
      pod.is_over = true;
      if (pod.holders == 1) pod.is_placed = false;
    }
  }

  void Submit(uint64_t uid, Pod* pod) {
    const bool is_new = pod->holders == 0 || rng_.Chance(1, 3);
    if (is_new) {
      pod->name = StrCat("pod-", names_++);
      ++pod->holders;
    }
    cluster_.Apply(Submitted(uid, RandomTask(pod->name)), now_ms_);
    if (is_new) pod->is_placed = false;
    pod->is_preempted = pod->is_over = false;
  }

  void DoRound() {
    const bool is_in_flight = rng_.Chance(1, 4);
    if (is_in_flight) cluster_.replies().Take(kReplyBytesMax);
    std::map<TaskId, MachineId> was_on;
    for (const auto& [id, task] : cluster_.state().tasks()) {
      if (MayLeave(*task)) was_on[id] = task->machine;
    }
    cluster_.scheduler().StartRound(now_ms_);
    for (const auto& [id, machine] : was_on) CheckEviction(id, machine);
    cluster_.FinishRound();
    if (is_in_flight) cluster_.replies().End(/*is_delivered=*/false);
  }

  bool MayLeave(const Task& task) const {
    if (task.state != TaskState::kRunning || task.is_evicted) return false;
    for (const auto& [sequence, delta] : cluster_.state().outbox()) {
      if (delta.task != task.id) continue;
      if (delta.is_in_flight) return false;
      if (delta.may_be_known && !delta.is_repeat) return false;
    }
    if (!cluster_.state().FindMachine(task.machine)->is_present) return false;
    const bool is_alone =
        task.client.earlier_holders.empty() && !task.client.IsMuted();
    return is_alone || cluster_.state().IsUntold(task.id);
  }

  // It has left, or been told to, exactly if it had to.
  void CheckEviction(TaskId id, MachineId machine) {
    const Task& task = *cluster_.state().FindTask(id);
    const bool is_withdrawn = task.state == TaskState::kPending;
    const bool had_to =
        HadToLeave(task, cluster_.state().FindMachine(machine)->taints);
    if ((is_withdrawn || task.is_evicted) != had_to) {
      error_ = StrCat("task ", id.value,
                      had_to ? " was left" : " was made to leave");
    }
    withdrawn_ += is_withdrawn;
  }

  bool HadToLeave(const Task& task, const std::vector<MachineTaint>& taints) {
    for (const auto& [taint, since_ms] : taints) {
      if (taint.effect != TaintEffect::kNoExecute) continue;
      bool is_borne = false;
      for (const Toleration& one : task.class_key.rules->tolerations) {
        const bool matches = one.key == taint.key &&
                             (one.op == TolerationOperator::kExists ||
                              one.value == taint.value) &&
                             one.effect.value_or(taint.effect) == taint.effect;
        if (!matches) continue;
        is_borne = true;
        const int64_t borne_ms = now_ms_ - std::max(since_ms, task.placed_ms);
        if (one.seconds.has_value() &&
            borne_ms >= std::max<int64_t>(*one.seconds, 0) * kSecond) {
          return true;
        }
      }
      if (!is_borne) return true;
    }
    return false;
  }

  void DoReply() {
    const ScheduleReply reply = cluster_.replies().Take(kReplyBytesMax);
    const bool is_delivered = rng_.Chance(3, 4);
    if (is_delivered) {
      for (const ScheduleReply::Entry& entry : reply.deltas) Learn(entry);
    }
    cluster_.replies().End(is_delivered);
  }

  void Learn(const ScheduleReply::Entry& entry) {
    Pod& pod = pods_[entry.uid.value];
    const bool is_preempt = entry.type == DeltaType::kPreempt;
    const auto wrong = [&](std::string_view why) {
      error_ = StrCat(is_preempt ? "preempts " : "places ", entry.uid.value,
                      ": ", why);
    };
    if (pod.is_preempted) wrong("it was told to leave");
    if (pod.holders == 0) wrong("it is removed");
    if (pod.is_over && pod.holders == 1) wrong("its end is acknowledged");
    if (!is_preempt) {
      pod.is_placed = true;
      return;
    }
    if (!pod.is_placed) wrong("it was never placed");
    if (pod.holders > 1) wrong("nobody knows which");
    pod.is_preempted = true;
    ++told_;
  }

  Rng rng_;
  TestScheduler cluster_;
  std::map<uint64_t, Pod> pods_;
  int64_t now_ms_ = 0;
  int names_ = 0;
  int told_ = 0;
  int withdrawn_ = 0;
  std::string error_;
};

TEST(EvictionPropertyTest, HoldsWhateverHappens) {
  constexpr uint64_t kSeeds = 2000;
  int told = 0;
  int withdrawn = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Trial trial(seed);
    ASSERT_EQ(trial.Go(), "") << "seed " << seed;
    told += trial.told();
    withdrawn += trial.withdrawn();
  }
  EXPECT_GT(told, 2000) << "the commands do not try evictions";
  EXPECT_GT(withdrawn, 500);
}

}  // namespace
}  // namespace sluice
