#include "cli/client/task_text.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(TaskStateName, NamesEveryState) {
  for (int state = v1::Task::PENDING; state <= v1::Task::State_MAX; ++state) {
    EXPECT_NE(TaskStateName(static_cast<v1::Task::State>(state)), "?") << state;
  }
  EXPECT_EQ(TaskStateName(v1::Task::QUARANTINED), "quarantined");
}

TEST(TaskStateNames, AreReadBack) {
  ASSERT_EQ(TaskStateNames().size(), size_t{v1::Task::State_MAX});
  for (const std::string_view name : TaskStateNames()) {
    EXPECT_EQ(TaskStateName(TaskStateNamed(name)), name);
  }
  EXPECT_EQ(TaskStateNamed("lost"), v1::Task::STATE_UNSPECIFIED);
}

TEST(TaskStateName, DoesNotGuessAtOthers) {
  EXPECT_EQ(TaskStateName(v1::Task::STATE_UNSPECIFIED), "?");
  EXPECT_EQ(TaskStateName(static_cast<v1::Task::State>(99)), "?");
}

}  // namespace
}  // namespace sluice
