#include "cli/client/sparkline.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

TEST(Sparkline, HasABlockForEachValue) {
  EXPECT_EQ(Sparkline({}), "");
  EXPECT_EQ(Sparkline(std::vector<double>{0, 0.124, 0.126, 0.5, 0.9, 1}),
            "▁▁▂▅██");
}

TEST(Sparkline, ShowsWhatIsBeyondTheScaleAtItsEnds) {
  EXPECT_EQ(Sparkline(std::vector<double>{-1, 7.5, 1e300}), "▁██");
}

}  // namespace
}  // namespace sluice
