// Kubernetes' rules about topology spread, one row or more for each, as those
// of tests/unit/round/pod_rules_test.cc.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "unit/round/pod_rule_cases.h"

namespace sluice {
namespace {

SpreadConstraint WithMinDomains(SpreadConstraint constraint,
                                int32_t min_domains) {
  constraint.min_domains = min_domains;
  return constraint;
}
INSTANTIATE_TEST_SUITE_P(
    Spread, PodRules,
    testing::Values(Row{"Rule31TheEmptierDomain",
                        kNodes,
                        {{"a1", kWeb}},
                        SpreadOut({kOverZones}),
                        {"b1"}},
                    Row{"Rule31AnyDomainWhereTheyAreEven",
                        kNodes,
                        {{"a1", kWeb}, {"b1", kWeb}},
                        SpreadOut({kOverZones}),
                        {"a1", "a2", "b1"}},
                    Row{"Rule31UpToTheMaximumSkew",
                        kNodes,
                        {{"a1", kWeb}},
                        SpreadOut({Spread(App("web"), "zone", 2)}),
                        {"a1", "a2", "b1"}},
                    Row{"Rule31BeyondTheMaximumSkew",
                        kNodes,
                        {{"a1", kWeb}, {"a2", kWeb}},
                        SpreadOut({Spread(App("web"), "zone", 2)}),
                        {"b1"}},
                    Row{"Rule31SelfCountsOnlyIfItIsMeant",
                        kNodes,
                        {{"a1", kWeb}},
                        SpreadOut({kOverZones}, {{"app", "db"}}),
                        {"a1", "a2", "b1"}},
                    Row{"Rule31WithoutSelfTheSkewIsOfTheOthers",
                        kNodes,
                        {{"a1", kWeb}, {"a2", kWeb}},
                        SpreadOut({kOverZones}, {{"app", "db"}}),
                        {"b1"}},
                    Row{"Rule31AllConstraintsHold",
                        kNodes,
                        {{"a1", kWeb}, {"b1", kWeb}},
                        SpreadOut({kOverZones, kOverHosts}),
                        {"a2"}},
                    Row{"Rule31AMachineIsADomainOfItsOwn",
                        kNodes,
                        {{"a1", kWeb}, {"x1", kWeb}},
                        SpreadOut({Spread(App("web"), "")}),
                        {"a2", "b1"}},
                    Row{"Rule32WithoutTheKeyNothingGoesThere",
                        kNodes,
                        {},
                        SpreadOut({Spread(App("web"), "rack")}),
                        kNowhere},
                    Row{"Rule32NodesWithoutAllKeysAreNotCounted",
                        {{"full", {{"rack", "1"}, {"zone", "a"}}},
                         {"half", {{"zone", "b"}}}},
                        {{"full", kWeb}},
                        SpreadOut({kOverZones, Spread(App("web"), "rack")}),
                        {"full"}},
                    Row{"Rule32PodsOnNodesWithoutAllKeysAreNotCounted",
                        {{"a1", {{"rack", "1"}, {"zone", "a"}}},
                         {"a2", {{"zone", "a"}}},
                         {"b1", {{"rack", "1"}, {"zone", "b"}}}},
                        {{"a2", kWeb}},
                        SpreadOut({kOverZones, Spread(App("web"), "rack")}),
                        {"a1", "b1"}},
                    Row{"Rule32KeysOfPreferencesDoNotMatter",
                        kNodes,
                        {{"a1", kWeb}},
                        SpreadOut({kOverZones,
                                   ScheduleAnyway(Spread(App("web"), "rack"))}),
                        {"b1"}}),
    testing::PrintToStringParamName());

// Node b1 is in a zone of its own, and has a taint.
const std::vector<Node> kTaintedB = {
    {"a1", {{"zone", "a"}}},
    {"b1", {{"zone", "b"}}, {NoSchedule("dedicated", "ml")}}};

SpreadConstraint Honoring(bool node_affinity, bool taints) {
  SpreadConstraint constraint = kOverZones;
  constraint.honors_node_affinity = node_affinity;
  constraint.honors_taints = taints;
  return constraint;
}
Pod OnlyInA(SpreadConstraint constraint) {
  return {{{"app", "web"}},
          {.selectors = {LabelIn("zone", {"a"})},
           .spread = {std::move(constraint)}}};
}
Pod RequiringA(SpreadConstraint constraint) {
  return {{{"app", "web"}},
          {.required = {{.labels = {LabelIn("zone", {"a"})}}},
           .spread = {std::move(constraint)}}};
}

INSTANTIATE_TEST_SUITE_P(
    SpreadDomains, PodRules,
    testing::Values(
        Row{"Rule33NodeSelectorsAreHonored",
            kNodes,
            {{"a1", kWeb}, {"a2", kWeb}},
            OnlyInA(kOverZones),
            {"a1", "a2"}},
        Row{"Rule33NodeAffinityIsHonored",
            kNodes,
            {{"a1", kWeb}, {"a2", kWeb}},
            RequiringA(kOverZones),
            {"a1", "a2"}},
        Row{"Rule33NodeAffinityIsIgnoredIfToldSo",
            kNodes,
            {{"a1", kWeb}},
            OnlyInA(Honoring(/*node_affinity=*/false, /*taints=*/false)),
            kNowhere},
        Row{"Rule33TaintsAreIgnored",
            kTaintedB,
            {{"a1", kWeb}},
            SpreadOut({kOverZones}),
            kNowhere},
        Row{"Rule33TaintsAreHonoredIfToldSo",
            kTaintedB,
            {{"a1", kWeb}},
            SpreadOut({Honoring(/*node_affinity=*/true, /*taints=*/true)}),
            {"a1"}},
        Row{"Rule33ToleratedTaintsDoNotMatter",
            kTaintedB,
            {{"a1", kWeb}},
            {{{"app", "web"}},
             {.tolerations = {ToleratesKey("dedicated")},
              .spread = {Honoring(/*node_affinity=*/true, /*taints=*/true)}}},
            {"b1"}},
        Row{"Rule34EmptyDomainsCountAsNothing",
            {{"a1", {{"zone", "a"}}},
             {"b1", {{"zone", "b"}}},
             {"c1", {{"zone", "c"}}}},
            {{"a1", kWeb}, {"b1", kWeb}},
            SpreadOut({kOverZones}),
            {"c1"}},
        Row{"Rule34DomainsWithoutNodesDoNotExist",
            {{"a1", {{"zone", "a"}}},
             {"b1", {{"zone", "b"}}, {}, /*is_departed=*/true}},
            {{"a1", kWeb}},
            SpreadOut({kOverZones}),
            {"a1"}},
        Row{"Rule34EnoughDomains",
            kNodes,
            {{"a1", kWeb}, {"b1", kWeb}},
            SpreadOut({WithMinDomains(kOverZones, 2)}),
            {"a1", "a2", "b1"}},
        Row{"Rule34TooFewDomains",
            kNodes,
            {{"a1", kWeb}, {"b1", kWeb}},
            SpreadOut({WithMinDomains(kOverZones, 3)}),
            kNowhere},
        Row{"Rule34TooFewDomainsThatAreEmpty",
            kNodes,
            {{"a1", kWeb}},
            SpreadOut({WithMinDomains(kOverZones, 3)}),
            {"b1"}},
        Row{"Rule35OtherNamespacesAreNotCounted",
            kNodes,
            {{"a1", InNamespace("other", kWeb)}},
            SpreadOut({kOverZones}),
            {"a1", "a2", "b1"}},
        Row{"Rule35NoSelectorCountsNobody",
            kNodes,
            {{"a1", kWeb}, {"a1", kWeb}},
            SpreadOut({Spread(kNoTask, "zone")}),
            {"a1", "a2", "b1"}},
        Row{"Rule36ScheduleAnywayForbidsNothing",
            kNodes,
            {{"a1", kWeb}, {"a1", kWeb}},
            SpreadOut({ScheduleAnyway(kOverZones)}),
            kEverywhere}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    SpreadAndLeavers, PodRules,
    testing::Values(Row{"Rule30TerminatingPodsAreNotSpreadAgainst",
                        kNodes,
                        {{"a1", kWeb, /*is_terminating=*/true}},
                        {{{"app", "web"}},
                         {.spread = {Spread(App("web"), "zone")}}},
                        {"a1", "a2", "b1"}},
                    Row{"Rule34PeersOnADepartedNodeAreNotSpreadAgainst",
                        {{"a1", {{"zone", "a"}}, {}, /*is_departed=*/true},
                         {"a2", {{"zone", "a"}}},
                         {"b1", {{"zone", "b"}}}},
                        {{"a1", kWeb}},
                        SpreadOut({kOverZones}),
                        {"a2", "b1"}}),
    testing::PrintToStringParamName());

// The first node that runs least wins where nothing is said, so each row wants
// another.
INSTANTIATE_TEST_SUITE_P(
    SpreadScores, PodScore,
    testing::Values(Row{"Rule36TheEmptierDomainIsPreferred",
                        kNodes,
                        {{"a2", kWeb}},
                        SpreadOut({ScheduleAnyway(kOverZones)}),
                        {"b1"}},
                    Row{"Rule36HostsAreCountedEachByItself",
                        kNodes,
                        {{"a1", kWeb},
                         {"a2", kWeb},
                         {"x1", kWeb},
                         {"b1", kDb},
                         {"b1", kDb}},
                        SpreadOut({ScheduleAnyway(kOverHosts)}),
                        {"b1"}},
                    Row{"Rule36NodesWithoutTheKeyAreTheLastChoice",
                        {{"x1", {}}, {"y1", {{"zone", "y"}}}},
                        {{"y1", kWeb}},
                        SpreadOut({ScheduleAnyway(kOverZones)}),
                        {"y1"}}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice
