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

}  // namespace
}  // namespace sluice
