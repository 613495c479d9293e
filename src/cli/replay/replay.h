// Plays a trace against a server and keeps the books: what runs, what waits,
// how full the cluster is, and how long the rounds take.
//
// Threads: none; everything happens on the caller's thread.

#ifndef SLUICE_CLI_REPLAY_REPLAY_H_
#define SLUICE_CLI_REPLAY_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/base/command.h"
#include "cli/client/contract_client.h"
#include "cli/replay/openb_trace.h"
#include "cli/replay/trace_events.h"

namespace sluice {

// What a trace counts of each resource.
struct TraceAmounts {
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int64_t gpus = 0;

  void Add(const TraceAmounts& other);
  void Subtract(const TraceAmounts& other);
};

struct ReplayResult {
  // PLACE deltas for pods of the trace.
  int64_t placed = 0;
  // Ran, and departed.
  int64_t completed = 0;
  // Departed without having run.
  int64_t gave_up = 0;
  // Stopped by the server (PREEMPT or MIGRATE); they are not submitted again.
  int64_t preempted = 0;
  // Pods that wait after the round that follows the last arrival, and at the
  // end of the replay.
  int64_t pending_after_arrivals = 0;
  int64_t pending = 0;
  std::vector<int64_t> round_us;
  TraceAmounts allocatable;
  // What the running pods ask for after the round that follows the last
  // arrival, and the peak of each resource after any round.
  TraceAmounts used_after_arrivals;
  TraceAmounts used_peak;
};

class Replay {
 public:
  // The arguments must outlive the replay.
  Replay(const CommandContext& context, std::span<const TraceMachine> machines,
         std::span<const TracePod> pods);

  // Adds the machines, then plays `steps` of `events`, with a round after each.
  // A pod that comes and goes within a step leaves after the step's round, so
  // that a round has seen every pod.  Pod i is task i + 1.  Called once.
  // Errors: a call failed or was refused.
  absl::StatusOr<ReplayResult> Run(std::span<const TraceEvent> events,
                                   std::span<const TraceStep> steps);

 private:
  enum class PodState {
    kAbsent,
    // Submitted, but no round has seen it.
    kNew,
    kPending,
    kRunning,
    kPreempted
  };

  absl::Status Arrive(size_t pod_index);
  absl::Status Depart(size_t pod_index);
  absl::Status PlayStep(std::span<const TraceEvent> events);
  absl::Status RunRound();
  void Apply(const firmament::SchedulingDelta& delta);
  TraceAmounts AmountsOf(size_t pod_index) const;

  const CommandContext& context_;
  const std::span<const TraceMachine> machines_;
  const std::span<const TracePod> pods_;
  ContractClient client_;
  std::vector<PodState> states_;
  // The new pods, and those of them that leave after the next round.
  std::vector<size_t> new_pods_;
  std::vector<size_t> leaving_pods_;
  int64_t pending_count_ = 0;
  TraceAmounts used_;
  ReplayResult result_;
};

}  // namespace sluice

#endif  // SLUICE_CLI_REPLAY_REPLAY_H_
