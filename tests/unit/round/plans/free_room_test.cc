#include "round/plans/free_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "util/cluster_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;

// Class 0 is more urgent than class 1.  On "busy" a task runs that is to leave,
// and "empty" has room at once.
class FreeRoomTest : public testing::Test {
 protected:
  FreeRoomTest() {
    for (const char* uuid : {"busy", "empty"}) {
      cluster_.Apply(Added(uuid, {.cpu = 1000}));
    }
    Place(1, {.cpu = 1000}, "busy");
    for (const uint32_t priority : {9, 5}) {
      ClassKey key = cluster_.TaskOf(1).class_key;
      key.priority = priority;
      packing_.classes.push_back(key);
      packing_.problem.classes.push_back(
          {.request = {1000}, .waiting = {{1, 1}}});
    }
    packing_.problem.costs = {{0, 0}};
    packing_.problem.groups = {{{1000}, 2, 0}};
    packing_.machines = {{IdOf("busy"), IdOf("empty")}};
  }
  MachineId IdOf(const char* uuid) {
    return cluster_.state().FindMachine(uuid)->id;
  }
  void Place(uint64_t uid, const TaskOptions& options, const char* uuid) {
    cluster_.Apply(Submitted(uid, options));
    cluster_.mutable_state().Place({uid}, IdOf(uuid), 0);
  }
  std::vector<Pattern> Exchanged(std::vector<Pattern> solution) {
    GiveFreeRoomToUrgent(
        packing_, cluster_.state(), cluster_.constraints(),
        [](const Machine& machine) { return machine.Free(); }, &work_,
        &solution);
    return solution;
  }

  TestScheduler cluster_;
  RoundPacking packing_;
  Allowance work_{100};
};

const Pattern kUrgent = {0, 1, {{0, 1}}};
const Pattern kLessUrgent = {0, 1, {{1, 1}}};

TEST_F(FreeRoomTest, GoesToTheMoreUrgentTask) {
  EXPECT_THAT(Exchanged({kUrgent, kLessUrgent}),
              ElementsAre(kLessUrgent, kUrgent));
  EXPECT_THAT(Exchanged({kLessUrgent, kUrgent}),
              ElementsAre(kLessUrgent, kUrgent));
}

TEST_F(FreeRoomTest, GoesToOneThatFitsAtOnceWhereTheOtherWouldWaitAnyway) {
  Place(2, {.cpu = 500}, "empty");
  packing_.classes[0].request = cluster_.TaskOf(2).class_key.request;
  packing_.problem.classes[0].request = {500};
  EXPECT_THAT(Exchanged({kUrgent, kLessUrgent}),
              ElementsAre(kLessUrgent, kUrgent));
}

TEST_F(FreeRoomTest, GoesToWhoeverWouldWaitWhereNobodyHasIt) {
  EXPECT_THAT(Exchanged({kLessUrgent}),
              ElementsAre(Pattern{0, 1, {}}, kLessUrgent));
}

TEST_F(FreeRoomTest, StaysWhereTheExchangeCostsMore) {
  packing_.problem.costs.push_back({1, 0});
  packing_.problem.groups = {{{1000}, 1, 0}, {{1000}, 1, 1}};
  packing_.machines = {{IdOf("busy")}, {IdOf("empty")}};
  const std::vector<Pattern> solution = {kUrgent, {1, 1, {{1, 1}}}};
  EXPECT_EQ(Exchanged(solution), solution);
  packing_.problem.costs[0][1] = kNotAllowed;
  packing_.problem.costs[1][0] = 0;
  EXPECT_THAT(Exchanged(solution),
              ElementsAre(Pattern{0, 1, {}}, Pattern{1, 1, {{0, 1}}}))
      << "the other may not go there and waits";
}

// Who leaves does so anyway.
TEST_F(FreeRoomTest, GoesToTheMoreUrgentTaskThoughTheOtherDoesNotFitInstead) {
  packing_.problem.classes[1].request = {1100};
  EXPECT_THAT(Exchanged({kUrgent, kLessUrgent}),
              ElementsAre(Pattern{0, 1, {}}, kUrgent));
  packing_.classes[1].priority = 9;
  const std::vector<Pattern> solution = {kUrgent, kLessUrgent};
  EXPECT_EQ(Exchanged(solution), solution) << "an equal does not wait for it";
}

TEST_F(FreeRoomTest, StaysWhereOneIsStoppedAndTheOtherWouldNotFitInstead) {
  PackingProblem& problem = packing_.problem;
  problem.classes[1].request = {1100};
  problem.classes.push_back(
      {.request = {1000}, .waiting = {{1, 1}}, .runs = true});
  problem.costs = {{0, 0, 0}, {0, 0, 0}};
  problem.groups = {{{1000}, 1, 0}, {{1000}, 1, 1}};
  problem.staying = {{{2, 1}}, {}};
  packing_.machines = {{IdOf("busy")}, {IdOf("empty")}};
  packing_.running_classes = {0};
  const std::vector<Pattern> solution = {kUrgent, {1, 1, {{1, 1}}}};
  EXPECT_EQ(Exchanged(solution), solution);
}

TEST_F(FreeRoomTest, StaysWithTasksThatHaveRulesAboutOthersOrPorts) {
  const PlacementRules rules = {.host_ports = {TcpPort(80)}};
  packing_.classes[0].rules = &rules;
  const std::vector<Pattern> solution = {kUrgent, kLessUrgent};
  EXPECT_EQ(Exchanged(solution), solution);
}

}  // namespace
}  // namespace sluice
