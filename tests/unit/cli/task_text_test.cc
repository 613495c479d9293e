#include "cli/task_text.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(TaskStateName, NamesEveryState) {
  for (int state = v1::Task::PENDING; state <= v1::Task::State_MAX; ++state) {
    EXPECT_NE(TaskStateName(static_cast<v1::Task::State>(state)), "?") << state;
  }
  EXPECT_EQ(TaskStateName(v1::Task::QUARANTINED), "quarantined");
}

TEST(TaskStateName, DoesNotGuessAtOthers) {
  EXPECT_EQ(TaskStateName(v1::Task::STATE_UNSPECIFIED), "?");
  EXPECT_EQ(TaskStateName(static_cast<v1::Task::State>(99)), "?");
}

}  // namespace
}  // namespace sluice
