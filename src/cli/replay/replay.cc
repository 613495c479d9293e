#include "cli/replay/replay.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/status_macros.h"
#include "cli/base/progress.h"
#include "cli/base/rest.h"

namespace sluice {
namespace {

// Enough to keep a server on the same machine busy; more would queue there.
constexpr size_t kCallsMax = 128;

// The index of the last arrival; 0 if there is none.
size_t LastArrival(std::span<const TraceEvent> events) {
  size_t last = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == TraceEvent::Kind::kArrival) last = i;
  }
  return last;
}

}  // namespace

void TraceAmounts::Add(const TraceAmounts& other) {
  cpu_milli += other.cpu_milli;
  memory_mib += other.memory_mib;
  gpus += other.gpus;
}

void TraceAmounts::Subtract(const TraceAmounts& other) {
  cpu_milli -= other.cpu_milli;
  memory_mib -= other.memory_mib;
  gpus -= other.gpus;
}

Replay::Replay(const CommandContext& context,
               std::span<const TraceMachine> machines,
               std::span<const TracePod> pods)
    : context_(context),
      machines_(machines),
      pods_(pods),
      client_(context, kCallsMax),
      states_(pods.size(), PodState::kAbsent) {}

absl::StatusOr<ReplayResult> Replay::Run(std::span<const TraceEvent> events,
                                         std::span<const TraceStep> steps) {
  for (const TraceMachine& machine : machines_) {
    RETURN_IF_ERROR(client_.AddMachine(MachineMessage(machine)));
    result_.allocatable.Add({.cpu_milli = machine.cpu_milli,
                             .memory_mib = machine.memory_mib,
                             .gpus = machine.gpus});
  }
  RETURN_IF_ERROR(client_.Drain());

  Progress progress(context_, "events", static_cast<int64_t>(events.size()));
  const size_t last_arrival = LastArrival(events);
  const int64_t started_us = context_.clock.MonotonicUs();
  for (const TraceStep& step : steps) {
    RestUntil(context_.clock, started_us + step.due_s * 1'000'000);
    RETURN_IF_ERROR(
        PlayStep(events.subspan(step.begin, step.end - step.begin)));
    RETURN_IF_ERROR(RunRound());
    if (step.begin <= last_arrival && last_arrival < step.end) {
      result_.pending_after_arrivals = pending_count_;
      result_.used_after_arrivals = used_;
    }
    for (const size_t pod_index : std::exchange(leaving_pods_, {})) {
      RETURN_IF_ERROR(Depart(pod_index));
    }
    progress.Show(static_cast<int64_t>(step.end));
  }
  RETURN_IF_ERROR(client_.Drain());
  result_.pending = pending_count_;
  result_.round_us = client_.round_us();
  return result_;
}

absl::Status Replay::PlayStep(std::span<const TraceEvent> events) {
  for (const TraceEvent& event : events) {
    if (event.kind == TraceEvent::Kind::kArrival) {
      RETURN_IF_ERROR(Arrive(event.pod_index));
    } else if (states_[event.pod_index] == PodState::kNew) {
      leaving_pods_.push_back(event.pod_index);
    } else {
      RETURN_IF_ERROR(Depart(event.pod_index));
    }
  }
  return absl::OkStatus();
}

absl::Status Replay::Arrive(size_t pod_index) {
  states_[pod_index] = PodState::kNew;
  new_pods_.push_back(pod_index);
  ++pending_count_;
  return client_.SubmitTask(PodMessage(pods_[pod_index], pod_index + 1));
}

absl::Status Replay::Depart(size_t pod_index) {
  const PodState state = std::exchange(states_[pod_index], PodState::kAbsent);
  const uint64_t uid = pod_index + 1;
  if (state == PodState::kRunning) {
    ++result_.completed;
    used_.Subtract(AmountsOf(pod_index));
    RETURN_IF_ERROR(client_.CompleteTask(uid));
  } else if (state == PodState::kPending) {
    ++result_.gave_up;
    --pending_count_;
  }
  return client_.RemoveTask(uid);
}

absl::Status Replay::RunRound() {
  ASSIGN_OR_RETURN(const firmament::SchedulingDeltas deltas,
                   client_.Schedule());
  for (const size_t pod_index : std::exchange(new_pods_, {})) {
    states_[pod_index] = PodState::kPending;
  }
  for (const firmament::SchedulingDelta& delta : deltas.deltas()) Apply(delta);
  TraceAmounts& peak = result_.used_peak;
  peak.cpu_milli = std::max(peak.cpu_milli, used_.cpu_milli);
  peak.memory_mib = std::max(peak.memory_mib, used_.memory_mib);
  peak.gpus = std::max(peak.gpus, used_.gpus);
  return absl::OkStatus();
}

void Replay::Apply(const firmament::SchedulingDelta& delta) {
  // The server may know tasks that are not of the trace.
  if (delta.task_id() == 0 || delta.task_id() > pods_.size()) return;
  const size_t pod_index = delta.task_id() - 1;
  PodState& state = states_[pod_index];
  if (delta.type() == firmament::SchedulingDelta::PLACE) {
    if (state != PodState::kPending) return;
    state = PodState::kRunning;
    ++result_.placed;
    --pending_count_;
    used_.Add(AmountsOf(pod_index));
  } else if (delta.type() != firmament::SchedulingDelta::NOOP) {
    if (state != PodState::kRunning) return;
    state = PodState::kPreempted;
    ++result_.preempted;
    used_.Subtract(AmountsOf(pod_index));
  }
}

TraceAmounts Replay::AmountsOf(size_t pod_index) const {
  const TracePod& pod = pods_[pod_index];
  return {.cpu_milli = pod.cpu_milli,
          .memory_mib = pod.memory_mib,
          .gpus = pod.gpus};
}

}  // namespace sluice
