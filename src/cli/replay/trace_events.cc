#include "cli/replay/trace_events.h"

#include <algorithm>
#include <cmath>

#include "glog/logging.h"

namespace sluice {

std::vector<TraceEvent> OrderTrace(std::span<const TracePod> pods) {
  std::vector<TraceEvent> events;
  events.reserve(2 * pods.size());
  for (size_t i = 0; i < pods.size(); ++i) {
    events.push_back({.time_s = pods[i].creation_s,
                      .kind = TraceEvent::Kind::kArrival,
                      .pod_index = i});
    if (pods[i].deletion_s == TracePod::kNever) continue;
    events.push_back({.time_s = pods[i].deletion_s,
                      .kind = TraceEvent::Kind::kDeparture,
                      .pod_index = i});
  }
  std::ranges::sort(events);
  return events;
}

std::vector<TraceStep> SplitByCount(std::span<const TraceEvent> events,
                                    int64_t count) {
  CHECK_GT(count, 0);
  int64_t arrivals_left =
      std::ranges::count(events, TraceEvent::Kind::kArrival, &TraceEvent::kind);
  std::vector<TraceStep> steps;
  size_t begin = 0;
  int64_t in_step = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const bool is_arrival = events[i].kind == TraceEvent::Kind::kArrival;
    if (is_arrival) --arrivals_left;
    const bool is_counted = is_arrival || arrivals_left == 0;
    if (is_counted) ++in_step;
    const bool is_last_arrival = is_arrival && arrivals_left == 0;
    if ((is_counted && in_step == count) || is_last_arrival ||
        i + 1 == events.size()) {
      steps.push_back({.begin = begin, .end = i + 1});
      begin = i + 1;
      in_step = 0;
    }
  }
  return steps;
}

std::vector<TraceStep> SplitByTime(std::span<const TraceEvent> events,
                                   double window_s) {
  CHECK_GT(window_s, 0);
  std::vector<TraceStep> steps;
  for (size_t i = 0; i < events.size(); ++i) {
    const double since_first_s =
        static_cast<double>(events[i].time_s - events.front().time_s);
    const auto window =
        static_cast<int64_t>(std::floor(since_first_s / window_s));
    if (steps.empty() || steps.back().due_s != window) {
      steps.push_back({.begin = i, .end = i, .due_s = window});
    }
    steps.back().end = i + 1;
  }
  return steps;
}

}  // namespace sluice
