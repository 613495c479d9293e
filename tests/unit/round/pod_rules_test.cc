// Kubernetes' rules about pods that depend on pods, one row or more for each:
// inter-pod affinity and anti-affinity (22 to 30) here, topology spread (30 to
// 36) in tests/unit/round/spread_rules_test.cc.
//
// The rules are numbered as in tests/unit/constraints/kubernetes_rules_test.cc;
// a row's name begins with its number.  Each row is asked of the scheduler and
// of the oracle of the property tests, so that one wrong reading cannot serve
// for both.

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "property/peer_oracle.h"
#include "unit/round/pod_rule_cases.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

SubmitTask Submit(uint64_t uid, const Pod& pod, int64_t cpu) {
  return Submitted(
      uid,
      {.cpu = cpu, .job = pod.job, .labels = pod.labels, .rules = pod.rules},
      {.task_namespace = pod.task_namespace,
       .namespace_labels = pod.namespace_labels});
}

// A scheduler to which the row happened.  Only what asks for no cpu fits on the
// nodes that are not `roomy`.
void Arrange(const Row& row, const std::set<std::string>& roomy,
             TestScheduler* cluster) {
  for (const Node& node : row.nodes) {
    cluster->Apply(Added(node.uuid, {.cpu = roomy.contains(node.uuid) ? 100 : 0,
                                     .labels = node.labels,
                                     .taints = node.taints}));
  }
  uint64_t uid = 0;
  for (const RunningPod& running : row.running) {
    cluster->Apply(Submit(++uid, running.pod, 0));
    const Machine& machine = *cluster->state().FindMachine(running.node);
    cluster->mutable_state().Place({uid}, machine.id, /*now_ms=*/0);
  }
  cluster->Deliver();
  for (size_t i = 0; i < row.running.size(); ++i) {
    if (row.running[i].is_terminating) {
      cluster->mutable_state().Preempt({i + 1});
    }
  }
  cluster->Deliver();
  for (const Node& node : row.nodes) {
    if (node.is_departed) cluster->Apply(Removed(node.uuid));
  }
}

TEST_P(PodRules, AllowsWhatItSays) {
  const Row& row = GetParam();
  std::set<std::string> allowed;
  for (const Node& node : row.nodes) {
    TestScheduler cluster;
    Arrange(row, {node.uuid}, &cluster);
    cluster.Apply(Submit(kNewcomer, row.newcomer, 100));
    cluster.Round();
    const std::string machine = cluster.MachineOf(kNewcomer);
    if (!machine.empty()) allowed.insert(machine);
  }
  EXPECT_EQ(allowed, row.allowed);
}

TEST_P(PodRules, IsReadLikewiseByTheOracle) {
  const Row& row = GetParam();
  const auto to_task = [](const Pod& pod) {
    return PeerTask{.job = pod.job,
                    .task_namespace = pod.task_namespace,
                    .labels = InOrder(pod.labels),
                    .namespace_labels = InOrder(pod.namespace_labels),
                    .rules = pod.rules};
  };
  PeerCluster cluster;
  for (const Node& node : row.nodes) {
    cluster.machines[node.uuid] = {
        {node.uuid, InOrder(node.labels), node.taints}, !node.is_departed};
  }
  for (const RunningPod& running : row.running) {
    PeerTask& task = cluster.tasks[cluster.tasks.size()];
    task = to_task(running.pod);
    task.machine = running.node;
    task.is_terminating = running.is_terminating;
  }
  const PeerTask newcomer = to_task(row.newcomer);
  std::set<std::string> allowed;
  for (const auto& [uuid, machine] : cluster.machines) {
    if (machine.is_usable && ShouldAllow(newcomer.rules, machine.description) &&
        WhyPeersForbid(cluster, newcomer, uuid).empty()) {
      allowed.insert(uuid);
    }
  }
  EXPECT_EQ(allowed, row.allowed);
}

TEST_P(PodScore, PrefersWhatItSays) {
  const Row& row = GetParam();
  TestScheduler cluster;
  Arrange(row, {}, &cluster);
  cluster.Apply(Submit(kNewcomer, row.newcomer, 0));
  cluster.Round();
  EXPECT_TRUE(row.allowed.contains(cluster.MachineOf(kNewcomer)))
      << cluster.MachineOf(kNewcomer);
}

// ---------------------------------------------------------------------------
// Affinity

INSTANTIATE_TEST_SUITE_P(
    Affinity, PodRules,
    testing::Values(
        Row{"Rule22AffinityToTheDomainOfAPeer",
            kNodes,
            {{"a2", kWeb}, {"b1", kDb}},
            Near({{App("web"), "zone"}}),
            {"a1", "a2"}},
        Row{"Rule22AffinityToTheMachineOfAPeer",
            kNodes,
            {{"a2", kWeb}, {"b1", kDb}},
            Near({{App("web"), kHost}}),
            {"a2"}},
        Row{"Rule22AffinityByTheMachineItself",
            kNodes,
            {{"x1", kWeb}},
            Near({{App("web"), ""}}),
            {"x1"}},
        Row{"Rule10TheHostIsTheLabelAndNotTheName",
            {{"n1", {{kHost, "n2"}}}, {"n2", {{kHost, "n1"}}}, {"n3", {}}},
            {{"n1", AwayFrom({{App("web"), kHost}})}, {"n3", kDb}},
            AwayFrom({{App("db"), kHost}}, {{"app", "web"}}),
            {"n2", "n3"}},
        Row{"Rule22AffinityWhereNoPeerRuns",
            kNodes,
            {{"a1", kDb}},
            Near({{App("web"), "zone"}}),
            kNowhere},
        Row{"Rule22OnePeerMeetsAllTerms",
            kNodes,
            {{"a1", kFrontWeb}, {"b1", kWeb}},
            Near({{TasksWith({kIsWeb}), "zone"},
                  {TasksWith({kIsFront}), "zone"}}),
            {"a1", "a2"}},
        Row{"Rule22TwoPeersDoNotMeetTheTermsTogether",
            kNodes,
            {{"a1", kWeb}, {"a1", Labeled({{"tier", "front"}})}},
            Near({{TasksWith({kIsWeb}), "zone"},
                  {TasksWith({kIsFront}), "zone"}}),
            kNowhere},
        Row{"Rule22EachTermHasItsOwnDomain",
            kNodes,
            {{"a1", kWeb}},
            Near({{App("web"), "zone"}, {App("web"), kHost}}),
            {"a1"}},
        Row{"Rule22TermsMayBeMetByPeersOfDifferentMachines",
            {{"r1z1", {{"rack", "1"}, {"zone", "1"}}},
             {"r1z2", {{"rack", "1"}, {"zone", "2"}}},
             {"r2z2", {{"rack", "2"}, {"zone", "2"}}}},
            {{"r1z1", kWeb}, {"r2z2", kWeb}},
            Near({{App("web"), "rack"}, {App("web"), "zone"}}),
            {"r1z1", "r1z2", "r2z2"}},
        Row{"Rule22NotInHoldsForAPeerWithoutTheLabel",
            kNodes,
            {{"b1", kDb}},
            Near({{TasksWith({LabelNotIn("tier", {"front"})}), "zone"}}),
            {"b1"}},
        Row{"Rule22DoesNotExistFailsForAPeerWithTheLabel",
            kNodes,
            {{"b1", kFrontWeb}},
            Near({{TasksWith({LabelDoesNotExist("tier")}), "zone"}},
                 {{"tier", "back"}}),
            kNowhere},
        Row{"Rule22ExistsHoldsForAnyValue",
            kNodes,
            {{"b1", kFrontWeb}, {"a1", kWeb}},
            Near({{TasksWith({LabelExists("tier")}), "zone"}}),
            {"b1"}},
        Row{"Rule22InvalidRequirementsHoldForNobody",
            kNodes,
            {{"b1", kWeb}},
            Near({{TasksWith({kIsWeb, LabelInvalid("app", "?")}), "zone"}}),
            kNowhere},
        Row{"Rule22JobsByName",
            kNodes,
            {{"a1", OfJob("web-7")}, {"b1", OfJob("db-7")}},
            Near({{TasksOfJob("d?-*"), kHost}}),
            {"b1"}}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    FirstPod, PodRules,
    testing::Values(Row{"Rule23TheFirstOfItsKindGoesAnywhereInADomain",
                        kNodes,
                        {{"a1", kDb}},
                        Near({{App("web"), "zone"}}, {{"app", "web"}}),
                        {"a1", "a2", "b1"}},
                    Row{"Rule23TheFirstNeedsEveryTopologyKey",
                        {{"none", {}},
                         {"rack", {{"rack", "1"}}},
                         {"zone", {{"zone", "1"}}},
                         {"both", {{"rack", "1"}, {"zone", "1"}}}},
                        {},
                        Near({{App("web"), "rack"}, {App("web"), "zone"}},
                             {{"app", "web"}}),
                        {"both"}},
                    Row{"Rule23TheSecondJoinsTheFirst",
                        kNodes,
                        {{"b1", kWeb}},
                        Near({{App("web"), "zone"}}, {{"app", "web"}}),
                        {"b1"}},
                    Row{"Rule23APeerAnywhereEndsTheException",
                        kNodes,
                        {{"b1", kWeb}},
                        {{{"app", "web"}},
                         {.selectors = {LabelIn("zone", {"a"})},
                          .affinity = {{App("web"), "zone"}}}},
                        kNowhere},
                    Row{"Rule23APeerInNoDomainDoesNot",
                        kNodes,
                        {{"x1", kWeb}},
                        Near({{App("web"), "zone"}}, {{"app", "web"}}),
                        {"a1", "a2", "b1"}},
                    Row{"Rule23APeerThatMeetsSomeTermsOnlyDoesNot",
                        kNodes,
                        {{"b1", kWeb}},
                        Near({{TasksWith({kIsWeb}), "zone"},
                              {TasksWith({kIsFront}), "zone"}},
                             {{"app", "web"}, {"tier", "front"}}),
                        {"a1", "a2", "b1"}},
                    Row{"Rule23TheFirstHasToMeetAllItsTerms",
                        kNodes,
                        {},
                        Near({{TasksWith({kIsWeb}), "zone"},
                              {TasksWith({kIsFront}), "zone"}},
                             {{"app", "web"}}),
                        kNowhere},
                    Row{"Rule23TheFirstIsOfItsOwnNamespace",
                        kNodes,
                        {},
                        InNamespace("other", Near({{App("web"), "zone"}},
                                                  {{"app", "web"}})),
                        kNowhere}),
    testing::PrintToStringParamName());

// ---------------------------------------------------------------------------
// Anti-affinity

INSTANTIATE_TEST_SUITE_P(
    AntiAffinity, PodRules,
    testing::Values(
        Row{"Rule22AntiAffinityToTheDomainOfAPeer",
            kNodes,
            {{"a1", kWeb}},
            AwayFrom({{App("web"), "zone"}}),
            {"b1", "x1"}},
        Row{"Rule22AntiAffinityToTheMachineOfAPeer",
            kNodes,
            {{"a1", kWeb}},
            AwayFrom({{App("web"), kHost}}),
            {"a2", "b1", "x1"}},
        Row{"Rule22AntiAffinityByTheMachineItself",
            kNodes,
            {{"x1", kWeb}},
            AwayFrom({{App("web"), ""}}),
            {"a1", "a2", "b1"}},
        Row{"Rule22AnyTermOfAntiAffinityForbids",
            kNodes,
            {{"a1", kWeb}, {"b1", kDb}},
            AwayFrom({{App("web"), "zone"}, {App("db"), "zone"}}),
            {"x1"}},
        Row{"Rule22AntiAffinityToAllJobsButOwn",
            kNodes,
            {{"a1", OfJob("web-7")}, {"b1", OfJob("db-7")}},
            AwayFrom({{TasksOfJob("web-*"), "zone"}}),
            {"b1", "x1"}},
        Row{"Rule24WithoutTheKeyAffinityFails",
            kNodes,
            {{"x1", kWeb}, {"b1", kWeb}},
            Near({{App("web"), "zone"}}),
            {"b1"}},
        Row{"Rule24WithoutTheKeyAntiAffinityHolds",
            kNodes,
            {{"x1", kWeb}, {"a1", kWeb}, {"b1", kWeb}},
            AwayFrom({{App("web"), "zone"}}),
            {"x1"}},
        Row{"Rule24WithoutTheKeyAPeersAntiAffinityIsVoid",
            kNodes,
            {{"x1", AwayFrom({{App("web"), "zone"}})}},
            kWeb,
            kEverywhere},
        Row{"Rule25APeersAntiAffinityForbids",
            kNodes,
            {{"a1", AwayFrom({{App("web"), "zone"}})}},
            kWeb,
            {"b1", "x1"}},
        Row{"Rule25ItIsThePeersDomain",
            kNodes,
            {{"a1", AwayFrom({{App("web"), kHost}})}},
            AwayFrom({{App("db"), "zone"}}, {{"app", "web"}}),
            {"a2", "b1", "x1"}},
        Row{"Rule25APeersNamespacesAreItsOwn",
            kNodes,
            {{"a1", AwayFrom({{App("web"), "zone"}})},
             {"b1",
              InNamespace("other", AwayFrom({{TasksWith({kIsWeb}, {"other"}),
                                              "zone"}}))}},
            InNamespace("other", kWeb),
            {"a1", "a2", "x1"}},
        Row{"Rule25OneOfAPeersTermsIsEnough",
            kNodes,
            {{"a1", AwayFrom({{App("db"), "zone"}, {App("web"), kHost}})}},
            kWeb,
            {"a2", "b1", "x1"}},
        Row{"Rule26APeersAffinityDemandsNothing",
            kNodes,
            {{"a1", kWeb}, {"a1", Near({{App("web"), "zone"}})}},
            kWeb,
            kEverywhere}),
    testing::PrintToStringParamName());

// ---------------------------------------------------------------------------
// Which tasks are meant

TaskSelector WebOf(std::vector<std::string> namespaces,
                   std::optional<std::vector<LabelRequirement>> labels) {
  TaskSelector selector = TasksWith({kIsWeb}, std::move(namespaces));
  selector.namespace_labels = std::move(labels);
  return selector;
}
const std::vector<LabelRequirement> kAll = {};
const LabelRequirement kIsProd = LabelIn("stage", {"prod"});

const std::vector<RunningPod> kWebOfNsAndProd = {
    {"a1", kWeb}, {"b1", InNamespace("prod", kWeb, {{"stage", "prod"}})}};

INSTANTIATE_TEST_SUITE_P(
    Selectors, PodRules,
    testing::Values(
        Row{"Rule27OtherNamespacesAreNotMeant",
            kNodes,
            kWebOfNsAndProd,
            AwayFrom({{App("web"), kHost}}),
            {"a2", "b1", "x1"}},
        Row{"Rule27NamespacesByName",
            kNodes,
            kWebOfNsAndProd,
            AwayFrom({{WebOf({"prod"}, {}), kHost}}),
            {"a1", "a2", "x1"}},
        Row{"Rule27AnEmptyNamespaceSelectorMeansAll",
            kNodes,
            kWebOfNsAndProd,
            AwayFrom({{WebOf({}, kAll), kHost}}),
            {"a2", "x1"}},
        Row{"Rule27NamespacesByLabel",
            kNodes,
            kWebOfNsAndProd,
            AwayFrom({{WebOf({}, {{kIsProd}}), kHost}}),
            {"a1", "a2", "x1"}},
        Row{"Rule27NamespacesByTheLabelThatIsTheirName",
            kNodes,
            kWebOfNsAndProd,
            AwayFrom(
                {{WebOf({}, {{LabelIn("kubernetes.io/metadata.name", {"ns"})}}),
                  kHost}}),
            {"a2", "b1", "x1"}},
        Row{"Rule27BothAreAUnion",
            kNodes,
            kWebOfNsAndProd,
            AwayFrom({{WebOf({kNamespace}, {{kIsProd}}), kHost}}),
            {"a2", "x1"}},
        Row{"Rule27NeitherMeansNobody", kNodes, kWebOfNsAndProd,
            AwayFrom({{WebOf({}, {}), kHost}}), kEverywhere},
        Row{"Rule28NoSelectorMeansNoPod",
            kNodes,
            {{"a1", kWeb}},
            AwayFrom({{kNoTask, kHost}}),
            kEverywhere},
        Row{"Rule28NoSelectorInAffinityIsNeverMet",
            kNodes,
            {{"a1", kWeb}},
            Near({{kNoTask, kHost}}),
            kNowhere},
        Row{"Rule28AnEmptySelectorMeansAllPods",
            kNodes,
            {{"a1", Labeled({})}, {"b1", kWeb}},
            AwayFrom({{kAnyTask, kHost}}),
            {"a2", "x1"}},
        Row{"Rule28AnEmptySelectorMeansThoseOfTheNamespaces",
            kNodes,
            {{"a1", InNamespace("other", kWeb)}, {"b1", kWeb}},
            Near({{kAnyTask, kHost}}),
            {"b1"}},
        // As they arrive, with the newcomer's own values filled in.
        Row{"Rule29MatchLabelKeysNarrow",
            kNodes,
            {{"a1", Labeled({{"app", "web"}, {"version", "1"}})},
             {"b1", Labeled({{"app", "web"}, {"version", "2"}})}},
            AwayFrom({{TasksWith({kIsWeb, LabelIn("version", {"2"})}), kHost}},
                     {{"app", "web"}, {"version", "2"}}),
            {"a1", "a2", "x1"}},
        Row{"Rule29MismatchLabelKeysExclude",
            kNodes,
            {{"a1", Labeled({{"app", "web"}, {"tenant", "1"}})},
             {"b1", Labeled({{"app", "web"}, {"tenant", "2"}})},
             {"x1", kWeb}},
            AwayFrom({{TasksWith({kIsWeb, LabelNotIn("tenant", {"2"})}),
                       kHost}},
                     {{"app", "web"}, {"tenant", "2"}}),
            {"a2", "b1"}},
        Row{"Rule30TerminatingPodsCountForAffinity",
            kNodes,
            {{"a1", kWeb, /*is_terminating=*/true}},
            Near({{App("web"), kHost}}),
            {"a1"}},
        Row{"Rule30TerminatingPodsCountForAntiAffinity",
            kNodes,
            {{"a1", kWeb, /*is_terminating=*/true}},
            AwayFrom({{App("web"), kHost}}),
            {"a2", "b1", "x1"}},
        Row{"Rule30TerminatingPodsStillKeepOthersAway",
            kNodes,
            {{"a1", AwayFrom({{App("web"), "zone"}}),
              /*is_terminating=*/true}},
            kWeb,
            {"b1", "x1"}}),
    testing::PrintToStringParamName());

// What runs on departed machines still counts, but they make no domains.
const std::vector<Node> kDepartedA1 = {
    {"a1", {{"zone", "a"}}, {}, /*is_departed=*/true},
    {"a2", {{"zone", "a"}}},
    {"b1", {{"zone", "b"}}}};

INSTANTIATE_TEST_SUITE_P(
    DepartedNodes, PodRules,
    testing::Values(Row{"Rule22AffinityToAPeerOnADepartedNode",
                        kDepartedA1,
                        {{"a1", kWeb}},
                        Near({{App("web"), "zone"}}),
                        {"a2"}},
                    Row{"Rule22AntiAffinityToAPeerOnADepartedNode",
                        kDepartedA1,
                        {{"a1", kWeb}},
                        AwayFrom({{App("web"), "zone"}}),
                        {"b1"}},
                    Row{"Rule25AntiAffinityOfAPeerOnADepartedNode",
                        kDepartedA1,
                        {{"a1", AwayFrom({{App("web"), "zone"}})}},
                        kWeb,
                        {"b1"}}),
    testing::PrintToStringParamName());

// ---------------------------------------------------------------------------
// Scores

Pod Preferring(std::vector<WeightedPeerTerm> terms, LabelPairs labels = {}) {
  return {std::move(labels), {.preferred_peers = std::move(terms)}};
}

// The first node that runs least wins where nothing is said, so each row wants
// another.
INSTANTIATE_TEST_SUITE_P(
    Scores, PodScore,
    testing::Values(Row{"Rule26PreferredAffinity",
                        kNodes,
                        {{"b1", kWeb}},
                        Preferring({{1, {App("web"), kHost}}}),
                        {"b1"}},
                    Row{"Rule26PreferredAntiAffinity",
                        kNodes,
                        {{"a1", kWeb}},
                        Preferring({{-1, {App("web"), "zone"}}}),
                        {"b1", "x1"}},
                    Row{"Rule26EachPeerEarnsTheWeight",
                        kNodes,
                        {{"a1", kWeb}, {"b1", kWeb}, {"b1", kWeb}},
                        Preferring({{1, {App("web"), kHost}}}),
                        {"b1"}},
                    Row{"Rule26TheHeavierOfTwoTerms",
                        kNodes,
                        {{"a1", kWeb}, {"b1", kDb}},
                        Preferring({{1, {App("web"), kHost}},
                                    {2, {App("db"), kHost}}}),
                        {"b1"}},
                    Row{"Rule26APeersRequiredAffinityScores",
                        kNodes,
                        {{"b1", Near({{App("db"), kHost}})}},
                        kDb,
                        {"b1"}},
                    Row{"Rule26APeersPreferredAffinityScores",
                        kNodes,
                        {{"b1", Preferring({{100, {App("web"), kHost}}})}},
                        kWeb,
                        {"b1"}},
                    Row{"Rule26APeersPreferredAntiAffinityScores",
                        kNodes,
                        {{"a1", Preferring({{-100, {App("web"), "zone"}}})}},
                        kWeb,
                        {"b1", "x1"}}),
    testing::PrintToStringParamName());

// ---------------------------------------------------------------------------

TEST(PodRulesList, EachRuleHasARow) {
  std::set<std::string> numbers;
  const testing::UnitTest& unit_test = *testing::UnitTest::GetInstance();
  for (int i = 0; i < unit_test.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *unit_test.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const std::string name = suite.GetTestInfo(j)->name();
      const size_t at = name.find("/Rule");
      if (at != std::string::npos) numbers.insert(name.substr(at + 5, 2));
    }
  }
  for (int rule = 22; rule <= 36; ++rule) {
    EXPECT_TRUE(numbers.contains(StrCat(rule))) << "rule " << rule;
  }
}

}  // namespace
}  // namespace sluice
