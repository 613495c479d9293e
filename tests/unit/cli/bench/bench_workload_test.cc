#include "cli/bench/bench_workload.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "glog/logging.h"

namespace sluice {
namespace {

using firmament::TaskDescription;

BenchWorkload WorkloadOf(std::string_view profile, const BenchSize& size) {
  auto workload = BenchWorkload::Make(FindBenchProfile(profile), size, 1);
  CHECK(workload.ok()) << workload.status();
  return *std::move(workload);
}

TaskDescription TaskOf(const BenchWorkload& workload, int64_t index) {
  TaskDescription task;
  workload.DescribeTask(index, &task);
  return task;
}

float CpuOf(const TaskDescription& task) {
  return task.task_descriptor().resource_request().cpu_cores();
}

TEST(BenchWorkload, GivesEachMachineRoomForItsShareOfTheLargestTasks) {
  const BenchWorkload workload = WorkloadOf("basic", {3, 10, 2});
  EXPECT_EQ(workload.filler_count(), 0);
  EXPECT_EQ(workload.task_count(), 10);
  firmament::ResourceTopologyNodeDescriptor machine;
  workload.DescribeMachine(2, &machine);
  EXPECT_EQ(machine.resource_desc().uuid(), "bench-machine-3");
  EXPECT_EQ(machine.resource_desc().available_resources().cpu_cores(), 2000);
  EXPECT_EQ(TaskOf(workload, 9).task_descriptor().uid(),
            BenchWorkload::TaskUid(9));
}

// Four of the fillers fit on a machine, no other task beside two of them, and
// one beside one.
TEST(BenchWorkload, FillsMachinesBeforeTasksOfAHigherPriorityCome) {
  const BenchWorkload workload = WorkloadOf("preemption", {5, 3, 2});
  EXPECT_EQ(workload.filler_count(), 20);
  EXPECT_EQ(workload.task_count(), 23);
  firmament::ResourceTopologyNodeDescriptor machine;
  workload.DescribeMachine(0, &machine);
  const float cpu = machine.resource_desc().available_resources().cpu_cores();
  const TaskDescription filler = TaskOf(workload, 19);
  const TaskDescription urgent = TaskOf(workload, 20);
  EXPECT_GT(5 * CpuOf(filler), cpu);
  EXPECT_LE(4 * CpuOf(filler), cpu);
  EXPECT_GT(CpuOf(urgent) + 2 * CpuOf(filler), cpu);
  EXPECT_LE(CpuOf(urgent) + CpuOf(filler), cpu);
  EXPECT_GT(urgent.task_descriptor().priority(),
            filler.task_descriptor().priority());
  EXPECT_EQ(filler.job_descriptor().uuid(), "bench-fillers");
  EXPECT_NE(urgent.job_descriptor().uuid(), "bench-fillers");
}

TEST(BenchWorkload, RefusesMoreTasksThanMachinesWhereEachDisplacesOthers) {
  EXPECT_EQ(BenchWorkload::Make(FindBenchProfile("preemption"), {5, 6, 1}, 1)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sluice
