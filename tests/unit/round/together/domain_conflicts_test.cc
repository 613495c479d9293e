#include "round/together/domain_conflicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "unit/constraints/peers_fixture.h"

namespace sluice {
namespace {

using testing::Optional;

class DomainConflictsTest : public PeersTest {
 protected:
  DomainConflictsTest() { AddZones(); }

  ClassKey KeyWith(const std::string& app, const PlacementRules& rules,
                   uint32_t priority = 0) {
    ClassKey key = ClassOf(app, rules);
    key.priority = priority;
    return key;
  }
};

TEST_F(DomainConflictsTest, FindsWhoHasTheRuleAndWhomItMeans) {
  const ClassKey shy = KeyWith("shy", AwayFrom({kWebInZone}), 3);
  const ClassKey web = KeyWith("web", {}, 5);
  DomainConflicts of_shy(state_.peers());
  EXPECT_TRUE(of_shy.empty());
  of_shy.Add(shy, IdOf("a1"));
  EXPECT_FALSE(of_shy.empty());
  EXPECT_THAT(of_shy.HighestAgainst(web, IdOf("a2")), Optional(3u));
  EXPECT_EQ(of_shy.HighestAgainst(web, IdOf("b1")), std::nullopt);
  EXPECT_EQ(of_shy.HighestAgainst(shy, IdOf("a2")), std::nullopt)
      << "it keeps away from others alone";
  DomainConflicts of_web(state_.peers());
  of_web.Add(web, IdOf("a1"));
  of_web.Add(KeyWith("web", {}, 4), IdOf("a2"));
  EXPECT_THAT(of_web.HighestAgainst(shy, IdOf("a2")), Optional(5u));
  EXPECT_EQ(of_web.HighestAgainst(shy, IdOf("b1")), std::nullopt);
}

TEST_F(DomainConflictsTest, LeavesOutMachinesWithoutADomain) {
  const ClassKey shy = KeyWith("web", AwayFrom({kWebInZone}));
  DomainConflicts conflicts(state_.peers());
  conflicts.Add(shy, IdOf("x1"));
  EXPECT_TRUE(conflicts.empty());
  conflicts.Add(shy, IdOf("a1"));
  EXPECT_EQ(conflicts.HighestAgainst(shy, IdOf("x1")), std::nullopt);
}

TEST_F(DomainConflictsTest, LeavesOutDomainsThatAreOneMachine) {
  AddMachine("h1", {{"host", "h1"}});
  AddMachine("h2", {{"host", "h2"}});
  const ClassKey apart = KeyWith("web", AwayFrom({{App("web"), "host"}}));
  EXPECT_FALSE(IsKeptFromDomains(apart, state_.peers()));
  DomainConflicts conflicts(state_.peers());
  conflicts.Add(apart, IdOf("h1"));
  EXPECT_TRUE(conflicts.empty());
}

TEST_F(DomainConflictsTest, FindsWhomARequiredSpreadMeans) {
  PlacementRules rules = {.spread = {Spread(App("web"), "zone")}};
  const ClassKey spread = KeyWith("me", rules, 5);
  DomainConflicts conflicts(state_.peers());
  conflicts.Add(spread, IdOf("a1"));
  EXPECT_TRUE(conflicts.empty());
  conflicts.AddSpread(spread, IdOf("a1"));
  const ClassKey web = KeyWith("web", {});
  EXPECT_THAT(conflicts.HighestAgainst(web, IdOf("a2")), Optional(5u));
  EXPECT_EQ(conflicts.HighestAgainst(web, IdOf("b1")), std::nullopt);
}

TEST_F(DomainConflictsTest, KnowsWhoCouldBeKeptOut) {
  const ClassKey plain = KeyWith("plain", {});
  const ClassKey web = KeyWith("web", {});
  EXPECT_FALSE(IsKeptFromDomains(plain, state_.peers()));
  EXPECT_FALSE(IsKeptFromDomains(web, state_.peers()));
  RunOn("a1", "shy", AwayFrom({kWebInZone}));
  EXPECT_TRUE(IsKeptFromDomains(KeyWith("web", {}), state_.peers()))
      << "one that runs keeps away from it";
  PlacementRules both = AwayFrom({kWebInZone});
  EXPECT_TRUE(IsKeptFromDomains(KeyWith("me", both), state_.peers()));
}

}  // namespace
}  // namespace sluice
