#include "core/siblings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SiblingsTest : public testing::Test {
 protected:
  SiblingsTest() {
    ClusterBuilder()
        .Machines("m", 3, {.cpu = 1000})
        .Tasks(1, 4, {.cpu = 10, .job = "a"})
        .Tasks(5, 2, {.cpu = 10, .job = "b"})
        .ApplyTo(&cluster_);
  }
  Placement Place(uint64_t uid, const std::string& machine) {
    cluster_.mutable_state().Place({uid}, On(machine), 0);
    return {&cluster_.TaskOf(uid), On(machine)};
  }
  MachineId On(const std::string& machine) {
    return cluster_.state().FindMachine(machine)->id;
  }
  JobId JobOf(uint64_t uid) { return cluster_.TaskOf(uid).job; }

  TestScheduler cluster_;
  int64_t looks_left_ = 1000;
  Siblings siblings_{cluster_.state(), &looks_left_};
};

TEST_F(SiblingsTest, FindsWhoSharesAMachineByJobAndMachine) {
  const std::vector<Placement> placements = {Place(5, "m0"), Place(1, "m1"),
                                             Place(2, "m0"), Place(3, "m1"),
                                             Place(6, "m1"), Place(4, "m2")};
  EXPECT_THAT(siblings_.FindCrowded(placements), ElementsAre(1, 3));
}

// One of a job is placed beside one that ran before.
TEST_F(SiblingsTest, CountsThoseThatAreNotAmongThePlacements) {
  Place(1, "m0");
  const std::vector<Placement> placements = {Place(2, "m0"), Place(3, "m1")};
  EXPECT_THAT(siblings_.FindCrowded(placements), ElementsAre(0));
  EXPECT_EQ(siblings_.Count(JobOf(1), On("m0")), 2);
  EXPECT_EQ(siblings_.Count(JobOf(1), On("m2")), 0);
}

TEST_F(SiblingsTest, FollowsTasksOfJobsThatAreAllPlacedAndOfOthers) {
  Place(1, "m0");
  const std::vector<Placement> placements = {Place(2, "m0"), Place(5, "m0"),
                                             Place(6, "m0")};
  siblings_.FindCrowded(placements);
  for (const uint64_t uid : {2, 5}) {
    cluster_.mutable_state().Withdraw({uid});
    siblings_.Note(JobOf(uid), On("m0"), -1);
    Place(uid, "m2");
    siblings_.Note(JobOf(uid), On("m2"), 1);
    EXPECT_EQ(siblings_.Count(JobOf(uid), On("m0")), 1);
    EXPECT_EQ(siblings_.Count(JobOf(uid), On("m1")), 0);
    EXPECT_EQ(siblings_.Count(JobOf(uid), On("m2")), 1);
  }
}

TEST_F(SiblingsTest, StopsWithoutLooks) {
  Place(1, "m0");
  const std::vector<Placement> placements = {Place(2, "m0"), Place(3, "m0")};
  looks_left_ = 0;
  EXPECT_THAT(siblings_.FindCrowded(placements), IsEmpty());
  looks_left_ = 1;  // The first takes more.
  EXPECT_THAT(siblings_.FindCrowded(placements), ElementsAre(0));
  EXPECT_LE(looks_left_, -3);  // Three tasks run there.
}

}  // namespace
}  // namespace sluice
