#include "rpc/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "firmament/task_desc.pb.h"
#include "messages/fields.h"
#include "util/cluster_builder.h"
#include "util/drawn_rules.h"
#include "util/peer_builder.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

class InspectTest : public testing::Test {
 protected:
  CoreView view() { return {scheduler_.scheduler(), stats_, feeds_, now_ms_}; }

  v1::TaskExplanation Explain(const std::string& task) {
    v1::ExplainTaskRequest request;
    request.set_task(task);
    v1::TaskExplanation explanation;
    EXPECT_THAT(InspectTask(view(), request, &explanation), IsOk());
    return explanation;
  }

  TestScheduler scheduler_;
  RoundStats stats_;
  Metrics metrics_;
  Feeds feeds_{
      &scheduler_.mutable_state(), scheduler_.scheduler(), metrics_, {}};
  int64_t now_ms_ = 0;
};

TEST_F(InspectTest, ShowsTheDaemonAndTheClusterInOneScreen) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000, .extended = {{"gpu", 4}}})
      .Task(1, {.cpu = 600})
      .Task(2, {.cpu = 600})
      .ApplyTo(&scheduler_);
  stats_ = scheduler_.Round();
  stats_.solve_us = 12;
  const v1::Status status = InspectStatus(
      view(),
      {.version = "1.2",
       .store = "memory",
       .cost_models = {"cpu_memory"},
       .ready_us = 1000,
       .replicas = [](v1::Replicas* replicas) { replicas->set_term(7); }},
      /*now_us=*/7001000);
  EXPECT_EQ(status.version(), "1.2");
  EXPECT_EQ(status.uptime_ms(), 7000);
  EXPECT_EQ(status.machines(), 1);
  EXPECT_EQ(status.running_tasks(), 1);
  EXPECT_EQ(status.pending_tasks(), 1);
  EXPECT_EQ(status.undelivered_deltas(), 1);
  EXPECT_EQ(status.allocatable().cpu_millicores(), 1000);
  EXPECT_THAT(status.allocatable().extended(), ElementsAre(Pair("gpu", 4)));
  EXPECT_EQ(status.used().cpu_millicores(), 600);
  EXPECT_EQ(status.last_round().number(), 1u);
  EXPECT_EQ(status.last_round().solve_us(), 12);
  EXPECT_THAT(status.cost_models(), ElementsAre("cpu_memory"));
  EXPECT_EQ(status.store(), "memory");
  EXPECT_EQ(status.replicas().term(), 7);
}

TEST_F(InspectTest, FindsATaskByTheIdOfItsFeedBeforeOneOfThatName) {
  ClusterState& state = scheduler_.mutable_state();
  scheduler_.Apply(Submitted(1, {.name = "a"}));
  const FeedId feed = state.OpenFeed("shop");
  state.Apply(feed, SnapshotBegan(), 0);
  state.Apply(feed,
              TaskStated{.id = "a",
                         .job_uuid = "job",
                         .job_name = "job",
                         .gang = {},
                         .spec = TaskSpecOf(0, {.name = "shop/web"}),
                         .machine_uuid = ""},
              0);
  state.Apply(feed, SnapshotEnded(), 0);
  EXPECT_EQ(Explain("a").task().feed_task_id(), "a");
  EXPECT_EQ(Explain("shop/web").task().feed_task_id(), "a");
  EXPECT_EQ(Explain("1").task().name(), "a");
  v1::GetJobRequest request;
  request.set_job("job");
  v1::Job job;
  ASSERT_THAT(InspectJob(view(), request, &job), IsOk());
  EXPECT_THAT(job.task_ids(), ElementsAre("1", "a"));
}

TEST_F(InspectTest, CountsPrioritiesAsTheClientOfTheFeedDoes) {
  ClusterState& state = scheduler_.mutable_state();
  scheduler_.Apply(Submitted(1, {.priority = 7, .name = "alone"}));
  const FeedId feed = state.OpenFeed("shop");
  state.Apply(feed, SnapshotBegan{.priority_zero = 1000}, 0);
  state.Apply(feed,
              TaskStated{.id = "a",
                         .job_uuid = "job",
                         .job_name = "job",
                         .gang = {},
                         .spec = TaskSpecOf(0, {.priority = 998}),
                         .machine_uuid = ""},
              0);
  EXPECT_EQ(Explain("a").task().priority(), 998u);
  EXPECT_EQ(Explain("a").task().stated_priority(), -2);
  EXPECT_EQ(Explain("alone").task().stated_priority(), 7);
}

TEST_F(InspectTest, TellsEachLevelOfTheRoundAsTheClientsCount) {
  ClusterState& state = scheduler_.mutable_state();
  stats_.levels = {
      {.lowest = 1000}, {.lowest = 990, .highest = 999}, {.highest = 989}};
  stats_.cost.waiting = LevelCosts(std::vector<int64_t>{0, 40, 8});
  stats_.bound.waiting = LevelCosts(std::vector<int64_t>{0, 30, 8});
  const auto levels = [&] {
    return InspectStatus(view(), {}, 0).last_round().levels();
  };
  ASSERT_EQ(levels().size(), 3);
  EXPECT_EQ(levels()[0].lowest_priority(), 1000);
  EXPECT_FALSE(levels()[0].has_highest_priority());
  state.Apply(state.OpenFeed("shop"), SnapshotBegan{.priority_zero = 1000}, 0);
  EXPECT_EQ(levels()[0].lowest_priority(), 0);
  EXPECT_EQ(levels()[0].gap_ratio(), 0);
  EXPECT_EQ(levels()[1].lowest_priority(), -10);
  EXPECT_EQ(levels()[1].highest_priority(), -1);
  EXPECT_EQ(levels()[1].waiting_cost(), 40);
  EXPECT_EQ(levels()[1].waiting_cost_bound(), 30);
  EXPECT_EQ(levels()[1].gap_ratio(), 0.25);
  EXPECT_FALSE(levels()[2].has_lowest_priority());
  EXPECT_EQ(levels()[2].highest_priority(), -11);
  state.OpenFeed("silent");
  EXPECT_EQ(levels()[0].lowest_priority(), 0) << "it has stated nothing yet";
  state.Apply(state.OpenFeed("mail"), SnapshotBegan(), 0);
  EXPECT_EQ(levels()[0].lowest_priority(), 1000) << "they count differently";
}

TEST_F(InspectTest, TellsNoBoundsWhereTheyAreNotKnown) {
  stats_.levels = {RoundLevel()};
  stats_.cost.waiting = 40;
  stats_.is_bound_known = false;
  const v1::Round round = InspectStatus(view(), {}, 0).last_round();
  EXPECT_EQ(round.waiting_cost(), 40);
  EXPECT_FALSE(round.has_waiting_cost_bound());
  EXPECT_FALSE(round.has_placement_cost_bound());
  EXPECT_FALSE(round.has_gap_ratio());
  EXPECT_FALSE(round.has_placement_gap_ratio());
  ASSERT_EQ(round.levels_size(), 1);
  EXPECT_EQ(round.levels(0).waiting_cost(), 40);
  EXPECT_FALSE(round.levels(0).has_waiting_cost_bound());
  EXPECT_FALSE(round.levels(0).has_gap_ratio());
}

TEST_F(InspectTest, TellsNoCostsWhereTheProofWasSkipped) {
  const auto round = [&] { return InspectStatus(view(), {}, 0).last_round(); };
  EXPECT_TRUE(round().has_waiting_cost()) << "nothing was to be placed";
  EXPECT_EQ(round().waiting_cost(), 0);
  EXPECT_TRUE(round().has_gap_ratio());
  stats_.skips_proof = true;
  stats_.is_bound_known = false;
  EXPECT_FALSE(round().has_waiting_cost());
  EXPECT_FALSE(round().has_placement_cost());
  EXPECT_FALSE(round().has_gap_ratio());
}

TEST_F(InspectTest, TellsATaskThatWaitsTheGapOfItsLevel) {
  ClusterBuilder()
      .Task(1, {.priority = 7, .name = "urgent"})
      .Task(2, {.name = "low"})
      .ApplyTo(&scheduler_);
  const std::string why = "0/0 machines: no machine is usable";
  EXPECT_EQ(Explain("low").summary(), why) << "no round was yet";
  stats_.levels = {{.lowest = 7}, {.highest = 6}};
  stats_.cost.waiting = LevelCosts(std::vector<int64_t>{40, 40});
  stats_.bound.waiting = LevelCosts(std::vector<int64_t>{40, 35});
  EXPECT_EQ(Explain("urgent").summary(), why);
  EXPECT_EQ(Explain("low").summary(),
            why +
                "; a better round could save at most 12.5 % of what waiting "
                "costs on its level");
  stats_.is_bound_known = false;
  EXPECT_EQ(Explain("urgent").summary(),
            why + "; how far the newest round is from the optimum is unknown");
}

TEST_F(InspectTest, TellsWhatWasMeasured) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 600})
      .Task(2, {.cpu = 600})
      .ApplyTo(&scheduler_);
  scheduler_.Round();
  scheduler_.Apply(ReportMachineUsage{"m", {.cpu_ppm = 1500000}}, 1000);
  scheduler_.Apply(ReportTaskUsage{TaskUid{1}, {.cpu = 250, .memory = 9}},
                   1000);
  now_ms_ = 1040;
  v1::ListMachinesRequest request;
  v1::ListMachinesResponse machines;
  EXPECT_THAT(InspectMachines(view(), request, &machines), IsOk());
  EXPECT_EQ(machines.machines(0).usage_size(), 0) << "it was not asked for";
  request.set_with_usage(true);
  machines.Clear();
  EXPECT_THAT(InspectMachines(view(), request, &machines), IsOk());
  ASSERT_EQ(machines.machines(0).usage_size(), 1);
  EXPECT_EQ(machines.machines(0).usage(0).cpu_ratio(), 1.5);
  EXPECT_EQ(machines.machines(0).usage(0).age_ms(), 40);
  v1::ListTasksResponse tasks;
  EXPECT_THAT(InspectTasks(view(), {}, &tasks), IsOk());
  EXPECT_EQ(tasks.tasks(0).usage().cpu_millicores(), 250);
  EXPECT_EQ(tasks.tasks(0).usage().memory_millibytes(), 9);
  EXPECT_FALSE(tasks.tasks(1).has_usage());
}

// Clients take 4 MiB unless they are told otherwise.
TEST_F(InspectTest, EndsAPageBeforeItGetsTooLarge) {
  constexpr size_t kMiB = 1 << 20;
  for (uint64_t uid = 1; uid <= 5; ++uid) {
    scheduler_.Apply(
        Submitted(uid, {.labels = {{"large", std::string(kMiB, 'x')}}}));
  }
  v1::ListTasksRequest request;
  std::vector<int> sizes;
  do {
    v1::ListTasksResponse response;
    ASSERT_THAT(InspectTasks(view(), request, &response), IsOk());
    EXPECT_LT(response.ByteSizeLong(), 4 * kMiB);
    sizes.push_back(response.tasks_size());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_THAT(sizes, ElementsAre(2, 2, 1));
}

TEST_F(InspectTest, ListsMachinesPageByPageInTheOrderOfTheirAddition) {
  for (const char* uuid : {"c", "empty", "a", "b"}) {
    scheduler_.Apply(Added(uuid, {.labels = {{"zone", uuid}},
                                  .pus = {{StrCat(uuid, "-pu"), {}}}}));
  }
  scheduler_.Apply(AddForeignPod{"proxy/system", "a", {{"cpu", 100}}});
  scheduler_.Apply(Removed("a"));
  scheduler_.Apply(Removed("empty"));  // Nothing is left of it to show.
  scheduler_.Apply(SetDraining{"c"});
  v1::ListMachinesRequest request;
  request.set_page_size(2);
  v1::ListMachinesResponse first;
  ASSERT_THAT(InspectMachines(view(), request, &first), IsOk());
  ASSERT_EQ(first.machines_size(), 2);
  EXPECT_EQ(first.machines(0).uuid(), "c");
  EXPECT_EQ(first.machines(0).condition(), v1::Machine::DRAINING);
  EXPECT_THAT(first.machines(0).labels(), ElementsAre(Pair("zone", "c")));
  EXPECT_THAT(first.machines(0).pu_uuids(), ElementsAre("c-pu"));
  EXPECT_EQ(first.machines(1).condition(), v1::Machine::DEPARTED);
  request.set_page_token(first.next_page_token());
  v1::ListMachinesResponse last;
  ASSERT_THAT(InspectMachines(view(), request, &last), IsOk());
  ASSERT_EQ(last.machines_size(), 1);
  EXPECT_EQ(last.machines(0).uuid(), "b");
  EXPECT_EQ(last.next_page_token(), "");
}

TEST_F(InspectTest, ListsEveryTaskOnceThoughSomeComeAndGoBetweenPages) {
  for (uint64_t uid = 1; uid <= 9; ++uid) scheduler_.Apply(Submitted(uid * 10));
  std::set<uint64_t> seen;
  v1::ListTasksRequest request;
  request.set_page_size(2);
  for (int page = 0;; ++page) {
    v1::ListTasksResponse response;
    ASSERT_THAT(InspectTasks(view(), request, &response), IsOk());
    for (const v1::Task& task : response.tasks()) {
      EXPECT_TRUE(seen.insert(task.uid()).second) << task.uid();
    }
    if (page == 0) {
      scheduler_.Apply(Removed(uint64_t{20}));  // The last one of the page.
      scheduler_.Apply(Submitted(5));           // Before it.
    }
    if (response.next_page_token().empty()) break;
    request.set_page_token(response.next_page_token());
  }
  EXPECT_EQ(seen, (std::set<uint64_t>{10, 20, 30, 40, 50, 60, 70, 80, 90}));
}

TEST_F(InspectTest, ListsOnlyWhatWaitsWhereItIsAskedTo) {
  ClusterBuilder()
      .Machine("m", {.cpu = 100})
      .Task(1, {.cpu = 100})
      .Task(2, {.cpu = 500})
      .Task(3, {.quarantine_reason = "no sense"})
      .ApplyTo(&scheduler_);
  scheduler_.Round();
  v1::ListTasksRequest request;
  request.set_pending_only(true);
  v1::ListTasksResponse response;
  ASSERT_THAT(InspectTasks(view(), request, &response), IsOk());
  ASSERT_EQ(response.tasks_size(), 2);
  EXPECT_EQ(response.tasks(0).uid(), 2u);
  EXPECT_EQ(response.tasks(0).state(), v1::Task::PENDING);
  EXPECT_EQ(response.tasks(1).state(), v1::Task::QUARANTINED);
  EXPECT_EQ(response.tasks(1).quarantine_reason(), "no sense");
}

TEST_F(InspectTest, GoesOnBehindTheHighestUidThereCanBe) {
  scheduler_.Apply(Submitted(~uint64_t{0}));
  v1::ListTasksRequest request;
  request.set_page_token("18446744073709551615");
  v1::ListTasksResponse response;
  ASSERT_THAT(InspectTasks(view(), request, &response), IsOk());
  EXPECT_EQ(response.tasks_size(), 0);
}

TEST_F(InspectTest, BoundsAPageAndRefusesSizesAndTokensThatAreNone) {
  for (uint64_t uid = 0; uid < 1001; ++uid) scheduler_.Apply(Submitted(uid));
  v1::ListTasksRequest request;
  for (const int32_t size : {0, 1000000}) {
    request.set_page_size(size);
    v1::ListTasksResponse response;
    ASSERT_THAT(InspectTasks(view(), request, &response), IsOk());
    EXPECT_EQ(response.tasks_size(), 1000);
  }
  v1::ListTasksResponse response;
  request.set_page_size(-1);
  EXPECT_THAT(
      InspectTasks(view(), request, &response),
      StatusIs(absl::StatusCode::kInvalidArgument, "page_size: -1 < 0"));
  request.set_page_size(0);
  for (const char* token : {"x", "-1", "1x", "99999999999999999999"}) {
    request.set_page_token(token);
    EXPECT_THAT(InspectTasks(view(), request, &response),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is not a token")));
  }
}

TEST_F(InspectTest, CountsAJobByItsUuidOrItsName) {
  ClusterBuilder()
      .Machine("m", {.cpu = 200})
      .Tasks(1, 3, {.cpu = 100, .job = "a"})
      .Task(4, {.job = "b"})
      .ApplyTo(&scheduler_);
  scheduler_.Round();
  scheduler_.Apply(Completed(1));
  v1::GetJobRequest request;
  request.set_job("a");
  v1::Job job;
  ASSERT_THAT(InspectJob(view(), request, &job), IsOk());
  EXPECT_EQ(job.completed_tasks() + job.running_tasks() + job.pending_tasks(),
            3);
  EXPECT_EQ(job.completed_tasks(), 1);
  EXPECT_THAT(job.task_uids(), UnorderedElementsAre(1, 2, 3));
  EXPECT_THAT(job.task_ids(), UnorderedElementsAre("1", "2", "3"));
  request.set_job("c");
  EXPECT_THAT(InspectJob(view(), request, &job),
              StatusIs(absl::StatusCode::kNotFound, "job 'c' is unknown"));
}

TEST_F(InspectTest, FollowsWhatBecomesOfAJob) {
  ClusterBuilder().Machine("m", {.cpu = 200}).ApplyTo(&scheduler_);
  const auto state = [&] {
    v1::GetJobRequest request;
    request.set_job("a");
    v1::Job job;
    EXPECT_THAT(InspectJob(view(), request, &job), IsOk());
    return job.state();
  };
  for (const uint64_t uid : {1, 2, 3}) {
    scheduler_.Apply(Submitted(uid, {.cpu = 100, .job = "a"}));
  }
  EXPECT_EQ(state(), v1::Job::CREATED);
  scheduler_.Round();
  EXPECT_EQ(state(), v1::Job::RUNNING);
  scheduler_.Apply(Completed(1));
  scheduler_.Apply(Completed(2));
  EXPECT_EQ(state(), v1::Job::RUNNING) << "one waits";
  scheduler_.Apply(Removed(3));
  EXPECT_EQ(state(), v1::Job::ABORTED);
  scheduler_.Apply(Submitted(4, {.cpu = 100, .job = "a"}));
  scheduler_.Apply(Failed(4));
  EXPECT_EQ(state(), v1::Job::FAILED);
}

TEST_F(InspectTest, SaysThatAJobCompleted) {
  scheduler_.Apply(Submitted(1, {.cpu = 100, .job = "a"}));
  scheduler_.Apply(Completed(1));
  scheduler_.Apply(Removed(1));
  scheduler_.Apply(Submitted(2, {.cpu = 100, .job = "b"}));
  scheduler_.Apply(Completed(2));
  v1::GetJobRequest request;
  request.set_job("b");
  v1::Job job;
  EXPECT_THAT(InspectJob(view(), request, &job), IsOk());
  EXPECT_EQ(job.state(), v1::Job::COMPLETED);
}

// A client began anew and mentioned nothing of them.
TEST_F(InspectTest, ShowsWhatIsStaleAndWhatIsMuted) {
  ClusterBuilder()
      .Machine("m", {.cpu = 100})
      .Task(1, {.cpu = 600, .name = "first"})
      .ApplyTo(&scheduler_);
  scheduler_.Apply(Submitted(1, {.cpu = 600, .name = "second"}));
  scheduler_.Apply(Removed(1));
  EXPECT_EQ(Explain("second").task().state(), v1::Task::MUTED);
  scheduler_.Apply(Submitted(2, {.cpu = 600, .name = "third"}));
  scheduler_.Apply(BeginAnnouncement());
  EXPECT_EQ(Explain("third").task().state(), v1::Task::STALE);
  EXPECT_THAT(Explain("third").summary(), HasSubstr("began anew"));
  const v1::Status status = InspectStatus(view(), {}, /*now_us=*/0);
  EXPECT_EQ(status.muted_tasks(), 1);
  EXPECT_EQ(status.stale_tasks(), 2);
  EXPECT_EQ(status.stale_machines(), 1);
  EXPECT_EQ(status.pending_tasks(), 0);
  v1::ListMachinesResponse machines;
  EXPECT_THAT(InspectMachines(view(), {}, &machines), IsOk());
  EXPECT_EQ(machines.machines(0).condition(), v1::Machine::STALE);
  v1::GetJobRequest request;
  request.set_job("job");
  v1::Job job;
  ASSERT_THAT(InspectJob(view(), request, &job), IsOk());
  EXPECT_EQ(job.pending_tasks(), 2);
}

TEST_F(InspectTest, CountsWhatRunsUnderAUidGivenAwayAsMuted) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 600})
      .ApplyTo(&scheduler_);
  scheduler_.Round();
  scheduler_.Deliver();
  scheduler_.Apply(Submitted(1, {.cpu = 600, .name = "second"}));
  const v1::Status status = InspectStatus(view(), {}, /*now_us=*/0);
  EXPECT_EQ(status.muted_tasks(), 1);
  EXPECT_EQ(status.running_tasks(), 1);
}

TEST_F(InspectTest, CountsMachinesThatShareAName) {
  for (const char* uuid : {"a", "b", "c"}) {
    AddMachine machine = Added(uuid, {.cpu = 1000});
    machine.spec.name = uuid == std::string("c") ? "other" : "same";
    scheduler_.Apply(machine);
  }
  EXPECT_EQ(InspectStatus(view(), {}, /*now_us=*/0).namesake_machines(), 2);
}

TEST_F(InspectTest, NamesAMachineWithoutANameByItsUuid) {
  AddMachine machine = Added("m-uuid", {.cpu = 1000});
  machine.spec.name = "";
  scheduler_.Apply(machine);
  scheduler_.Apply(Submitted(1, {.cpu = 600}));
  scheduler_.Round();
  EXPECT_EQ(Explain("1").summary(), "runs on machine 'm-uuid'");
}

TEST_F(InspectTest, SaysHowManyOfAGangRunTogether) {
  const std::pair<uint64_t, std::string> rows[] = {
      {0, ""},
      {4, "at least 4"},
      {Gang::kAllTasks, "all that are known"},
      {Gang::kEveryMachine, "one on every machine that they may run on"}};
  uint64_t uid = 0;
  for (const auto& [minimum, text] : rows) {
    scheduler_.Apply(Submitted(++uid, {.job = StrCat(minimum)},
                               {.gang = {.minimum = minimum}}));
    v1::GetJobRequest request;
    request.set_job(StrCat(minimum));
    v1::Job job;
    ASSERT_THAT(InspectJob(view(), request, &job), IsOk());
    EXPECT_EQ(job.gang(), text);
  }
}

TEST_F(InspectTest, ExplainsWhyATaskWaits) {
  ClusterBuilder()
      .Machine("m", {.cpu = 400})
      .Task(7, {.cpu = 1000, .name = "big"})
      .ApplyTo(&scheduler_);
  now_ms_ = 5000;
  const v1::TaskExplanation explanation = Explain("7");
  EXPECT_EQ(explanation.task().waiting_ms(), 5000);
  EXPECT_EQ(explanation.machines(), 1);
  EXPECT_EQ(explanation.feasible_machines(), 0);
  EXPECT_THAT(explanation.summary(), HasSubstr("0/1 machines"));
  ASSERT_EQ(explanation.reasons_size(), 1);
  EXPECT_EQ(explanation.reasons(0).code(), "insufficient_cpu");
  ASSERT_EQ(explanation.nearest_size(), 1);
  EXPECT_EQ(explanation.nearest(0).machine_uuid(), "m");
  EXPECT_EQ(Explain("big").task().uid(), 7u) << "a name will do";
}

TEST_F(InspectTest, SaysOfATaskThatDoesNotWaitWhatItDoes) {
  ClusterBuilder()
      .Machine("m", {.cpu = 4000})
      .Task(1, {.cpu = 1})
      .Task(2, {.cpu = 2})
      .Task(3, {.cpu = 3})
      .Task(4, {.quarantine_reason = "cpu_cores: not a number"})
      .ApplyTo(&scheduler_);
  scheduler_.Round();
  scheduler_.Apply(Completed(2));
  scheduler_.Apply(Failed(3));
  EXPECT_EQ(Explain("1").summary(), "runs on machine 'm'");
  EXPECT_EQ(Explain("1").task().machine_uuid(), "m");
  EXPECT_EQ(Explain("1").task().resource_id(), "m");
  EXPECT_EQ(Explain("2").summary(), "completed");
  EXPECT_EQ(Explain("3").summary(), "failed");
  EXPECT_EQ(Explain("4").summary(), "quarantined: cpu_cores: not a number");
  scheduler_.Deliver();
  scheduler_.Apply(Removed("m"));
  EXPECT_THAT(Explain("1").summary(), HasSubstr("which has gone away"));
}

TEST_F(InspectTest, ShowsRulesAndTaintsInWords) {
  const NodeTerm term{.labels = {LabelAbove("cores", 8), LabelExists("disk")},
                      .fields = {}};
  ClusterBuilder()
      .Machine("m",
               {.cpu = 1000,
                .labels = {{"cores", "16"}, {"disk", "ssd"}},
                .taints = {NoSchedule("dedicated", "ml"), NoExecute("down")}})
      .Task(1,
            {.rules = {.selectors = {LabelIn("disk", {"ssd"})},
                       .required = {term},
                       .preferred = {{10, term}},
                       .tolerations = {Tolerates(NoSchedule("dedicated", "ml")),
                                       Tolerates(NoExecute("down"), 300),
                                       ToleratesEverything()},
                       .host_ports = {TcpPort(80)}}})
      .ApplyTo(&scheduler_);
  scheduler_.Round();
  v1::ListMachinesResponse machines;
  ASSERT_THAT(InspectMachines(view(), {}, &machines), IsOk());
  EXPECT_THAT(machines.machines(0).taints(),
              ElementsAre("dedicated=ml:NoSchedule", "down:NoExecute"));
  EXPECT_THAT(machines.machines(0).host_ports(), ElementsAre("TCP 0.0.0.0:80"));
  const v1::Task task = Explain("1").task();
  EXPECT_EQ(task.state(), v1::Task::RUNNING);
  EXPECT_THAT(task.node_selector(), ElementsAre("disk=ssd"));
  EXPECT_THAT(task.required_affinity(), ElementsAre("cores > 8 and disk"));
  EXPECT_THAT(task.preferred_affinity(), ElementsAre("10: cores > 8 and disk"));
  EXPECT_THAT(task.tolerations(), ElementsAre("*", "dedicated=ml:NoSchedule",
                                              "down=:NoExecute for 300s"));
  EXPECT_THAT(task.host_ports(), ElementsAre("TCP 0.0.0.0:80"));
  EXPECT_FALSE(task.evicted());
}

TEST_F(InspectTest, ShowsEveryKindOfTaskRules) {
  Rng rng(/*seed=*/1);
  PlacementRules rules;
  firmament::TaskRules stated;
  const auto* kinds = firmament::TaskRules::GetDescriptor();
  std::vector<const google::protobuf::FieldDescriptor*> said;
  while (static_cast<int>(said.size()) < kinds->field_count()) {
    DrawTaskRules(&rng, &rules);
    stated.Clear();
    WriteFields(rules, &stated);
    said.clear();
    firmament::TaskRules::GetReflection()->ListFields(stated, &said);
  }
  ClusterBuilder().Task(1, {.rules = rules}).ApplyTo(&scheduler_);
  const v1::Task task = Explain("1").task();
  ASSERT_EQ(task.rules_size(), kinds->field_count());
  for (int i = 0; i < kinds->field_count(); ++i) {
    EXPECT_EQ(task.rules(i).name(), kinds->field(i)->name());
    EXPECT_EQ(task.rules(i).texts_size(),
              firmament::TaskRules::GetReflection()->FieldSize(
                  stated, kinds->field(i)));
    EXPECT_NE(task.rules(i).texts(0), "");
  }
}

TEST_F(InspectTest, ShowsInWordsWhatTasksSayAboutEachOther) {
  const PeerTerm web = {App("web"), "zone"};
  const PeerTerm job = {TasksOfJob("old-*"), ""};
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.name = "former"})
      .Task(2)
      .ApplyTo(&scheduler_);
  scheduler_.Round();
  scheduler_.Apply(Completed(2));
  scheduler_.Apply(
      Submitted(3, {.rules = {.affinity = {web},
                              .anti_affinity = {job},
                              .preferred_peers = {{-5, job}, {10, web}},
                              .spread = {Spread(App("web"), "zone")},
                              .minimums = {{job, 2}},
                              .replaces = TaskUid{1}}}));
  scheduler_.Apply(Submitted(4, {.rules = {.replaces = TaskUid{2}}}));
  scheduler_.Apply(Submitted(5, {.rules = {.replaces = TaskUid{99}}}));
  const v1::Task task = Explain("3").task();
  const std::string web_text = "app=web of namespace ns in the same zone";
  EXPECT_THAT(task.pod_affinity(), ElementsAre(web_text));
  EXPECT_THAT(task.pod_anti_affinity(),
              ElementsAre("job old-* on the same machine"));
  EXPECT_THAT(task.preferred_pod_affinity(),
              ElementsAre("-5: job old-* on the same machine",
                          StrCat("10: ", web_text)));
  EXPECT_THAT(task.topology_spread(),
              ElementsAre("app=web of namespace ns over zone with maxSkew 1"));
  EXPECT_THAT(task.domain_minimums(),
              ElementsAre("at least 2 of job old-* in each machine"));
  EXPECT_EQ(task.replaces(), "1 former");
  EXPECT_EQ(Explain("4").task().replaces(), "2 task-2, which does not run");
  EXPECT_EQ(Explain("5").task().replaces(), "99, which is not known");
  EXPECT_EQ(Explain("1").task().replaces(), "");
}

TEST_F(InspectTest, DoesNotKnowWhatWasRemoved) {
  scheduler_.Apply(Submitted(1));
  scheduler_.Apply(Submitted(1));
  scheduler_.Apply(Removed(uint64_t{1}));  // One more removal is expected.
  v1::ExplainTaskRequest request;
  request.set_task("1");
  v1::TaskExplanation explanation;
  EXPECT_THAT(InspectTask(view(), request, &explanation),
              StatusIs(absl::StatusCode::kNotFound, "task '1' is unknown"));
  v1::ListTasksResponse tasks;
  ASSERT_THAT(InspectTasks(view(), {}, &tasks), IsOk());
  EXPECT_EQ(tasks.tasks_size(), 0);
}

}  // namespace
}  // namespace sluice
