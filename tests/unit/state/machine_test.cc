#include "sluice/state/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using testing::IsNull;
using testing::Pointee;

TEST(Machine, FindsALabelByItsKey) {
  Machine machine;
  EXPECT_THAT(machine.FindLabel("a"), IsNull());
  machine.labels = {{"a", "1"}, {"b", ""}, {"d", "4"}};
  EXPECT_THAT(machine.FindLabel("a"), Pointee(std::string("1")));
  EXPECT_THAT(machine.FindLabel("b"), Pointee(std::string()));
  EXPECT_THAT(machine.FindLabel("d"), Pointee(std::string("4")));
  for (const char* missing : {"", "A", "aa", "c", "e"}) {
    EXPECT_THAT(machine.FindLabel(missing), IsNull()) << missing;
  }
}

TEST(Machine, IsEmptyWithoutTasksAndForeignPods) {
  Machine machine;
  EXPECT_TRUE(machine.IsEmpty());
  machine.tasks.insert({1});
  EXPECT_FALSE(machine.IsEmpty());
}

TEST(Machine, FindsTheProcessingUnitWithTheMostRoom) {
  Machine machine;
  EXPECT_EQ(machine.RoomiestPu(Resources(100, 0, 0, 1)), kNoPu);
  const Resources capacity(1000, 1000, 0, 10);
  machine.pus = {{"a", capacity, Resources(300, 0, 0, 1), 1},
                 {"b", capacity, Resources(200, 0, 0, 1), 1},
                 {"c", capacity, Resources(0, 250, 0, 1), 1}};
  EXPECT_EQ(machine.RoomiestPu(Resources(0, 0, 0, 1)), 1);
  EXPECT_EQ(machine.RoomiestPu(Resources(100, 0, 0, 1)), 2)
      << "by what would be scarcest";
  machine.pus[1] = {"b", capacity, Resources(100, 0, 0, 1), 3};
  machine.pus[2] = {"c", capacity, Resources(100, 0, 0, 1), 2};
  EXPECT_EQ(machine.RoomiestPu(Resources(100, 0, 0, 1)), 2)
      << "of equals the one with fewer tasks";
}

TEST(Machine, KeepsRoomOnlyFromOthersWhereSomebodyHasAny) {
  Machine machine;
  machine.allocatable = Resources(1000, 0, 0, 10);
  machine.used = Resources(300, 0, 0, 1);
  machine.reserved = Resources(200, 0, 0, 1);
  EXPECT_EQ(machine.FreeOf(kCpu), 700);
  machine.nominated = {{1}};
  EXPECT_EQ(machine.FreeOf(kCpu), 500);
  machine.nominated.clear();
  machine.successions = {7};
  EXPECT_EQ(machine.FreeOf(kCpu), 500);
  EXPECT_EQ(machine.Free(), Resources(500, 0, 0, 8));
}

}  // namespace
}  // namespace sluice
