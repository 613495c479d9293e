#include "cli/replay/replay_command.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/percentile.h"
#include "cli/base/report.h"
#include "cli/replay/openb_trace.h"
#include "cli/replay/replay.h"
#include "cli/replay/trace_events.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "replay",
    .arguments = "openb --nodes=CSV --pods=CSV",
    .summary = "Plays a recorded cluster's machines and pods",
    .description =
        R"(Plays a trace through the Firmament contract, as a cluster bridge would, and
prints how the scheduler did.  The format "openb" is that of Alibaba's traces
of GPU clusters; columns are found by the names in the header row:

  nodes  sn,cpu_milli,memory_mib,gpu,model
  pods   name,cpu_milli,memory_mib,num_gpu[,gpu_spec,qos,creation_time,
         deletion_time] (times in seconds; other columns are skipped)

First every machine is added; its GPUs are the extended resource
nvidia.com/gpu, their model is the label gpu-model.  Then each pod is submitted
at its creation time and completed and removed at its deletion time; a pod that
was never placed by then is only removed, and counted as "gave up".  GPUs are
whole: a pod that asks for a part of one takes it all.  Pod i of the file is
task i, counted from 1.  The trace does not name the pods' owners: pods of the
same shape and qos are one job.

A round runs after every 100 arrivals (--batch) and after the last one, then
after every 100 departures.  With --speedup the trace's clock sets the pace
instead: each second of real time plays that many seconds of the trace and ends
with a round if anything happened in it.  A pod that comes and goes between two
rounds leaves after the second, so that a round sees every pod.  Without
creation times all pods are submitted at once, and stay.

Most pods of Alibaba's trace live for minutes, and few at a time: its cluster
stays nearly empty.  With --stay no pod departs, and the cluster fills up.

The machines stay afterwards, and so do the pods that have not departed; a
second replay finds them there.  Use a separate daemon: decisions that a round
makes about other tasks are lost.
)"};

template <class Trace>
absl::StatusOr<Trace> ReadFile(const std::string& path,
                               absl::StatusOr<Trace> (*read)(std::string,
                                                             std::istream&)) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(StrCat("cannot read ", path));
  return read(path, file);
}

class ReplayCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    flags.AddString({.name = "nodes", .value = "CSV", .help = "The machines."},
                    &nodes_path_);
    flags.AddString({.name = "pods", .value = "CSV", .help = "The pods."},
                    &pods_path_);
    flags.AddInteger({.name = "batch",
                      .value = "N",
                      .help = "Runs a round after every N arrivals (100)."},
                     {.min = 1, .max = 1'000'000'000}, &batch_);
    flags.AddNumber(
        {.name = "speedup",
         .value = "X",
         .help = "Seconds of the trace per second of real time, from\n"
                 "1 up; 0 is as fast as possible (0)."},
        &speedup_);
    flags.AddSwitch("stay", "No pod departs.", &stays_);
    flags.AddInteger(
        {.name = "limit",
         .value = "N",
         .help = "Plays only the first N pods of the file; 0 is all (0)."},
        {.min = 0, .max = 1'000'000'000}, &limit_);
  }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 1));
    if (arguments.front() != "openb") {
      return absl::InvalidArgumentError(
          StrCat("unknown format '", arguments.front(), "'; there is openb"));
    }
    if (nodes_path_.empty() || pods_path_.empty()) {
      return absl::InvalidArgumentError("--nodes and --pods are needed");
    }
    // Played more slowly, the trace's times might not fit into a clock.
    if (speedup_ > 0 && speedup_ < 1) {
      return absl::InvalidArgumentError("--speedup must be 0, or 1 or more");
    }
    return absl::OkStatus();
  }

  absl::Status Run(const CommandContext& context) override;

 private:
  std::string nodes_path_;
  std::string pods_path_;
  int64_t batch_ = 100;
  double speedup_ = 0;
  bool stays_ = false;
  int64_t limit_ = 0;
};

Report MakeReport(const ReplayResult& result, size_t machine_count,
                  size_t pod_count) {
  Report report;
  report.AddCount({"machines", "machines"},
                  static_cast<int64_t>(machine_count));
  report.AddCount({"tasks", "tasks"}, static_cast<int64_t>(pod_count));
  report.AddCount({"rounds", "rounds"},
                  static_cast<int64_t>(result.round_us.size()));
  report.AddCount({"placed", "placed"}, result.placed);
  report.AddCount({"completed", "completed"}, result.completed);
  report.AddCount({"gave_up", "gave up"}, result.gave_up);
  report.AddCount({"preempted", "preempted"}, result.preempted);
  report.AddCount({"pending_after_arrivals", "pending after the arrivals"},
                  result.pending_after_arrivals);
  report.AddCount({"pending", "pending at the end"}, result.pending);
  report.AddMicroseconds({"round_p50_us", "round p50"},
                         Percentile(result.round_us, 50));
  report.AddMicroseconds({"round_p90_us", "round p90"},
                         Percentile(result.round_us, 90));
  report.AddMicroseconds({"round_p99_us", "round p99"},
                         Percentile(result.round_us, 99));
  report.AddMicroseconds({"round_max_us", "round max"},
                         Percentile(result.round_us, 100));
  const TraceAmounts& offered = result.allocatable;
  const TraceAmounts& peak = result.used_peak;
  const TraceAmounts& after = result.used_after_arrivals;
  report.AddShare({"cpu_peak", "cpu in use, peak"}, peak.cpu_milli,
                  offered.cpu_milli);
  report.AddShare({"memory_peak", "memory in use, peak"}, peak.memory_mib,
                  offered.memory_mib);
  report.AddShare({"gpu_peak", "GPUs in use, peak"}, peak.gpus, offered.gpus);
  report.AddShare({"cpu_after_arrivals", "cpu in use after the arrivals"},
                  after.cpu_milli, offered.cpu_milli);
  report.AddShare({"memory_after_arrivals", "memory in use after the arrivals"},
                  after.memory_mib, offered.memory_mib);
  report.AddShare({"gpu_after_arrivals", "GPUs in use after the arrivals"},
                  after.gpus, offered.gpus);
  return report;
}

absl::Status ReplayCommand::Run(const CommandContext& context) {
  ASSIGN_OR_RETURN(const std::vector<TraceMachine> machines,
                   ReadFile(nodes_path_, &ReadTraceMachines));
  ASSIGN_OR_RETURN(TracePods trace, ReadFile(pods_path_, &ReadTracePods));
  std::vector<TracePod>& pods = trace.pods;
  if (limit_ > 0 && static_cast<size_t>(limit_) < pods.size()) {
    pods.resize(static_cast<size_t>(limit_));
  }
  if (stays_) {
    for (TracePod& pod : pods) pod.deletion_s = TracePod::kNever;
  }
  const std::vector<TraceEvent> events = OrderTrace(pods);
  std::vector<TraceStep> steps;
  if (!trace.has_times) {
    context.console.err << pods_path_
                        << " has no column creation_time: all pods are "
                           "submitted at once, and stay\n";
    steps.push_back({.begin = 0, .end = events.size()});
  } else if (speedup_ > 0) {
    steps = SplitByTime(events, speedup_);
  } else {
    steps = SplitByCount(events, batch_);
  }

  const int64_t started_us = context.clock.MonotonicUs();
  Replay replay(context, machines, pods);
  ASSIGN_OR_RETURN(const ReplayResult result, replay.Run(events, steps));
  Report report = MakeReport(result, machines.size(), pods.size());
  report.AddMicroseconds({"elapsed_us", "time taken"},
                         context.clock.MonotonicUs() - started_us);
  report.Print(context.options.wants_json(), context.console.out);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<Command> MakeReplayCommand() {
  return std::make_unique<ReplayCommand>();
}

}  // namespace sluice
