#include "core/census.h"

#include <gtest/gtest.h>

#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

TEST(Census, CountsEveryTaskByItsState) {
  TestScheduler scheduler;
  ClusterBuilder()
      .Machine("m", {.cpu = 3000})
      .Tasks(1, 3, {.cpu = 1000})
      .ApplyTo(&scheduler);
  scheduler.Round();
  scheduler.Apply(Completed(1));
  scheduler.Apply(Failed(2));
  scheduler.Apply(Submitted(4, {.cpu = 9000, .job = "other"}));
  scheduler.Apply(Submitted(5, {.quarantine_reason = "no sense"}));
  scheduler.Apply(Submitted(6, {.job = "gang"}, {.gang = {.minimum = 2}}));
  const Census census = TakeCensus(scheduler.state());
  EXPECT_EQ(census.completed_tasks, 1);
  EXPECT_EQ(census.failed_tasks, 1);
  EXPECT_EQ(census.running_tasks, 1);
  EXPECT_EQ(census.pending_tasks, 2);
  EXPECT_EQ(census.gang_tasks, 1);
  EXPECT_EQ(census.quarantined_tasks, 1);
  EXPECT_EQ(census.jobs, 3);
  // A delta for what has ended is of no use to anyone.
  EXPECT_EQ(census.undelivered_deltas, 1);
}

TEST(Census, CountsTasksThatWaitForATime) {
  TestScheduler scheduler;
  scheduler.Apply(Added("m", {.cpu = 1000}));
  SubmitTask submit = Submitted(1, {.cpu = 1000});
  submit.on_failure = {.action = OnFailure::Action::kRequeue};
  scheduler.Apply(submit);
  scheduler.Round();
  scheduler.Apply(Failed(1));
  const Census census = TakeCensus(scheduler.state());
  EXPECT_EQ(census.pending_tasks, 1);
  EXPECT_EQ(census.backoff_tasks, 1);
  EXPECT_EQ(census.quarantined_tasks, 0);
}

TEST(Census, AddsUpWhatUsableMachinesOfferAndWhatIsUsedOfIt) {
  TestScheduler scheduler;
  ClusterBuilder()
      .Machine("a", {.cpu = 3000})
      .Machine("b", {.cpu = 500})
      .Machine("gone", {.cpu = 70000})
      .Machine("strange", {.cpu = 70000, .quarantine_reason = "no sense"})
      .Task(1, {.cpu = 1000})
      .ApplyTo(&scheduler);
  scheduler.Apply(Removed("gone"));
  scheduler.Round();
  const Census census = TakeCensus(scheduler.state());
  EXPECT_EQ(census.usable_machines, 2);
  EXPECT_EQ(census.quarantined_machines, 1);
  EXPECT_EQ(census.allocatable[kCpu], 3500);
  EXPECT_EQ(census.used[kCpu], 1000);
  EXPECT_EQ(census.used[kPods], 1);
}

TEST(Census, CountsDrainingMachinesApart) {
  TestScheduler scheduler;
  ClusterBuilder()
      .Machine("a", {.cpu = 3000})
      .Machine("b", {.cpu = 500})
      .ApplyTo(&scheduler);
  scheduler.Apply(SetDraining{"b"});
  const Census census = TakeCensus(scheduler.state());
  EXPECT_EQ(census.usable_machines, 1);
  EXPECT_EQ(census.draining_machines, 1);
  EXPECT_EQ(census.allocatable[kCpu], 3000);
}

TEST(Census, CountsDepartedMachinesThatSomethingIsLeftOf) {
  TestScheduler scheduler;
  ClusterBuilder()
      .Machine("empty", {.cpu = 3000})
      .Machine("used", {.cpu = 3000})
      .ApplyTo(&scheduler);
  scheduler.Apply(AddForeignPod{"proxy/system", "used", {{"cpu", 100}}});
  scheduler.Apply(Removed("empty"));
  scheduler.Apply(Removed("used"));
  EXPECT_EQ(TakeCensus(scheduler.state()).departed_machines, 1);
}

TEST(Census, ForgetsTasksThatOnlyWaitForFurtherRemovals) {
  TestScheduler scheduler;
  scheduler.Apply(Submitted(1));
  scheduler.Apply(Submitted(1));
  scheduler.Apply(Removed(1));
  const Census census = TakeCensus(scheduler.state());
  EXPECT_EQ(census.pending_tasks, 0);
  EXPECT_EQ(census.jobs, 0);
}

TEST(Census, CountsTasksThatRunWhileTheirUidIsAnothers) {
  TestScheduler scheduler;
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 600})
      .ApplyTo(&scheduler);
  scheduler.Round();
  scheduler.Deliver();
  EXPECT_EQ(TakeCensus(scheduler.state()).displaced_tasks, 0);
  scheduler.Apply(Submitted(1, {.cpu = 700, .name = "other"}));
  const Census census = TakeCensus(scheduler.state());
  EXPECT_EQ(census.displaced_tasks, 1);
  EXPECT_EQ(census.running_tasks, 1);
  EXPECT_EQ(census.muted_tasks, 0);
}

TEST(Census, CountsMachinesThatShareAName) {
  TestScheduler scheduler;
  for (const char* uuid : {"a", "b", "c", "d"}) {
    AddMachine machine = Added(uuid, {.cpu = 1000});
    machine.spec.name = uuid == std::string("d") ? "other" : "same";
    scheduler.Apply(machine);
  }
  const Census census = TakeCensus(scheduler.state());
  EXPECT_EQ(census.namesake_machines, 3);
  EXPECT_EQ(census.shared_name, "same");
  scheduler.Apply(Removed("a"));
  scheduler.Apply(Removed("b"));
  EXPECT_EQ(TakeCensus(scheduler.state()).namesake_machines, 0);
}

}  // namespace
}  // namespace sluice
