// The pods of a trace as a sequence of arrivals and departures.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_REPLAY_TRACE_EVENTS_H_
#define SLUICE_CLI_REPLAY_TRACE_EVENTS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/replay/openb_trace.h"

namespace sluice {

struct TraceEvent {
  // At the same moment arrivals come before departures, so that a pod that
  // leaves at once has arrived before.
  enum class Kind { kArrival, kDeparture };

  int64_t time_s = 0;
  Kind kind = Kind::kArrival;
  size_t pod_index = 0;

  friend auto operator<=>(const TraceEvent&, const TraceEvent&) = default;
};

// One arrival for each pod, and one departure for each that leaves, by time.
// Events of one kind at the same time are in the order of `pods`.
std::vector<TraceEvent> OrderTrace(std::span<const TracePod> pods);

// Events that are played without a round in between; a round follows them.
struct TraceStep {
  // The events [begin, end).
  size_t begin = 0;
  size_t end = 0;
  // When the step is due, in seconds of real time since the replay began.
  int64_t due_s = 0;

  friend bool operator==(const TraceStep&, const TraceStep&) = default;
};

// A step ends with every `count`-th arrival and with the last one; after that
// with every `count`-th departure.  All are due at once.  REQUIRES: count > 0.
std::vector<TraceStep> SplitByCount(std::span<const TraceEvent> events,
                                    int64_t count);

// A step for each `window_s` seconds of the trace in which something happens.
// Each of these takes one second of real time.
// REQUIRES: window_s > 0; `events` in the order of time.
std::vector<TraceStep> SplitByTime(std::span<const TraceEvent> events,
                                   double window_s);

}  // namespace sluice

#endif  // SLUICE_CLI_REPLAY_TRACE_EVENTS_H_
