#include "round/packing/former_placements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Three machines of ten in one group and one in another, on which the class 0
// may not stand.  On those of the first two of class 1 run.
RoundPacking Packing() {
  RoundPacking packing;
  packing.problem.classes = {{.request = {3}, .waiting = {{9, 1}}},
                             {.request = {4}, .waiting = {{6, 1}}}};
  packing.problem.classes[1].runs = true;
  packing.problem.groups = {{{10}, 3, 0}, {{10}, 1, 1}};
  packing.problem.costs = {{0, 0}, {kNotAllowed, 0}};
  packing.problem.staying = {{{1, 2}}, {}};
  packing.machines = {{{1}, {2}, {3}}, {{4}}};
  return packing;
}

TEST(FormerPlacements, PutMachinesTogetherThatHoldTheSame) {
  const RoundPacking packing = Packing();
  FormerPlacements former(packing);
  for (const uint32_t machine : {1u, 1u, 2u, 2u, 3u}) {
    former.Add({machine}, 0);
  }
  former.Add({7}, 0);
  EXPECT_THAT(former.Patterns(), UnorderedElementsAre(Pattern{0, 2, {{0, 2}}},
                                                      Pattern{0, 1, {{0, 1}}}));
}

TEST(FormerPlacements, HoldWhatRunsWhereItDoes) {
  const RoundPacking packing = Packing();
  FormerPlacements former(packing);
  EXPECT_THAT(former.Patterns(), IsEmpty());
  former.AddWhatRuns();
  EXPECT_THAT(former.Patterns(), ElementsAre(Pattern{0, 3, {{1, 2}}}));
}

TEST(FormerPlacements, LeaveOutWhomTheyAreToldTo) {
  const RoundPacking packing = Packing();
  FormerPlacements former(packing);
  former.AddWhatRuns();
  for (const uint32_t machine : {1u, 2u, 2u, 4u}) former.Remove({machine}, 1);
  EXPECT_THAT(former.Patterns(), UnorderedElementsAre(Pattern{0, 1, {{1, 1}}},
                                                      Pattern{0, 1, {{1, 2}}}));
}

TEST(FormerPlacements, AddNobodyWithoutRoomOrWhereHeMayNotBe) {
  const RoundPacking packing = Packing();
  FormerPlacements former(packing);
  former.AddWhatRuns();
  former.AddIfThereIsRoom({1}, 0);  // Two are left of ten.
  former.AddIfThereIsRoom({4}, 0);
  EXPECT_THAT(former.Patterns(), ElementsAre(Pattern{0, 3, {{1, 2}}}));
  FormerPlacements empty(packing);
  for (int i = 0; i < 5; ++i) empty.AddIfThereIsRoom({1}, 0);
  EXPECT_THAT(empty.Patterns(), ElementsAre(Pattern{0, 1, {{0, 3}}}));
}

}  // namespace
}  // namespace sluice
