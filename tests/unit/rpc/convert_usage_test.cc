#include "rpc/convert_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

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
  EXPECT_EQ(report->uid, TaskUid{5});
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
          "cpu_utilization: nan is not a fraction from 0 to 10");
  refused([](auto* stats) { AddCpu(stats, 1, -0.5); }, "cpu_utilization");
  refused([](auto* stats) { stats->set_mem_utilization(55); },
          "mem_utilization: 55 is not a fraction");
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

firmament::TaskUID Reported(uint64_t start_us, uint64_t finish_us,
                            double seconds) {
  firmament::TaskUID uid;
  uid.set_task_uid(7);
  uid.mutable_final_report()->set_start_time(start_us);
  uid.mutable_final_report()->set_finish_time(finish_us);
  uid.mutable_final_report()->set_runtime(seconds);
  return uid;
}

TEST(ConvertFinalReport, TakesMicrosecondsOfTheClockOrElseSeconds) {
  constexpr uint64_t kBegin = 1'700'000'000'000'000;
  struct Row {
    uint64_t start_us;
    uint64_t finish_us;
    double seconds;
    std::optional<int64_t> run_ms;
  };
  constexpr double kYear = 366 * 24 * 3600;
  const Row rows[] = {
      {0, 0, 0, std::nullopt},
      {0, 0, 2.5, 2500},
      {0, 0, 1e-9, 0},
      {0, 0, kYear, static_cast<int64_t>(kYear) * 1000},
      {kBegin, kBegin + 1'500'999, 0, 1500},
      {kBegin, kBegin + 1'500'000, 99, 1500},
      {kBegin, kBegin, 99, 0},
      // Of a clock that one of them does not state.
      {kBegin, 0, 3, 3000},
      {0, kBegin, 0, std::nullopt},
  };
  for (const Row& row : rows) {
    Faults faults;
    const CompleteTask command = ToCompleteTask(
        Reported(row.start_us, row.finish_us, row.seconds), &faults);
    EXPECT_EQ(command.uid, TaskUid{7});
    EXPECT_EQ(command.run_ms, row.run_ms) << row.finish_us << row.seconds;
    EXPECT_EQ(faults.Text(), "");
  }
  Faults faults;
  EXPECT_EQ(ToCompleteTask({}, &faults).run_ms, std::nullopt);
  EXPECT_TRUE(faults.empty());
}

TEST(ConvertFinalReport, TakesWhatMakesNoSenseForNone) {
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto refused = [](const firmament::TaskUID& uid, const char* message) {
    Faults faults;
    EXPECT_EQ(ToCompleteTask(uid, &faults).run_ms, std::nullopt);
    EXPECT_THAT(faults.Text(), HasSubstr(message));
  };
  refused(Reported(6, 5, 0), "final_report: finish_time: before start_time");
  refused(Reported(kLast, 1, 0), "finish_time: before start_time");
  refused(Reported(1, kLast, 0), "s after start_time");
  refused(Reported(5, 6, -1),
          "final_report: runtime: -1 is not a time from 0 to");
  refused(Reported(0, 0, std::nan("")), "runtime: nan");
  refused(Reported(0, 0, kNever), "runtime: inf");
  refused(Reported(0, 0, -kNever), "runtime: -inf");
  refused(Reported(0, 0, 4e7), "runtime: 4e+07");
}

TEST(ConvertFinalReport, TakesInstructionsWhereItIsKnownInWhatTime) {
  constexpr uint64_t kTera = 1'000'000'000'000;
  const auto instructions = [](double seconds, uint64_t stated) {
    firmament::TaskUID uid = Reported(0, 0, seconds);
    uid.mutable_final_report()->set_instructions(stated);
    Faults faults;
    const CompleteTask command = ToCompleteTask(uid, &faults);
    return std::pair(command.instructions, faults.Text());
  };
  EXPECT_EQ(instructions(1, 0), std::pair(uint64_t{0}, std::string()));
  EXPECT_EQ(instructions(1, kTera), std::pair(kTera, std::string()));
  EXPECT_EQ(instructions(0, kTera), std::pair(uint64_t{0}, std::string()));
  EXPECT_EQ(instructions(1e-9, kTera), std::pair(uint64_t{0}, std::string()));
  EXPECT_EQ(instructions(-1, kTera).first, 0u);
  EXPECT_EQ(instructions(1, 1000 * kTera).second, "");
  EXPECT_EQ(instructions(0.002, 3 * kTera),
            std::pair(uint64_t{0},
                      std::string("final_report: instructions: 3000000000000 "
                                  "in 2 ms are more than any machine can do")));
}

firmament::TaskUID CacheReported(uint64_t instructions, uint64_t references,
                                 uint64_t misses) {
  firmament::TaskUID uid;
  uid.mutable_final_report()->set_instructions(instructions);
  uid.mutable_final_report()->set_llc_refs(references);
  uid.mutable_final_report()->set_llc_misses(misses);
  return uid;
}

TEST(ConvertFinalReport, TakesUseOfTheCacheForAMillionInstructions) {
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
  const auto uses = [](const firmament::TaskUID& uid, int64_t references,
                       int64_t misses) {
    Faults faults;
    const std::optional<CacheUse> cache = ToCompleteTask(uid, &faults).cache;
    EXPECT_TRUE(faults.empty()) << faults.Text();
    ASSERT_TRUE(cache.has_value());
    EXPECT_EQ(cache->references, references);
    EXPECT_EQ(cache->misses, misses);
  };
  uses(CacheReported(2'000'000'000, 30'000'000, 5'000'000), 15'000, 2'500);
  uses(CacheReported(3'000'000, 1, 0), 0, 0);
  uses(CacheReported(1, 16, 16), 16'000'000, 16'000'000);
  uses(CacheReported(kLast, kLast, kLast), 1'000'000, 1'000'000);
  uses(CacheReported(kLast, 1, 1), 0, 0);
  Faults faults;
  EXPECT_FALSE(ToCompleteTask(CacheReported(5, 0, 0), &faults).cache);
  EXPECT_FALSE(ToCompleteTask(CacheReported(0, 0, 0), &faults).cache);
  EXPECT_FALSE(ToCompleteTask({}, &faults).cache);
  EXPECT_TRUE(faults.empty());
}

// What it says of the rest is kept.
TEST(ConvertFinalReport, TakesUseOfTheCacheThatMakesNoSenseForNone) {
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
  const auto refused = [](firmament::TaskUID uid, const char* message) {
    Faults faults;
    uid.mutable_final_report()->set_runtime(3'000'000);
    const CompleteTask command = ToCompleteTask(uid, &faults);
    EXPECT_FALSE(command.cache.has_value());
    EXPECT_EQ(command.run_ms, 3'000'000'000);
    EXPECT_EQ(command.instructions, uid.final_report().instructions());
    EXPECT_EQ(faults.Text(), message);
  };
  refused(CacheReported(1000, 5, 6),
          "final_report: llc_misses: 6 of 5 llc_refs");
  refused(CacheReported(1000, 0, kLast),
          "final_report: llc_misses: 18446744073709551615 of 0 llc_refs");
  refused(CacheReported(0, 5, 5),
          "final_report: llc_refs: 5 without instructions");
  refused(CacheReported(1, 17, 0),
          "final_report: llc_refs: 17 of 1 instructions are more than any can "
          "make");
  refused(CacheReported(kLast / 17, kLast, 1),
          "final_report: llc_refs: 18446744073709551615 of "
          "1085102592571150095 instructions are more than any can make");
}

// Counts that are not to be believed are none for the cache either.
TEST(ConvertFinalReport, TakesNoUseOfTheCacheWithTooManyInstructions) {
  firmament::TaskUID uid =
      CacheReported(std::numeric_limits<uint64_t>::max(), 5, 5);
  uid.mutable_final_report()->set_runtime(1);
  Faults faults;
  EXPECT_FALSE(ToCompleteTask(uid, &faults).cache.has_value());
  EXPECT_FALSE(faults.empty());
}

// What it says of the time is kept.
TEST(ConvertFinalReport, TakesTooManyInstructionsForNone) {
  firmament::TaskUID uid = Reported(0, 0, 3);
  uid.mutable_final_report()->set_instructions(
      std::numeric_limits<uint64_t>::max());
  Faults faults;
  EXPECT_EQ(ToCompleteTask(uid, &faults).run_ms, 3000);
  EXPECT_FALSE(faults.empty());
}

}  // namespace
}  // namespace sluice
