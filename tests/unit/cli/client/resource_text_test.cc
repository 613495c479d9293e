#include "cli/client/resource_text.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(FormatExtended, GoesByName) {
  v1::Resources resources;
  EXPECT_EQ(FormatExtended(resources), "-");
  (*resources.mutable_extended())["b"] = 2;
  (*resources.mutable_extended())["a"] = 1;
  EXPECT_EQ(FormatExtended(resources), "a: 1, b: 2");
}

TEST(FormatExtendedUse, ShowsWhatIsUsedOrOffered) {
  v1::Resources used;
  v1::Resources offered;
  EXPECT_EQ(FormatExtendedUse(used, offered), "-");
  (*offered.mutable_extended())["gpu"] = 4;
  (*used.mutable_extended())["gpu"] = 1;
  (*used.mutable_extended())["disk"] = 3;
  (*offered.mutable_extended())["net"] = 9;
  EXPECT_EQ(FormatExtendedUse(used, offered), "disk: 3/0, gpu: 1/4, net: 0/9");
}

}  // namespace
}  // namespace sluice
