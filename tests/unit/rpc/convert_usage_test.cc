#include "rpc/convert_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

firmament::CpuStats* AddCpu(firmament::ResourceStats* stats, int64_t capacity,
                            double utilization) {
  firmament::CpuStats* cpu = stats->add_cpus_stats();
  cpu->set_cpu_capacity(capacity);
  cpu->set_cpu_utilization(utilization);
  return cpu;
}

TEST(ConvertUsage, TakesMillicoresAndKilobytesOfATask) {
  firmament::TaskStats stats;
  stats.set_task_id(5);
  stats.set_cpu_usage(250);
  stats.set_mem_usage(2048);
  absl::StatusOr<ReportTaskUsage> report = ToReportTaskUsage(stats);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->task, TaskId{5});
  EXPECT_EQ(report->usage.cpu, 250);
  EXPECT_EQ(report->usage.memory, int64_t{2048} * 1024 * 1000);
  stats.set_mem_working_set(1024);
  EXPECT_EQ(ToTaskUsage(stats)->memory, int64_t{1024} * 1024 * 1000)
      << "page cache that can be given back is not in use";
}

TEST(ConvertUsage, ReadsTheFractionsOfAMachine) {
  firmament::ResourceStats stats;
  stats.set_resource_id("m");
  AddCpu(&stats, 4000, 0.25);
  // Whatever their unit.
  stats.set_mem_capacity(7);
  stats.set_mem_allocatable(std::numeric_limits<int64_t>::max());
  stats.set_mem_utilization(0.5);
  stats.set_net_rx_bw(300);
  stats.set_net_tx_bw(40);
  const absl::StatusOr<ReportMachineUsage> report = ToReportMachineUsage(stats);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->machine_uuid, "m");
  EXPECT_EQ(report->usage.cpu_ppm, 250000);
  EXPECT_EQ(report->usage.memory_ppm, 500000);
  EXPECT_EQ(report->usage.net_rx_kb, 300);
  EXPECT_EQ(report->usage.net_tx_kb, 40);
}

TEST(ConvertUsage, CountsProcessorsByTheirCapacity) {
  firmament::ResourceStats stats;
  AddCpu(&stats, 3000, 0.2);
  AddCpu(&stats, 1000, 1);
  EXPECT_EQ(ToReportMachineUsage(stats)->usage.cpu_ppm, 400000);
  AddCpu(&stats, 0, 0.3);  // Of one it is not stated.
  EXPECT_EQ(ToReportMachineUsage(stats)->usage.cpu_ppm, 500000);
  stats.clear_cpus_stats();
  EXPECT_EQ(ToReportMachineUsage(stats)->usage.cpu_ppm, 0);
}

TEST(ConvertUsage, RefusesWhatMakesNoSense) {
  const auto refused = [](auto set, const char* message) {
    firmament::ResourceStats stats;
    set(&stats);
    EXPECT_THAT(
        ToReportMachineUsage(stats),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  refused([](auto* stats) { AddCpu(stats, 1, std::nan("")); },
          "cpu_utilization: nan is no fraction from 0 to 10");
  refused([](auto* stats) { AddCpu(stats, 1, -0.5); }, "cpu_utilization");
  refused([](auto* stats) { stats->set_mem_utilization(55); },
          "mem_utilization: 55 is no fraction");
  refused(
      [](auto* stats) {
        stats->set_mem_utilization(std::numeric_limits<double>::infinity());
      },
      "mem_utilization: inf");
  refused([](auto* stats) { stats->set_net_rx_bw(-1); }, "net_rx_bw: -1 < 0");
  firmament::TaskStats task;
  task.set_mem_usage(std::numeric_limits<int64_t>::max());
  EXPECT_THAT(ToTaskUsage(task), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("mem_usage")));
  task.set_mem_usage(0);
  task.set_cpu_usage(-1);
  EXPECT_THAT(ToTaskUsage(task), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("cpu_usage: -1 < 0")));
}

}  // namespace
}  // namespace sluice
