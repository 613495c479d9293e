#include "rpc/convert_usage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/int128.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "rpc/checks.h"
#include "rpc/convert.h"
#include "sluice/state/resources.h"

namespace sluice {
namespace {

constexpr int64_t kMillibytesPerKb = int64_t{1024} * 1000;
constexpr double kFractionMax = 10;
constexpr double kPpm = 1e6;
constexpr int64_t kRunSecondsMax = int64_t{366} * 24 * 3600;  // A year.
constexpr int64_t kMsPerSecond = 1000;
constexpr uint64_t kUsPerMs = 1000;
// No machine is faster than this, a thousand in a picosecond.
constexpr uint64_t kInstructionsPerMsMax = 1'000'000'000'000;
// An instruction that gathers from this many places makes as many references.
constexpr uint64_t kReferencesPerInstructionMax = 16;
constexpr Int128 kMillion = 1'000'000;

absl::StatusOr<int64_t> Amount(std::string_view field, int64_t amount,
                               int64_t unit) {
  if (amount < 0) return Invalid(StrCat(field, ": ", amount, " < 0"));
  if (amount > kAmountMax / unit) {
    return Invalid(StrCat(field, ": more than ", kAmountMax / unit));
  }
  return amount * unit;
}

absl::StatusOr<int64_t> PartsPerMillion(std::string_view field,
                                        double fraction) {
  // Also false for NaN.
  if (!(fraction >= 0 && fraction <= kFractionMax)) {
    return Invalid(StrCat(field, ": ", fraction,
                          " is not a fraction from 0 to ", kFractionMax));
  }
  return std::llround(fraction * kPpm);
}

// The mean over all processors, weighted by capacity, or unweighted if one does
// not state it.
double CpuFraction(const firmament::ResourceStats& stats) {
  const bool is_weighted = std::ranges::all_of(
      stats.cpus_stats(),
      [](const auto& cpu) { return cpu.cpu_capacity() > 0; });
  double used = 0;
  double capacity = 0;
  for (const firmament::CpuStats& cpu : stats.cpus_stats()) {
    const double weight =
        is_weighted ? static_cast<double>(cpu.cpu_capacity()) : 1;
    used += weight * cpu.cpu_utilization();
    capacity += weight;
  }
  return capacity > 0 ? used / capacity : 0;
}

// Nothing where the report states nothing.
absl::StatusOr<std::optional<int64_t>> RunMs(
    const firmament::TaskFinalReport& report) {
  const double seconds = report.runtime();
  // Also false for NaN.
  if (!(seconds >= 0 && seconds <= static_cast<double>(kRunSecondsMax))) {
    return Invalid(StrCat("final_report: runtime: ", seconds,
                          " is not a time from 0 to ", kRunSecondsMax, " s"));
  }
  const uint64_t start_us = report.start_time();
  const uint64_t finish_us = report.finish_time();
  if (start_us == 0 || finish_us == 0) {
    if (seconds == 0) return std::nullopt;
    return std::llround(seconds * kMsPerSecond);
  }
  if (finish_us < start_us) {
    return Invalid("final_report: finish_time: before start_time");
  }
  const uint64_t run_ms = (finish_us - start_us) / kUsPerMs;
  if (run_ms > static_cast<uint64_t>(kRunSecondsMax * kMsPerSecond)) {
    return Invalid(StrCat("final_report: finish_time: more than ",
                          kRunSecondsMax, " s after start_time"));
  }
  return static_cast<int64_t>(run_ms);
}

// 0 where the report states none, or not in what time.
absl::StatusOr<uint64_t> Instructions(const firmament::TaskFinalReport& report,
                                      std::optional<int64_t> run_ms) {
  const uint64_t instructions = report.instructions();
  if (instructions == 0 || run_ms.value_or(0) == 0) return 0;
  if (instructions / static_cast<uint64_t>(*run_ms) > kInstructionsPerMsMax) {
    return Invalid(StrCat("final_report: instructions: ", instructions, " in ",
                          *run_ms, " ms are more than any machine can do"));
  }
  return instructions;
}

// Nothing where the report states nothing.
absl::StatusOr<std::optional<CacheUse>> ToCacheUse(
    const firmament::TaskFinalReport& report) {
  const uint64_t references = report.llc_refs();
  const uint64_t misses = report.llc_misses();
  const uint64_t instructions = report.instructions();
  if (references == 0 && misses == 0) return std::nullopt;
  if (misses > references) {
    return Invalid(StrCat("final_report: llc_misses: ", misses, " of ",
                          references, " llc_refs"));
  }
  if (instructions == 0) {
    return Invalid(StrCat("final_report: llc_refs: ", references,
                          " without instructions"));
  }
  if (Int128{references} >
      Int128{instructions} * kReferencesPerInstructionMax) {
    return Invalid(StrCat("final_report: llc_refs: ", references, " of ",
                          instructions,
                          " instructions are more than any can make"));
  }
  const auto of_a_million = [&](uint64_t count) {
    return static_cast<int64_t>(Int128{count} * kMillion /
                                Int128{instructions});
  };
  return CacheUse{of_a_million(references), of_a_million(misses)};
}

}  // namespace

absl::StatusOr<TaskUsage> ToTaskUsage(const firmament::TaskStats& stats) {
  // The working set is what counts against a limit; where it is not measured,
  // all that is used.
  const int64_t memory_kb = stats.mem_working_set() != 0
                                ? stats.mem_working_set()
                                : stats.mem_usage();
  TaskUsage usage;
  ASSIGN_OR_RETURN(usage.cpu, Amount("cpu_usage", stats.cpu_usage(), 1));
  ASSIGN_OR_RETURN(usage.memory,
                   Amount("mem_usage", memory_kb, kMillibytesPerKb));
  return usage;
}

absl::StatusOr<ReportTaskUsage> ToReportTaskUsage(
    const firmament::TaskStats& stats) {
  ASSIGN_OR_RETURN(const TaskUsage usage, ToTaskUsage(stats));
  return ReportTaskUsage{{stats.task_id()}, usage};
}

absl::StatusOr<ReportMachineUsage> ToReportMachineUsage(
    const firmament::ResourceStats& stats) {
  ReportMachineUsage report = {.machine_uuid = KeptId(stats.resource_id())};
  MachineUsage& usage = report.usage;
  ASSIGN_OR_RETURN(usage.cpu_ppm,
                   PartsPerMillion("cpu_utilization", CpuFraction(stats)));
  ASSIGN_OR_RETURN(usage.memory_ppm,
                   PartsPerMillion("mem_utilization", stats.mem_utilization()));
  ASSIGN_OR_RETURN(usage.net_rx_kb, Amount("net_rx_bw", stats.net_rx_bw(), 1));
  ASSIGN_OR_RETURN(usage.net_tx_kb, Amount("net_tx_bw", stats.net_tx_bw(), 1));
  return report;
}

CompleteTask ToCompleteTask(const firmament::TaskUID& uid, Faults* faults) {
  CompleteTask command = {.uid = {uid.task_uid()}};
  absl::StatusOr<std::optional<int64_t>> run_ms = RunMs(uid.final_report());
  if (!run_ms.ok()) {
    faults->Add(std::string(Message(run_ms.status())));
    return command;
  }
  command.run_ms = *run_ms;
  const absl::StatusOr<uint64_t> instructions =
      Instructions(uid.final_report(), *run_ms);
  if (!instructions.ok()) {
    faults->Add(std::string(Message(instructions.status())));
    return command;
  }
  command.instructions = *instructions;
  const absl::StatusOr<std::optional<CacheUse>> cache =
      ToCacheUse(uid.final_report());
  if (cache.ok()) {
    command.cache = *cache;
  } else {
    faults->Add(std::string(Message(cache.status())));
  }
  return command;
}

}  // namespace sluice
