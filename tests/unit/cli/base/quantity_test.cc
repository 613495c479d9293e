#include "cli/base/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

constexpr int64_t kGiB = 1000ll << 30;
constexpr int64_t kMiB = 1000ll << 20;
constexpr int64_t kKiB = 1000ll << 10;

TEST(FormatCpu, WritesLessThanACoreInThousandths) {
  EXPECT_EQ(FormatCpu(0), "0");
  EXPECT_EQ(FormatCpu(1), "1m");
  EXPECT_EQ(FormatCpu(999), "999m");
  EXPECT_EQ(FormatCpu(-250), "-250m");
}

TEST(FormatCpu, WritesCoresWithoutZerosAtTheEnd) {
  EXPECT_EQ(FormatCpu(1000), "1");
  EXPECT_EQ(FormatCpu(3800), "3.8");
  EXPECT_EQ(FormatCpu(32'000), "32");
  EXPECT_EQ(FormatCpu(1005), "1.005");
  EXPECT_EQ(FormatCpu(10'250), "10.25");
  EXPECT_EQ(FormatCpu(-3800), "-3.8");
}

TEST(FormatMemory, TakesTheLargestUnitOfWhichThereIsOne) {
  EXPECT_EQ(FormatMemory(0), "0");
  EXPECT_EQ(FormatMemory(100'000), "100 B");
  EXPECT_EQ(FormatMemory(512 * kKiB), "512 KiB");
  EXPECT_EQ(FormatMemory(64 * kMiB), "64 MiB");
  EXPECT_EQ(FormatMemory(kGiB), "1 GiB");
  EXPECT_EQ(FormatMemory(384 * kGiB), "384 GiB");
  EXPECT_EQ(FormatMemory(kGiB + kGiB / 2), "1.5 GiB");
  EXPECT_EQ(FormatMemory(2048 * kGiB), "2 TiB");
  EXPECT_EQ(FormatMemory(-64 * kMiB), "-64 MiB");
}

TEST(FormatMemory, NeverShows1024OfAUnit) {
  EXPECT_EQ(FormatMemory(kGiB - kKiB), "1 GiB");
  EXPECT_EQ(FormatMemory(1023 * kMiB), "1023 MiB");
}

TEST(FormatMemory, TakesTheWidestNumbers) {
  EXPECT_EQ(FormatMemory(INT64_MAX), "8388.6 TiB");
}

TEST(FormatMicroseconds, TakesTheLargestUnitOfWhichThereIsOne) {
  EXPECT_EQ(FormatMicroseconds(0), "0 us");
  EXPECT_EQ(FormatMicroseconds(850), "850 us");
  EXPECT_EQ(FormatMicroseconds(3210), "3.2 ms");
  EXPECT_EQ(FormatMicroseconds(999'990), "1 s");
  EXPECT_EQ(FormatMicroseconds(1'540'000), "1.5 s");
}

TEST(FormatAge, ShowsTwoUnitsAtMost) {
  EXPECT_EQ(FormatAge(0), "0 s");
  EXPECT_EQ(FormatAge(59'999), "59 s");
  EXPECT_EQ(FormatAge(12 * 60'000), "12 min");
  EXPECT_EQ(FormatAge((3 * 60 + 12) * 60'000), "3 h 12 min");
  EXPECT_EQ(FormatAge((2 * 24 + 5) * 3'600'000ll), "2 d 5 h");
}

TEST(FormatShare, IsAPercentage) {
  EXPECT_EQ(FormatShare(1, 4), "25 %");
  EXPECT_EQ(FormatShare(264, 1000), "26.4 %");
  EXPECT_EQ(FormatShare(3, 2), "150 %");
  EXPECT_EQ(FormatShare(1, 0), "-");
}

TEST(FormatDecimal, RoundsToOneDecimal) {
  EXPECT_EQ(FormatDecimal(12345), "12345");
  EXPECT_EQ(FormatDecimal(0.25), "0.3");
  EXPECT_EQ(FormatDecimal(-0.3), "-0.3");
  EXPECT_EQ(FormatDecimal(-0.01), "0");
  EXPECT_EQ(FormatDecimal(9.96), "10");
}

}  // namespace
}  // namespace sluice
