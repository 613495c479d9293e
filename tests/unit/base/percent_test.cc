#include "base/percent.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(AtMostPercent, RoundsUp) {
  EXPECT_EQ(AtMostPercent(0), "at most 0.0 %");
  EXPECT_EQ(AtMostPercent(1e-9), "at most 0.1 %");
  EXPECT_EQ(AtMostPercent(0.0123), "at most 1.3 %");
  EXPECT_EQ(AtMostPercent(0.125), "at most 12.5 %");
  EXPECT_EQ(AtMostPercent(1), "at most 100.0 %");
}

}  // namespace
}  // namespace sluice
