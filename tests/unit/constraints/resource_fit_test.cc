// Resource fit: the table of Kubernetes' NodeResourcesFit, exact fit allowed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "constraints/constraint_set.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kMebibyte = (int64_t{1} << 20) * 1000;  // In millibytes.
constexpr ResourceIndex kGpu = kBuiltinResourceCount;

const std::string& NameOf(ResourceIndex index) {
  static const std::array<std::string, 5> names = {
      "cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu"};
  return names.at(index);
}

Resources WithGpus(Resources resources, int64_t gpus) {
  resources.Set(kGpu, gpus);
  return resources;
}

struct Row {
  const char* name;
  Resources request;
  Resources allocatable;
  Resources used;
  bool fits;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.name;
}

class ResourceFitTable : public testing::TestWithParam<Row> {};

TEST_P(ResourceFitTable, AllowsAndExplainsAlike) {
  const Row& row = GetParam();
  Machine machine;
  machine.allocatable = row.allocatable;
  machine.used = row.used;
  const ConstraintSet constraints;
  const ClassKey key{.request = row.request};
  EXPECT_EQ(constraints.Allows(key, machine), row.fits);
  std::vector<Reason> reasons;
  constraints.Explain(key, machine, NameOf, &reasons);
  EXPECT_EQ(reasons.empty(), row.fits);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ResourceFitTable,
    testing::Values(
        Row{"ExactFit", {1000, 64, 8, 1}, {1000, 64, 8, 1}, {}, true},
        Row{"ExactFitOfTheRest",
            {2000, 0, 0, 1},
            {4000, 0, 0, 2},
            {2000, 0, 0, 1},
            true},
        Row{"OneMillicoreTooMuch",
            {2001, 0, 0, 1},
            {4000, 0, 0, 2},
            {2000, 0, 0, 1},
            false},
        Row{"OneMillibyteTooMuch", {0, 65, 0, 1}, {9, 64, 9, 9}, {}, false},
        Row{"NoRequestButThePod", {0, 0, 0, 1}, {0, 0, 0, 1}, {}, true},
        Row{"NoPodLeft", {0, 0, 0, 1}, {9, 9, 9, 3}, {0, 0, 0, 3}, false},
        Row{"NoPodsStated", {0, 0, 0, 1}, {9, 9, 9, 0}, {}, false},
        Row{"EphemeralStorageOfNoneAndNoneAsked",
            {1, 1, 0, 1},
            {9, 9, 0, 9},
            {},
            true},
        Row{"EphemeralStorageOfNone", {1, 1, 1, 1}, {9, 9, 0, 9}, {}, false},
        Row{"ExtendedResource", WithGpus({1, 1, 0, 1}, 2),
            WithGpus({9, 9, 0, 9}, 4), WithGpus({}, 2), true},
        Row{"ExtendedResourceUsedUp", WithGpus({1, 1, 0, 1}, 2),
            WithGpus({9, 9, 0, 9}, 4), WithGpus({}, 3), false},
        Row{"ExtendedResourceTheMachineDoesNotState",
            WithGpus({1, 1, 0, 1}, 1),
            {9, 9, 0, 9},
            {},
            false},
        Row{"ExtendedResourceNobodyAsksFor",
            {1, 1, 0, 1},
            WithGpus({9, 9, 0, 9}, 4),
            WithGpus({}, 4),
            true},
        Row{"OvercommittedWhereAsked",
            {1, 0, 0, 1},
            {1000, 0, 0, 9},
            {1500, 0, 0, 1},
            false},
        Row{"OvercommittedElsewhere",
            {0, 10, 0, 1},
            {1000, 64, 0, 9},
            {1500, 0, 0, 1},
            true},
        Row{"LargestAmounts",
            {kAmountMax, kAmountMax, 0, 1},
            {kAmountMax, kAmountMax, 0, 1},
            {},
            true},
        Row{"LargestAmountsOnASaturatedMachine",
            {kAmountMax, 0, 0, 1},
            {kAmountMax, 0, 0, 1},
            {kAmountSaturated, 0, 0, 0},
            false}),
    testing::PrintToStringParamName());

class ResourceFitExplain : public testing::Test {
 protected:
  std::vector<Reason> Explain(const Resources& request) const {
    std::vector<Reason> reasons;
    ConstraintSet().Explain({.request = request}, machine_, NameOf, &reasons);
    return reasons;
  }
  std::vector<std::string> Lacks(const Resources& request) const {
    std::vector<std::string> lacks;
    for (const Reason& reason : Explain(request)) lacks.push_back(reason.lacks);
    return lacks;
  }
  Machine machine_;
};

TEST_F(ResourceFitExplain, GivesCodeAndTextForEachResource) {
  std::vector<std::string> codes;
  std::vector<std::string> texts;
  for (const Reason& reason : Explain(WithGpus({1, 1, 1, 1}, 1))) {
    codes.push_back(reason.code);
    texts.push_back(reason.text);
  }
  EXPECT_THAT(codes,
              ElementsAre("insufficient_cpu", "insufficient_memory",
                          "insufficient_ephemeral-storage", "insufficient_pods",
                          "insufficient_nvidia.com/gpu"));
  EXPECT_THAT(texts,
              ElementsAre("insufficient cpu", "insufficient memory",
                          "insufficient ephemeral-storage", "too many pods",
                          "insufficient nvidia.com/gpu"));
}

TEST_F(ResourceFitExplain, NamesOnlyWhatIsLacking) {
  machine_.allocatable = Resources(1000, 64 * kMebibyte, 0, 10);
  EXPECT_THAT(Lacks({1500, 64 * kMebibyte, 0, 1}),
              ElementsAre("lacks 500m cpu"));
  EXPECT_THAT(Lacks({1000, 64 * kMebibyte, 0, 1}), IsEmpty());
}

TEST_F(ResourceFitExplain, RoundsBytesUpSoThatTheyAreNeverTooFew) {
  EXPECT_THAT(Lacks({0, 1, 0, 0}), ElementsAre("lacks 1 bytes memory"));
  EXPECT_THAT(Lacks({0, kMebibyte - 1000, 0, 0}),
              ElementsAre("lacks 1048575 bytes memory"));
  EXPECT_THAT(Lacks({0, kMebibyte, 0, 0}), ElementsAre("lacks 1 MiB memory"));
  EXPECT_THAT(Lacks({0, 0, kMebibyte + 1, 0}),
              ElementsAre("lacks 2 MiB ephemeral-storage"));
}

TEST_F(ResourceFitExplain, CountsPodsAndDevices) {
  EXPECT_THAT(Lacks(WithGpus({0, 0, 0, 1}, 3)),
              ElementsAre("lacks 1 pods", "lacks 3 nvidia.com/gpu"));
}

TEST_F(ResourceFitExplain, SaysThatRoomIsKept) {
  machine_.allocatable = Resources(1000, 0, 0, 10);
  machine_.nominated.insert(TaskId{1});
  machine_.reserved = Resources(600, 0, 0, 1);
  EXPECT_THAT(Lacks({400, 0, 0, 1}), IsEmpty());
  EXPECT_THAT(Lacks({500, 0, 0, 1}),
              ElementsAre("keeps the room for others to come"));
  EXPECT_THAT(Lacks({1100, 0, 0, 1}), ElementsAre("lacks 700m cpu"));
}

TEST_F(ResourceFitExplain, CountsWhatAnOvercommittedMachineOwesAlready) {
  machine_.allocatable = Resources(1000, 0, 0, 10);
  machine_.used = Resources(5000, 0, 0, 1);
  EXPECT_THAT(Lacks({200, 0, 0, 1}), ElementsAre("lacks 4200m cpu"));
}

}  // namespace
}  // namespace sluice
