#include "round/search/movable_placements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "round/context/round_context.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MovablePlacementsTest : public ::testing::Test {
 protected:
  MovablePlacementsTest() {
    ClusterBuilder()
        .Machines("m", 3, {.cpu = 1000})
        .Tasks(1, 4, {.cpu = 10, .job = "a"})
        .Tasks(5, 2, {.cpu = 10, .job = "b"})
        .ApplyTo(&cluster_);
    cluster_.eligibility();  // Learns the rules of what waits.
    context_.stats = &stats_;
    context_.delta_begin = 0;  // All that is placed is of this round.
  }
  void Place(uint64_t uid, const std::string& machine) {
    cluster_.mutable_state().Place({uid}, On(machine), 0);
  }
  MachineId On(const std::string& machine) {
    return cluster_.state().FindMachine(machine)->id;
  }
  JobId JobOf(uint64_t uid) { return cluster_.TaskOf(uid).job; }
  // In the order in which FindCrowded() has them.
  std::vector<uint64_t> CrowdedOf(MovablePlacements* placements) {
    std::vector<uint64_t> uids;
    for (const size_t i : placements->FindCrowded()) {
      uids.push_back((*placements)[i].task->id.value);
    }
    return uids;
  }

  TestScheduler cluster_;
  RoundStats stats_;
  RoundContext context_{
      {cluster_.mutable_state(), cluster_.policies(), cluster_.constraints(),
       cluster_.scheduler().eligibility()},
      {},
      0};
  Allowance work_{1000};
};

TEST_F(MovablePlacementsTest, FindsWhoSharesAMachineByJobAndMachine) {
  Place(5, "m0");
  Place(4, "m2");
  Place(1, "m1");
  Place(2, "m0");
  Place(6, "m0");
  Place(3, "m1");
  MovablePlacements placements(&context_, &work_);
  EXPECT_THAT(CrowdedOf(&placements), ElementsAre(1, 3, 5, 6));
}

TEST_F(MovablePlacementsTest, FindsWhoIsBesideOneThatRanBefore) {
  Place(1, "m0");
  context_.delta_begin = cluster_.state().counters().next_delta_sequence;
  Place(2, "m0");
  Place(3, "m1");
  MovablePlacements placements(&context_, &work_);
  EXPECT_THAT(CrowdedOf(&placements), ElementsAre(2));
  EXPECT_EQ(placements.CountSiblings(JobOf(1), On("m0")), 2);
  EXPECT_EQ(placements.CountSiblings(JobOf(1), On("m2")), 0);
}

TEST_F(MovablePlacementsTest, CountsAsItMoves) {
  Place(1, "m0");
  Place(2, "m0");
  Place(5, "m0");
  MovablePlacements placements(&context_, &work_);
  placements.Withdraw(1);
  EXPECT_EQ(placements.CountSiblings(JobOf(1), On("m0")), 1);
  placements.Place(1, On("m2"));
  EXPECT_EQ(placements.CountSiblings(JobOf(1), On("m2")), 1);
  EXPECT_EQ(placements.CountSiblings(JobOf(5), On("m0")), 1);
  EXPECT_THAT(CrowdedOf(&placements), IsEmpty());
}

TEST_F(MovablePlacementsTest, StopsWithoutLooks) {
  for (uint64_t uid = 1; uid <= 4; ++uid) Place(uid, "m0");
  MovablePlacements placements(&context_, &work_);
  work_ = Allowance(2);
  EXPECT_THAT(CrowdedOf(&placements), ElementsAre(1, 2));
  EXPECT_TRUE(work_.IsSpent());
  EXPECT_THAT(CrowdedOf(&placements), IsEmpty());
}

}  // namespace
}  // namespace sluice
