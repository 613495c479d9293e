#include "sluice/state/resources.h"

#include <gtest/gtest.h>

#include <limits>

namespace sluice {
namespace {

constexpr ResourceIndex kGpu = kBuiltinResourceCount;

Resources WithGpus(Resources resources, int64_t gpus) {
  resources.Set(kGpu, gpus);
  return resources;
}

TEST(Resources, AreNothingWhereNothingIsStated) {
  EXPECT_EQ(Resources()[kCpu], 0);
  EXPECT_EQ(Resources()[1000], 0);
  EXPECT_EQ(Resources().size(), kBuiltinResourceCount);
}

TEST(Resources, KeepWhatIsSet) {
  Resources resources(1, 2, 3, 4);
  resources.Set(kGpu + 2, 7);
  EXPECT_EQ(resources[kCpu], 1);
  EXPECT_EQ(resources[kMemory], 2);
  EXPECT_EQ(resources[kEphemeralStorage], 3);
  EXPECT_EQ(resources[kPods], 4);
  EXPECT_EQ(resources[kGpu], 0);
  EXPECT_EQ(resources[kGpu + 2], 7);
}

TEST(Resources, DoNotGrowForAZero) {
  Resources resources;
  resources.Set(kGpu + 100, 0);
  EXPECT_EQ(resources.size(), kBuiltinResourceCount);
}

TEST(Resources, AddAndSubtractVectorsOfDifferentLengths) {
  const Resources plain(1, 2, 3, 4);
  const Resources gpus = WithGpus(Resources(), 5);
  EXPECT_EQ(plain + gpus, WithGpus(plain, 5));
  EXPECT_EQ(gpus + plain, WithGpus(plain, 5));
  EXPECT_EQ(plain - gpus, WithGpus(plain, -5));
  EXPECT_EQ((plain + gpus) - gpus, plain);
}

TEST(Resources, SaturateInsteadOfOverflowing) {
  const Resources largest(kAmountMax, 0, 0, 0);
  Resources sum;
  for (int i = 0; i < 100; ++i) sum += largest;
  EXPECT_EQ(sum[kCpu], kAmountSaturated);
  for (int i = 0; i < 100; ++i) sum -= largest;
  for (int i = 0; i < 100; ++i) sum -= largest;
  EXPECT_EQ(sum[kCpu], -kAmountSaturated);
}

TEST(Resources, KnowWhenASumWasCutOff) {
  EXPECT_FALSE(Resources().IsSaturated());
  EXPECT_FALSE(Resources(kAmountSaturated - 1, 0, 0, 0).IsSaturated());
  EXPECT_TRUE(Resources(0, kAmountSaturated, 0, 0).IsSaturated());
  EXPECT_TRUE(WithGpus(Resources(), -kAmountSaturated).IsSaturated());
}

TEST(Resources, ScaleByCountsThatWouldOverflow) {
  Resources sum;
  sum.AddScaled(Resources(3, 0, 0, 1), 7);
  EXPECT_EQ(sum, Resources(21, 0, 0, 7));
  sum.AddScaled(Resources(kAmountMax, 0, 0, 0),
                std::numeric_limits<int64_t>::max());
  EXPECT_EQ(sum, Resources(kAmountSaturated, 0, 0, 7));
  sum.AddScaled(Resources(kAmountMax, 0, 0, 0),
                std::numeric_limits<int64_t>::min());
  EXPECT_EQ(sum[kCpu], -kAmountSaturated);
}

TEST(Resources, FitExactly) {
  const Resources request(500, 1000, 0, 1);
  EXPECT_TRUE(request.FitsIn(request));
  EXPECT_FALSE(request.FitsIn(Resources(499, 1000, 0, 1)));
  EXPECT_FALSE(request.FitsIn(Resources(500, 999, 0, 1)));
  EXPECT_FALSE(request.FitsIn(Resources(500, 1000, 0, 0)));
}

TEST(Resources, FitWithoutLookingAtWhatIsNotAskedFor) {
  const Resources request(500, 0, 0, 1);
  EXPECT_TRUE(request.FitsIn(Resources(500, -7, -1, 1)));
  EXPECT_TRUE(WithGpus(request, 0).FitsIn(Resources(500, 0, 0, 1)));
  EXPECT_TRUE(Resources().FitsIn(Resources(-1, -1, -1, -1)));
}

TEST(Resources, DoNotFitWhereAMachineStatesNoneOfThem) {
  EXPECT_FALSE(WithGpus(Resources(), 1).FitsIn(Resources(9, 9, 9, 9)));
}

TEST(Resources, CountHowOftenTheyFit) {
  const Resources request(300, 1000, 0, 1);
  EXPECT_EQ(request.TimesIn(Resources(1000, 9000, 0, 9), 100), 3);
  EXPECT_EQ(request.TimesIn(Resources(900, 9000, 0, 2), 100), 2);
  EXPECT_EQ(request.TimesIn(Resources(900, 9000, 0, 9), 1), 1);
  EXPECT_EQ(request.TimesIn(Resources(299, 9000, 0, 9), 100), 0);
  EXPECT_EQ(request.TimesIn(Resources(-300, 9000, 0, 9), 100), 0);
  EXPECT_EQ(request.TimesIn(Resources(900, 9000, 0, 9), 0), 0);
  EXPECT_EQ(Resources().TimesIn(Resources(-1, 0, 0, 0), 42), 42);
}

TEST(Resources, CountHowOftenTheyFitAtTheLargestAmounts) {
  const Resources one(1, 0, 0, 0);
  const Resources all(kAmountMax, 0, 0, 0);
  EXPECT_EQ(all.TimesIn(all, std::numeric_limits<int64_t>::max()), 1);
  EXPECT_EQ(one.TimesIn(all, std::numeric_limits<int64_t>::max()), kAmountMax);
  EXPECT_EQ(all.TimesIn(Resources(kAmountSaturated, 0, 0, 0), 100), 4);
  EXPECT_EQ(all.TimesIn(Resources(kAmountMax - 1, 0, 0, 0), 100), 0);
}

// TimesIn and FitsIn answer the same question.
TEST(Resources, CountOnceOrMoreExactlyWhereTheyFit) {
  for (int64_t cpu = -1; cpu <= 2; ++cpu) {
    for (int64_t pods = -1; pods <= 2; ++pods) {
      const Resources free(cpu, 0, 0, pods);
      for (const Resources& request :
           {Resources(), Resources(1, 0, 0, 0), Resources(1, 0, 0, 1),
            Resources(2, 0, 0, 1)}) {
        EXPECT_EQ(request.TimesIn(free, 5) > 0, request.FitsIn(free))
            << cpu << " cpu, " << pods << " pods";
      }
    }
  }
}

TEST(Resources, TakeTheLargerOfEach) {
  Resources largest(1, 9, 0, 1);
  largest.MaxWith(WithGpus(Resources(5, 2, 0, 1), 3));
  EXPECT_EQ(largest, WithGpus(Resources(5, 9, 0, 1), 3));
  largest.MaxWith(Resources());
  EXPECT_EQ(largest, WithGpus(Resources(5, 9, 0, 1), 3));
}

TEST(Resources, AreEqualWhateverZerosAreStated) {
  Resources stated = WithGpus(Resources(), 1);
  stated.Set(kGpu, 0);
  EXPECT_EQ(stated.size(), kGpu + 1);
  EXPECT_EQ(stated, Resources());
  EXPECT_EQ(Resources(0, 0, 0, 0), Resources());
  EXPECT_EQ(stated <=> Resources(0, 0, 0, 0), std::strong_ordering::equal);
}

TEST(Resources, AreOrderedByTheFirstThatDiffers) {
  EXPECT_LT(Resources(1, 9, 9, 9), Resources(2, 0, 0, 0));
  EXPECT_LT(Resources(1, 0, 0, 0), WithGpus(Resources(1, 0, 0, 0), 1));
  EXPECT_LT(WithGpus(Resources(1, 0, 0, 0), -1), Resources(1, 0, 0, 0));
}

}  // namespace
}  // namespace sluice
