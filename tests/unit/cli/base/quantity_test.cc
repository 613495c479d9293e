#include "cli/base/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "util/status_matchers.h"

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

TEST(ParseQuantity, ReadsThousandthsAsKubernetesWritesAmounts) {
  EXPECT_EQ(*ParseQuantity("2"), 2000);
  EXPECT_EQ(*ParseQuantity("0"), 0);
  EXPECT_EQ(*ParseQuantity("00"), 0);
  EXPECT_EQ(*ParseQuantity("0.5"), 500);
  EXPECT_EQ(*ParseQuantity(".5"), 500);
  EXPECT_EQ(*ParseQuantity("2."), 2000);
  EXPECT_EQ(*ParseQuantity("500m"), 500);
  EXPECT_EQ(*ParseQuantity("1500000u"), 1500);
  EXPECT_EQ(*ParseQuantity("1k"), 1'000'000);
  EXPECT_EQ(*ParseQuantity("1Ki"), kKiB);
  EXPECT_EQ(*ParseQuantity("1.5Gi"), kGiB + kGiB / 2);
  EXPECT_EQ(*ParseQuantity("1.000000000000000000000Mi"), kMiB);
  EXPECT_EQ(*ParseQuantity("1e3"), 1'000'000);
  EXPECT_EQ(*ParseQuantity("1E+3"), 1'000'000);
  EXPECT_EQ(*ParseQuantity("25e-1"), 2500);
  EXPECT_EQ(*ParseQuantity("0E"), 0);
}

TEST(ParseQuantity, RoundsUp) {
  EXPECT_EQ(*ParseQuantity("1n"), 1);
  EXPECT_EQ(*ParseQuantity("0.0001"), 1);
  EXPECT_EQ(*ParseQuantity("1.0001m"), 2);
  EXPECT_EQ(*ParseQuantity("1e-1000"), 1);
  EXPECT_EQ(*ParseQuantity("0.0001Ki"), 103);
}

TEST(ParseQuantity, RefusesWhatIsNone) {
  for (const std::string bad :
       {"", "m", ".", "1.2.3", "-1", "+1", " 1", "1 Gi", "1gi", "1mi", "1K",
        "1e", "1e+", "1e+-3", "1e1001", "0x10", "nan", "one"}) {
    EXPECT_THAT(
        ParseQuantity(bad),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 "'" + bad + "' is not a quantity such as 2, 500m or 1Gi"));
  }
}

TEST(ParseQuantity, RefusesWhatNoMachineHas) {
  EXPECT_EQ(*ParseQuantity("1152921504606846976m"), int64_t{1} << 60);
  for (const std::string bad :
       {"1152921504606847", "2Pi", "99999999999999999Ei", "1e1000", "1E"}) {
    EXPECT_THAT(ParseQuantity(bad),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "'" + bad + "' is more than any machine has"));
  }
  EXPECT_THAT(ParseQuantity("100000000000000000001n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "'100000000000000000001n' has more than 20 digits"));
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
