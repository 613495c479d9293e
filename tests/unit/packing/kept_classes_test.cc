#include "packing/kept_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

TEST(KeptClasses, AreNamedAnewEverywhere) {
  PackingProblem problem;
  for (int64_t c = 0; c < 4; ++c) {
    problem.classes.push_back({.request = {c}, .waiting = {{1, 1}}});
  }
  problem.classes[1].apart_from = {0, 2, 3};
  problem.classes[3].company = {0, 1};
  problem.costs = {{10, 11, 12, 13}, {20, 21, 22, 23}};
  problem.company = {{0, 3}};
  problem.staying = {{{2, 5}, {3, 6}}};
  problem.caps = {{.classes = {0, 1, 3}, .most = 1}};
  problem.gangs = {{.classes = {0, 2}, .minimum = 1},
                   {.classes = {1, 2}, .minimum = 2}};
  const std::vector<std::optional<size_t>> index = {std::nullopt, 0,
                                                    std::nullopt, 1};
  KeepClasses(index, &problem);
  ASSERT_THAT(problem.classes, SizeIs(2));
  EXPECT_THAT(problem.classes[0].request, ElementsAre(1));
  EXPECT_THAT(problem.classes[1].request, ElementsAre(3));
  EXPECT_THAT(problem.classes[0].apart_from, ElementsAre(1));
  EXPECT_THAT(problem.classes[1].company, ElementsAre(0));
  EXPECT_THAT(problem.costs,
              ElementsAre(ElementsAre(11, 13), ElementsAre(21, 23)));
  EXPECT_THAT(problem.company, ElementsAre(ElementsAre(1)));
  EXPECT_THAT(problem.staying, ElementsAre(ElementsAre(Pair(1, 6))));
  EXPECT_THAT(problem.caps[0].classes, ElementsAre(0, 1));
  ASSERT_THAT(problem.gangs, SizeIs(1));
  EXPECT_THAT(problem.gangs[0].classes, ElementsAre(0));
  EXPECT_EQ(problem.gangs[0].minimum, 2);
}

}  // namespace
}  // namespace sluice
