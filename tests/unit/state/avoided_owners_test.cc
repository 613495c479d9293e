#include "state/avoided_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Owner kA = {"ReplicaSet", "a"};
const Owner kB = {"ReplicaSet", "b"};

class AvoidedOwnersTest : public testing::Test {
 protected:
  AvoidedOwnersTest() {
    for (uint64_t i = 0; i < 3; ++i) tasks_[i].id = {i};
    owners_.SetOwner(&tasks_[0], kA);
    owners_.SetOwner(&tasks_[1], kB);
    owners_.SetOwner(&tasks_[2], kA);
  }

  AvoidedOwners owners_;
  std::vector<Task> tasks_ = std::vector<Task>(3);
};

TEST_F(AvoidedOwnersTest, ReturnWhoseOwnerTheFirstMachineAvoids) {
  EXPECT_THAT(owners_.Replace({}, {kA}), ElementsAre(TaskId{0}, TaskId{2}));
  EXPECT_TRUE(owners_.Contains(kA));
  EXPECT_FALSE(owners_.Contains(kB));
  EXPECT_THAT(owners_.Replace({}, {kA, kB}), ElementsAre(TaskId{1}));
  EXPECT_EQ(owners_.returned_count(), 3);
}

TEST_F(AvoidedOwnersTest, ReturnWhoseOwnerTheLastMachineCeasesToAvoid) {
  owners_.Replace({}, {kA});
  owners_.Replace({}, {kA});
  EXPECT_THAT(owners_.Replace({kA}, {}), IsEmpty());
  EXPECT_THAT(owners_.Replace({kA}, {kA}), IsEmpty());
  EXPECT_THAT(owners_.Replace({kA}, {kB}),
              ElementsAre(TaskId{1}, TaskId{0}, TaskId{2}));
  EXPECT_FALSE(owners_.Contains(kA));
}

TEST_F(AvoidedOwnersTest, FollowTheTask) {
  owners_.SetOwner(&tasks_[0], kB);
  owners_.SetOwner(&tasks_[2], Owner());
  EXPECT_EQ(tasks_[0].owner, kB);
  EXPECT_THAT(owners_.Replace({}, {kA}), IsEmpty());
  EXPECT_THAT(owners_.Replace({}, {kB}), ElementsAre(TaskId{0}, TaskId{1}));
  EXPECT_FALSE(owners_.Contains(Owner()));
}

}  // namespace
}  // namespace sluice
