#include "util/measured_day.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "base/rng.h"
#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kCores = 16'000;            // Of a machine.
constexpr int64_t kMemoryOfMachine = 64'000;  // In units of a mebibyte or so.

// A day with its cluster and all that is known of its tasks.
class Day {
 public:
  explicit Day(const DayOptions& options)
      : options_(options), rng_(options.seed) {
    scheduler_.mutable_state().measured_use().SetOptions(options.measured_use);
    for (int64_t i = 0; i < options.machines; ++i) {
      scheduler_.Apply(
          Added(NameOf(i),
                {.cpu = kCores,
                 .memory = kMemoryOfMachine,
                 .pods = 110,
                 .capacity = {{"cpu", kCores}, {"memory", kMemoryOfMachine}}}));
    }
  }

  DayResult Run() {
    DayResult result;
    int64_t rounds = 0;
    for (int64_t minute = 0; minute < options_.hours * 60;
         minute += options_.sample_minutes) {
      Complete(minute, &result);
      Submit(minute);
      const bool counts = minute >= 60;
      Sample(minute, counts ? &result : nullptr);
      scheduler_.Round(minute * kMinuteMs);
      scheduler_.Deliver();
      if (!counts) continue;
      ++rounds;
      result.running_mean += static_cast<double>(RunningCount());
    }
    result.running_mean /= static_cast<double>(std::max<int64_t>(rounds, 1));
    return result;
  }

 private:
  struct Life {
    int64_t minutes = 0;  // That it runs for.
    int64_t peak = 0;     // The minute of the day.
  };

  static std::string NameOf(int64_t machine) { return StrCat("m", machine); }

  int64_t RunningCount() const {
    int64_t running = 0;
    for (const auto& [id, machine] : scheduler_.state().machines()) {
      running += std::ssize(machine->tasks);
    }
    return running;
  }

  void Complete(int64_t minute, DayResult* result) {
    std::vector<uint64_t> over;
    for (const auto& [uid, life] : lives_) {
      const Task& task = scheduler_.TaskOf(uid);
      if (task.state == TaskState::kRunning &&
          minute - task.placed_ms / kMinuteMs >= life.minutes) {
        over.push_back(uid);
      }
    }
    for (const uint64_t uid : over) {
      scheduler_.Apply(Completed(uid), minute * kMinuteMs);
      scheduler_.Apply(Removed(uid), minute * kMinuteMs);
      lives_.erase(uid);
    }
    result->completed += std::ssize(over);
  }

  // As many wait as there are machines, whatever runs.
  void Submit(int64_t minute) {
    while (scheduler_.state().pending_count() < options_.machines) {
      const int64_t cores = int64_t{1} << rng_.Below(3);
      const int64_t memory = cores * rng_.Between(3'000, 4'000);
      const uint64_t uid = ++last_uid_;
      lives_[uid] = {rng_.Between(30, 240), rng_.Between(13 * 60, 15 * 60)};
      scheduler_.Apply(Submitted(uid, {.cpu = cores * 1000,
                                       .memory = memory / 500 * 500,
                                       .job = StrCat("j", uid % 50)}),
                       minute * kMinuteMs);
    }
  }

  // Of what it asked for.
  static double UseOf(const Life& life, int64_t minute) {
    const double angle = 2 * std::numbers::pi *
                         static_cast<double>(minute - life.peak) / (24 * 60);
    return 0.4 + 0.2 * std::cos(angle);
  }

  void Sample(int64_t minute, DayResult* result) {
    for (const auto& [id, machine] : scheduler_.state().machines()) {
      double cpu = 0;
      double memory = 0;
      for (const TaskId task : machine->tasks) {
        const Resources& request =
            scheduler_.state().FindTask(task)->class_key.request;
        const double use = UseOf(lives_.at(task.value), minute);
        cpu += use * static_cast<double>(request[kCpu]);
        memory += use * static_cast<double>(request[kMemory]);
      }
      cpu /= static_cast<double>(kCores);
      memory /= static_cast<double>(kMemoryOfMachine);
      scheduler_.Apply(
          ReportMachineUsage{
              machine->uuid,
              {.cpu_ppm = static_cast<int64_t>(cpu * 1e6),
               .memory_ppm = static_cast<int64_t>(memory * 1e6)}},
          minute * kMinuteMs);
      if (result == nullptr) continue;
      ++result->samples;
      if (cpu > 1 || memory > 1) ++result->samples_beyond;
      result->requested_percent_max = std::max(
          {result->requested_percent_max, machine->used[kCpu] * 100 / kCores,
           machine->used[kMemory] * 100 / kMemoryOfMachine});
    }
  }

  const DayOptions options_;
  Rng rng_;
  TestScheduler scheduler_;
  std::map<uint64_t, Life> lives_;  // By uid.
  uint64_t last_uid_ = 0;
};

}  // namespace

DayResult RunDay(const DayOptions& options) { return Day(options).Run(); }

}  // namespace sluice
