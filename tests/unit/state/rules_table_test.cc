#include "state/rules_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/cluster_builder.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PlacementRules Selecting(const char* key) {
  return {.selectors = {LabelExists(key)}};
}

TEST(RulesTable, KeepsEqualRulesOnce) {
  RulesTable table;
  const PlacementRules* a = table.Acquire(Selecting("a"));
  const PlacementRules* b = table.Acquire(Selecting("b"));
  EXPECT_EQ(table.Acquire(Selecting("a")), a);
  EXPECT_NE(a, b);
  EXPECT_EQ(*a, Selecting("a"));
  EXPECT_NE(a->id, 0u);
  EXPECT_NE(a->id, b->id);
  EXPECT_EQ(table.size(), 2u);
}

TEST(RulesTable, DoesNotKeepRulesThatSayNothing) {
  RulesTable table;
  const PlacementRules* none = table.Acquire(PlacementRules());
  EXPECT_EQ(none, &NoRules());
  EXPECT_EQ(table.size(), 0u);
  table.Release(none);
  EXPECT_THAT(table.Collect(), IsEmpty());
}

// A round that is under way knows classes by their rules.
TEST(RulesTable, KeepsReleasedRulesUntilTheyAreCollected) {
  RulesTable table;
  const PlacementRules* a = table.Acquire(Selecting("a"));
  const PlacementRules* b = table.Acquire(Selecting("b"));
  table.Acquire(Selecting("a"));
  table.Release(a);
  EXPECT_THAT(table.Collect(), IsEmpty()) << "acquired once more";
  table.Release(a);
  EXPECT_EQ(*a, Selecting("a"));
  const uint32_t id = a->id;
  EXPECT_THAT(table.Collect(), ElementsAre(id));
  EXPECT_THAT(table.Collect(), IsEmpty());
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(*b, Selecting("b"));
}

TEST(RulesTable, ListsWhatIsNewSinceAnId) {
  RulesTable table;
  EXPECT_THAT(table.From(0), IsEmpty());
  const PlacementRules* a = table.Acquire(Selecting("a"));
  const PlacementRules* z = table.Acquire(Selecting("z"));
  const PlacementRules* b = table.Acquire(Selecting("b"));
  EXPECT_THAT(table.From(0), ElementsAre(a, z, b));
  EXPECT_THAT(table.From(z->id), ElementsAre(z, b));
  EXPECT_THAT(table.From(b->id + 1), IsEmpty());
  table.Release(z);
  table.Collect();
  EXPECT_THAT(table.From(0), ElementsAre(a, b));
}

TEST(RulesTable, TakesReleasedRulesBackBeforeTheyAreCollected) {
  RulesTable table;
  const PlacementRules* a = table.Acquire(Selecting("a"));
  table.Release(a);
  EXPECT_EQ(table.Acquire(Selecting("a")), a);
  EXPECT_THAT(table.Collect(), IsEmpty());
}

TEST(RulesTable, NeverUsesAnIdAgain) {
  RulesTable table;
  const PlacementRules* a = table.Acquire(Selecting("a"));
  const uint32_t id = a->id;
  table.Release(a);
  table.Collect();
  PlacementRules numbered = Selecting("a");
  numbered.id = id;
  EXPECT_GT(table.Acquire(numbered)->id, id);
}

TEST(RulesTableDeathTest, DiesOfReleasingWhatWasNotAcquired) {
  RulesTable table;
  const PlacementRules stranger = Selecting("a");
  EXPECT_DEATH(table.Release(&stranger), "");
}

}  // namespace
}  // namespace sluice
