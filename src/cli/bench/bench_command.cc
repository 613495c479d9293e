#include "cli/bench/bench_command.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/percentile.h"
#include "cli/base/progress.h"
#include "cli/base/report.h"
#include "cli/bench/bench_profiles.h"
#include "cli/bench/bench_workload.h"
#include "cli/bench/feed_bench.h"
#include "cli/client/contract_client.h"
#include "firmament/firmament_scheduler.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "bench",
    .arguments = "",
    .summary = "Measures the daemon end to end over gRPC",
    .description =
        R"(Adds machines of one size, submits tasks of one or more classes, runs rounds
until all tasks are placed or nothing changes any more, prints how long that
took, and removes everything it added.

--seed determines the sizes of the classes: 50m to 500m of cpu, 64 MiB to 1 GiB
of memory.  Each machine has room for its equal share of the tasks even if all
were of the largest size, so everything fits.  The tasks have the uids from
1000000000001 up, the machines are bench-machine-1 and so on.

A profile says what the tasks require besides room, and how many machines, tasks
and classes there are.  The peers of a task are the tasks of its class, itself
included.

Profile "preemption" has its own sizes: four tasks of 900m fill each machine of
four cores before the clock starts.  Then tasks of 3000m and a higher priority
come, and the tasks that they displace end as soon as the daemon says so.  It
needs --feed, and a daemon with --preemption=priority.

Times are the client's: "first submission to last delta" is from the first
TaskSubmitted to the last Schedule reply with a placement.  Use a separate
daemon: decisions that a round makes about other tasks are lost.
)"};

std::string ProfileHelp(const BenchProfile& profile) {
  const BenchSize& size = profile.size;
  std::string help =
      StrCat(profile.name, ": ", size.machine_count, " machines, ",
             size.task_count, " tasks, ", size.class_count,
             size.class_count == 1 ? " class\n  " : " classes\n  ",
             profile.help, "\n");
  if (!profile.model.empty()) help += StrCat("  (", profile.model, ")\n");
  return help;
}

// What one run measures, in microseconds of the client's clock.
struct Measurement {
  int64_t adding_us = 0;
  int64_t submitting_us = 0;
  // From the first submission to the last placement.
  int64_t placing_us = 0;
  int64_t removing_us = 0;
  int64_t placed = 0;
  std::vector<int64_t> round_us;
};

class BenchCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    std::vector<std::string> names;
    std::string help =
        StrCat("One of these (", BenchProfiles().front().name, "):\n");
    for (const BenchProfile& profile : BenchProfiles()) {
      names.emplace_back(profile.name);
      help += ProfileHelp(profile);
    }
    flags.AddChoice({.name = "profile", .value = "PROFILE", .help = help},
                    names, &profile_name_);
    AddSizeFlags(flags);
    flags.AddInteger({.name = "concurrency",
                      .value = "N",
                      .help = "Calls in flight at once (128)."},
                     {.min = 1, .max = 100'000}, &concurrency_);
    flags.AddInteger(
        {.name = "seed",
         .value = "S",
         .help = "Determines the sizes and the order of the tasks (1)."},
        {.min = 0, .max = INT64_MAX}, &seed_);
    flags.AddSwitch(
        "keep", "Does not remove the machines and tasks at the end.", &keeps_);
    AddFeedFlags(flags);
  }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 0));
    const BenchProfile& profile = FindBenchProfile(profile_name_);
    if (profile.Preempts() && !uses_feed_) {
      return absl::InvalidArgumentError(
          StrCat("--profile=", profile.name, " needs --feed"));
    }
    const BenchSize& usual = profile.size;
    if (size_.machine_count == 0) size_.machine_count = usual.machine_count;
    if (size_.task_count == 0) size_.task_count = usual.task_count;
    if (size_.class_count == 0) size_.class_count = usual.class_count;
    ASSIGN_OR_RETURN(BenchWorkload workload,
                     BenchWorkload::Make(profile, size_, seed_));
    workload_.emplace(std::move(workload));
    return absl::OkStatus();
  }

  absl::Status Run(const CommandContext& context) override;

 private:
  void AddSizeFlags(FlagSet& flags);
  void AddFeedFlags(FlagSet& flags);
  absl::Status AddMachines(const CommandContext& context,
                           ContractClient& client);
  absl::Status PlaceTasks(const CommandContext& context,
                          ContractClient& client);
  absl::Status RemoveAll(const CommandContext& context, ContractClient& client);
  // Adds the number of our tasks that `deltas` place to `measured_`.
  void CountPlacements(const firmament::SchedulingDeltas& deltas);
  Report MakeReport() const;

  std::string profile_name_{BenchProfiles().front().name};
  // Until TakeArguments() a count is 0 if the profile decides.
  BenchSize size_;
  int64_t concurrency_ = 128;
  int64_t seed_ = 1;
  bool keeps_ = false;

  bool uses_feed_ = false;
  bool resyncs_ = false;
  int64_t latency_count_ = 0;
  std::optional<BenchWorkload> workload_;  // Set by TakeArguments().
  Measurement measured_;
};

void BenchCommand::AddSizeFlags(FlagSet& flags) {
  flags.AddInteger({.name = "machines",
                    .value = "N",
                    .help = "How many machines (the profile's number)."},
                   {.min = 1, .max = 1'000'000}, &size_.machine_count);
  flags.AddInteger({.name = "tasks",
                    .value = "N",
                    .help = "How many tasks (the profile's number)."},
                   {.min = 1, .max = 10'000'000}, &size_.task_count);
  flags.AddInteger(
      {.name = "classes",
       .value = "N",
       .help = "How many classes; each is a job (the profile's number)."},
      {.min = 1, .max = 1'000'000}, &size_.class_count);
}

void BenchCommand::AddFeedFlags(FlagSet& flags) {
  flags.AddSwitch(
      "feed", "Uses a feed, \"bench\", instead of the calls of the contract.",
      &uses_feed_);
  flags.AddSwitch("resync",
                  "With --feed: reconnects when all tasks are placed and "
                  "states\neverything anew; and again at the end, to a "
                  "daemon that\nknows nothing.",
                  &resyncs_);
  flags.AddInteger(
      {.name = "latency",
       .value = "N",
       .help = "With --feed: times N single tasks on the idle cluster (0)."},
      {.min = 0, .max = 1'000'000}, &latency_count_);
}

absl::Status BenchCommand::AddMachines(const CommandContext& context,
                                       ContractClient& client) {
  Progress progress(context, "machines added", size_.machine_count);
  const int64_t started_us = context.clock.MonotonicUs();
  for (int64_t i = 0; i < size_.machine_count; ++i) {
    firmament::ResourceTopologyNodeDescriptor machine;
    workload_->DescribeMachine(i, &machine);
    RETURN_IF_ERROR(client.AddMachine(machine));
    progress.Show(i);
  }
  RETURN_IF_ERROR(client.Drain());
  measured_.adding_us = context.clock.MonotonicUs() - started_us;
  return absl::OkStatus();
}

absl::Status BenchCommand::PlaceTasks(const CommandContext& context,
                                      ContractClient& client) {
  const int64_t started_us = context.clock.MonotonicUs();
  {
    Progress progress(context, "tasks submitted", size_.task_count);
    for (int64_t i = 0; i < size_.task_count; ++i) {
      firmament::TaskDescription task;
      workload_->DescribeTask(i, &task);
      RETURN_IF_ERROR(client.SubmitTask(task));
      progress.Show(i);
    }
    RETURN_IF_ERROR(client.Drain());
  }
  measured_.submitting_us = context.clock.MonotonicUs() - started_us;
  while (measured_.placed < size_.task_count) {
    ASSIGN_OR_RETURN(const firmament::SchedulingDeltas deltas,
                     client.Schedule());
    const int64_t before = measured_.placed;
    CountPlacements(deltas);
    if (measured_.placed == before) break;
    measured_.placing_us = context.clock.MonotonicUs() - started_us;
  }
  measured_.round_us = client.round_us();
  return absl::OkStatus();
}

void BenchCommand::CountPlacements(const firmament::SchedulingDeltas& deltas) {
  const uint64_t first = BenchWorkload::TaskUid(0);
  const uint64_t end = BenchWorkload::TaskUid(size_.task_count);
  measured_.placed += std::ranges::count_if(
      deltas.deltas(), [first, end](const firmament::SchedulingDelta& delta) {
        return delta.type() == firmament::SchedulingDelta::PLACE &&
               delta.task_id() >= first && delta.task_id() < end;
      });
}

absl::Status BenchCommand::RemoveAll(const CommandContext& context,
                                     ContractClient& client) {
  Progress progress(context, "tasks removed", size_.task_count);
  const int64_t started_us = context.clock.MonotonicUs();
  for (int64_t i = 0; i < size_.task_count; ++i) {
    RETURN_IF_ERROR(client.RemoveTask(BenchWorkload::TaskUid(i)));
    progress.Show(i);
  }
  RETURN_IF_ERROR(client.Drain());
  for (int64_t i = 0; i < size_.machine_count; ++i) {
    RETURN_IF_ERROR(client.RemoveMachine(BenchWorkload::MachineUuid(i)));
  }
  RETURN_IF_ERROR(client.Drain());
  measured_.removing_us = context.clock.MonotonicUs() - started_us;
  return absl::OkStatus();
}

Report BenchCommand::MakeReport() const {
  Report report;
  report.AddText({"profile", "profile"}, workload_->profile().name);
  report.AddCount({"machines", "machines"}, size_.machine_count);
  report.AddCount({"tasks", "tasks"}, size_.task_count);
  report.AddCount({"classes", "classes"}, size_.class_count);
  report.AddCount({"seed", "seed"}, seed_);
  report.AddCount({"concurrency", "calls in flight"}, concurrency_);
  report.AddRate({"machines_per_s", "machines added"}, size_.machine_count,
                 measured_.adding_us);
  report.AddRate({"submissions_per_s", "tasks submitted"}, size_.task_count,
                 measured_.submitting_us);
  report.AddCount({"rounds", "rounds"},
                  static_cast<int64_t>(measured_.round_us.size()));
  report.AddMicroseconds({"round_p50_us", "round p50"},
                         Percentile(measured_.round_us, 50));
  report.AddMicroseconds({"round_max_us", "round max"},
                         Percentile(measured_.round_us, 100));
  report.AddCount({"placed", "placed"}, measured_.placed);
  report.AddMicroseconds({"placing_us", "first submission to last delta"},
                         measured_.placing_us);
  report.AddRate({"tasks_per_s", "tasks placed"}, measured_.placed,
                 measured_.placing_us);
  if (!keeps_) {
    report.AddRate({"removals_per_s", "tasks and machines removed"},
                   size_.task_count + size_.machine_count,
                   measured_.removing_us);
  }
  return report;
}

absl::Status BenchCommand::Run(const CommandContext& context) {
  std::ostream& out = context.console.out;
  if (uses_feed_) {
    ASSIGN_OR_RETURN(const Report report,
                     RunFeedBench(context, *workload_,
                                  {.resyncs = resyncs_,
                                   .latency_count = latency_count_,
                                   .keeps = keeps_}));
    report.Print(context.options.wants_json(), out);
    return absl::OkStatus();
  }
  ContractClient client(context, static_cast<size_t>(concurrency_));
  RETURN_IF_ERROR(AddMachines(context, client));
  RETURN_IF_ERROR(PlaceTasks(context, client));
  if (!keeps_) RETURN_IF_ERROR(RemoveAll(context, client));
  MakeReport().Print(context.options.wants_json(), out);
  if (measured_.placed < size_.task_count) {
    return absl::InternalError(StrCat(size_.task_count - measured_.placed,
                                      " tasks were not placed, although all "
                                      "fit"));
  }
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<Command> MakeBenchCommand() {
  return std::make_unique<BenchCommand>();
}

}  // namespace sluice
