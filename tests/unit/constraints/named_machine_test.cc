#include "constraints/named_machine.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(NamedMachine, HasItsUuidIfItHasNoName) {
  Machine machine;
  machine.uuid = "u-1";
  EXPECT_EQ(NamedMachine(machine), "machine 'u-1'");
  machine.name = "node-7\n";
  EXPECT_EQ(NamedMachine(machine), "machine 'node-7\\n'");
}

}  // namespace
}  // namespace sluice
