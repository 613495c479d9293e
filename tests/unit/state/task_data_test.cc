#include "sluice/state/task_data.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(TaskData, SaysHowMuchLiesSomewhere) {
  const TaskData::Places places = {{"a", 1}, {"c", 3}};
  EXPECT_EQ(TaskData::AmountAt(places, "a"), 1);
  EXPECT_EQ(TaskData::AmountAt(places, "b"), 0);
  EXPECT_EQ(TaskData::AmountAt(places, "c"), 3);
  EXPECT_EQ(TaskData::AmountAt(places, "d"), 0);
  EXPECT_EQ(TaskData::AmountAt({}, ""), 0);
}

}  // namespace
}  // namespace sluice
