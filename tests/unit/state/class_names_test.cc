#include "state/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

class ClassNamesTest : public testing::Test {
 protected:
  uint64_t NameOf(const ClassKey& key) {
    return names_.NameOf(key, resources_);
  }
  ClassKey Asking(int64_t cpu) const {
    return {.request = Resources(cpu, 0, 0, 1)};
  }

  ResourceNames resources_;
  ClassNames names_{/*recent_max=*/4};
};

TEST_F(ClassNamesTest, AreDealtInTheOrderOfTheFirstQuestions) {
  EXPECT_EQ(NameOf(Asking(7)), 1u);
  EXPECT_EQ(NameOf(Asking(3)), 2u);
  EXPECT_EQ(NameOf(Asking(7)), 1u);
}

TEST_F(ClassNamesTest, DifferWhereClassesDo) {
  const SelectorSet some = {1, 2};
  const SelectorSet others = {1, 3};
  PlacementRules rules;
  rules.id = 1;
  ClassKey plain = Asking(1);
  const uint64_t name = NameOf(plain);
  for (const ClassKey& key :
       std::vector<ClassKey>{{.priority = 1, .request = plain.request},
                             {.request = plain.request, .rules = &rules},
                             {.request = plain.request, .meant_by = &some},
                             {.request = plain.request, .meant_by = &others},
                             {.request = plain.request, .gang = JobId{0}}}) {
    EXPECT_NE(NameOf(key), name);
  }
  // Said the same, kept elsewhere.
  const SelectorSet again = some;
  EXPECT_EQ(NameOf({.request = plain.request, .meant_by = &some}),
            NameOf({.request = plain.request, .meant_by = &again}));
  plain.name = 77;
  EXPECT_EQ(NameOf(plain), name) << "the old name is no part of it";
}

TEST_F(ClassNamesTest, KnowAClassAsLongAsItIsSeen) {
  const uint64_t name = NameOf(Asking(1));
  for (int64_t cpu = 2; cpu < 100; ++cpu) {
    NameOf(Asking(cpu));
    EXPECT_EQ(NameOf(Asking(1)), name);
    EXPECT_LE(names_.size(), 8u);
  }
}

TEST_F(ClassNamesTest, GiveAForgottenClassANewName) {
  const uint64_t name = NameOf(Asking(1));
  uint64_t last = 0;
  for (int64_t cpu = 2; cpu < 100; ++cpu) last = NameOf(Asking(cpu));
  EXPECT_GT(NameOf(Asking(1)), last);
  EXPECT_NE(NameOf(Asking(1)), name);
}

// The index of a resource that is no more stands for another one.
TEST_F(ClassNamesTest, DifferWhereAnIndexMeansAnotherResource) {
  const Resources gpus = *resources_.FromNamed({{"gpu", 1}});
  const uint64_t name = NameOf({.request = gpus});
  resources_.FreeUnused();
  const Resources disks = *resources_.FromNamed({{"disk", 1}});
  ASSERT_EQ(gpus, disks);
  EXPECT_NE(NameOf({.request = disks}), name);
}

}  // namespace
}  // namespace sluice
