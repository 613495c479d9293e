#include "cli/replay/trace_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kArrival = TraceEvent::Kind::kArrival;
constexpr auto kDeparture = TraceEvent::Kind::kDeparture;

TracePod Pod(int64_t creation_s, int64_t deletion_s) {
  TracePod pod;
  pod.creation_s = creation_s;
  pod.deletion_s = deletion_s;
  return pod;
}

TraceEvent Arrival(int64_t time_s, size_t pod_index = 0) {
  return {.time_s = time_s, .kind = kArrival, .pod_index = pod_index};
}

TraceEvent Departure(int64_t time_s, size_t pod_index = 0) {
  return {.time_s = time_s, .kind = kDeparture, .pod_index = pod_index};
}

TEST(OrderTrace, GoesByTimeThenKindThenFileOrder) {
  const std::vector<TracePod> pods = {Pod(10, 20), Pod(5, 10), Pod(10, 30),
                                      Pod(5, TracePod::kNever)};
  EXPECT_THAT(
      OrderTrace(pods),
      ElementsAre(Arrival(5, 1), Arrival(5, 3), Arrival(10, 0), Arrival(10, 2),
                  Departure(10, 1), Departure(20, 0), Departure(30, 2)));
}

TEST(OrderTrace, LetsAPodComeBeforeItGoes) {
  const std::vector<TracePod> pods = {Pod(7, 7)};
  EXPECT_THAT(OrderTrace(pods), ElementsAre(Arrival(7), Departure(7)));
}

TEST(SplitByCount, EndsAStepWithEveryNthArrivalAndTheLast) {
  const std::vector<TraceEvent> events = {Arrival(1), Departure(2), Arrival(3),
                                          Arrival(4), Departure(5)};
  EXPECT_THAT(SplitByCount(events, 2),
              ElementsAre(TraceStep{.begin = 0, .end = 3},
                          TraceStep{.begin = 3, .end = 4},
                          TraceStep{.begin = 4, .end = 5}));
}

TEST(SplitByCount, CountsDeparturesAfterTheLastArrival) {
  const std::vector<TraceEvent> events = {Arrival(1), Departure(2),
                                          Departure(3), Departure(4)};
  EXPECT_THAT(SplitByCount(events, 2),
              ElementsAre(TraceStep{.begin = 0, .end = 1},
                          TraceStep{.begin = 1, .end = 3},
                          TraceStep{.begin = 3, .end = 4}));
}

TEST(SplitByCount, OfNothingIsNothing) {
  EXPECT_THAT(SplitByCount({}, 1), IsEmpty());
}

TEST(SplitByTime, MakesAStepOfEachWindowWithEvents) {
  const std::vector<TraceEvent> events = {Arrival(100), Arrival(109),
                                          Arrival(110), Departure(135)};
  EXPECT_THAT(SplitByTime(events, 10),
              ElementsAre(TraceStep{.begin = 0, .end = 2, .due_s = 0},
                          TraceStep{.begin = 2, .end = 3, .due_s = 1},
                          TraceStep{.begin = 3, .end = 4, .due_s = 3}));
}

TEST(SplitByTime, TakesWindowsShorterThanASecond) {
  const std::vector<TraceEvent> events = {Arrival(0), Arrival(1)};
  EXPECT_THAT(SplitByTime(events, 0.5),
              ElementsAre(TraceStep{.begin = 0, .end = 1, .due_s = 0},
                          TraceStep{.begin = 1, .end = 2, .due_s = 2}));
}

}  // namespace
}  // namespace sluice
