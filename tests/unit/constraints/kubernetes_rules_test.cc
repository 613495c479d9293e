// Kubernetes' scheduling rules about nodes, one row or more for each.
//
// The rules are numbered as in the list that this scheduler was built from; a
// row's name begins with its number.  What has no row has a reason in
// kElsewhere, and the last test sees to it that nothing is left out.

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "constraints/label_match.h"
#include "cost/policy_set.h"
#include "state/cluster_state.h"
#include "unit/constraints/rule_cases.h"

namespace sluice {
namespace {

constexpr bool kAllowed = true;
constexpr bool kRefused = false;

struct Elsewhere {
  int first;
  int last;
  const char* reason;
};
// Rules without a row here.
constexpr Elsewhere kElsewhere[] = {
    {9, 9, "label changes evict nobody: nothing asks again what runs"},
    {10, 10,
     "topologyKey goes by the label: tests/unit/round/pod_rules_test.cc"},
    {17, 17, "who evicts by NoExecute taints: core/, not a constraint"},
    {22, 36, "pods that depend on pods: tests/unit/round/pod_rules_test.cc"},
    {37, 38, "a pod's request: the client adds up its containers"},
    {41, 41, "default requests for scoring: costs go by the load as it is"},
    {44, 44, "volumes: not in the wire contract"},
    {45, 53, "preemption and the queue: not about nodes"},
};
// Parts of rules without a row, beside the rows of their rule:
//    3 addedAffinity: there are no scheduling profiles
//    8 normalization: costs are absolute (cost/models)
//   15 Lt and Gt on tolerations: behind a gate that is off
//   16 eviction: core/, not a constraint
//   42 port 0 is ignored where requests come in (rpc/)

struct Row {
  const char* name;
  PlacementRules rules;
  Machine machine;
  bool is_allowed;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.name;
}

class Kubernetes : public testing::TestWithParam<Row> {};

TEST_P(Kubernetes, AllowsWhatItSays) {
  const Row& row = GetParam();
  EXPECT_EQ(IsAllowed(row.rules, row.machine), row.is_allowed);
  EXPECT_EQ(ReasonsFor(row.rules, row.machine).empty(), row.is_allowed);
}

// ---------------------------------------------------------------------------
// Node selectors and node affinity

const Machine kSsdInA = Labeled({{"disk", "ssd"}, {"zone", "a"}});
const NodeTerm kHasSsd = Term({LabelIn("disk", {"ssd"})});
const NodeTerm kHasHdd = Term({LabelIn("disk", {"hdd"})});

INSTANTIATE_TEST_SUITE_P(
    Terms, Kubernetes,
    testing::Values(
        Row{"Rule01OneTermOfSeveralIsEnough", Requiring({kHasHdd, kHasSsd}),
            kSsdInA, kAllowed},
        Row{"Rule01NoTermHolds",
            Requiring({kHasHdd, Term({LabelIn("zone", {"b"})})}), kSsdInA,
            kRefused},
        Row{"Rule01AllRequirementsOfATermHold",
            Requiring({Term({LabelIn("disk", {"ssd"}),
                             LabelIn("zone", {"a", "b"})})}),
            kSsdInA, kAllowed},
        Row{"Rule01OneRequirementOfATermFails",
            Requiring({Term({LabelIn("disk", {"ssd"}), LabelExists("gpu")})}),
            kSsdInA, kRefused},
        Row{"Rule01TwoTermsThatHoldInHalfDoNotMakeOne",
            Requiring({Term({LabelIn("disk", {"ssd"}), LabelExists("gpu")}),
                       Term({LabelIn("zone", {"a"}), LabelExists("gpu")})}),
            kSsdInA, kRefused},
        Row{"Rule01FieldsAreAndedWithLabels",
            Requiring({Term({LabelDoesNotExist("gpu")}, {NameIs("n1")})}),
            Named("n1"), kAllowed},
        Row{"Rule01FieldFailsWhereLabelsHold",
            Requiring({Term({LabelDoesNotExist("gpu")}, {NameIs("n2")})}),
            Named("n1"), kRefused},
        Row{"Rule01LabelFailsWhereFieldsHold",
            Requiring({Term({LabelExists("gpu")}, {NameIs("n1")})}),
            Named("n1"), kRefused},
        Row{"Rule02EmptyTermMatchesNothing", Requiring({Term({})}), kSsdInA,
            kRefused},
        Row{"Rule02OnlyEmptyTermsMatchNothing", Requiring({Term({}), Term({})}),
            kSsdInA, kRefused},
        Row{"Rule02EmptyTermHindersNoOther", Requiring({Term({}), kHasSsd}),
            kSsdInA, kAllowed},
        Row{"Rule02NoTermAtAllDemandsNothing", Requiring({}), kSsdInA,
            kAllowed}),
    testing::PrintToStringParamName());

PlacementRules SelectingAndRequiring(const char* disk, const char* zone) {
  PlacementRules rules = Selecting({LabelIn("disk", {disk})});
  rules.required = {Term({LabelIn("zone", {zone})})};
  return rules;
}

INSTANTIATE_TEST_SUITE_P(
    Selectors, Kubernetes,
    testing::Values(
        Row{"Rule03SelectorAndAffinityHold", SelectingAndRequiring("ssd", "a"),
            kSsdInA, kAllowed},
        Row{"Rule03SelectorFails", SelectingAndRequiring("hdd", "a"), kSsdInA,
            kRefused},
        Row{"Rule03AffinityFails", SelectingAndRequiring("ssd", "b"), kSsdInA,
            kRefused},
        Row{"Rule03SelectorsAreAnded",
            Selecting({LabelIn("disk", {"ssd"}), LabelIn("zone", {"b"})}),
            kSsdInA, kRefused},
        Row{"Rule04NotInHoldsWithoutTheKey",
            Selecting({LabelNotIn("gpu", {"amd", "nvidia"})}), kSsdInA,
            kAllowed},
        Row{"Rule04NotInHoldsForAnotherValue",
            Selecting({LabelNotIn("disk", {"hdd", "nvme"})}), kSsdInA,
            kAllowed},
        Row{"Rule04NotInFailsForAListedValue",
            Selecting({LabelNotIn("disk", {"hdd", "ssd"})}), kSsdInA, kRefused},
        Row{"Rule04DoesNotExistHoldsWithoutTheKey",
            Selecting({LabelDoesNotExist("gpu")}), kSsdInA, kAllowed},
        Row{"Rule04DoesNotExistFailsWithTheKey",
            Selecting({LabelDoesNotExist("disk")}), kSsdInA, kRefused},
        Row{"Rule04DoesNotExistFailsWithAnEmptyValue",
            Selecting({LabelDoesNotExist("gpu")}), Labeled({{"gpu", ""}}),
            kRefused},
        Row{"Rule04InFailsWithoutTheKey", Selecting({LabelIn("gpu", {""})}),
            kSsdInA, kRefused},
        Row{"Rule04InHoldsForAnEmptyValue", Selecting({LabelIn("gpu", {""})}),
            Labeled({{"gpu", ""}}), kAllowed},
        Row{"Rule04ExistsFailsWithoutTheKey", Selecting({LabelExists("gpu")}),
            kSsdInA, kRefused},
        Row{"Rule04ExistsHoldsForAnEmptyValue", Selecting({LabelExists("gpu")}),
            Labeled({{"gpu", ""}}), kAllowed}),
    testing::PrintToStringParamName());

Row Above(const char* name, const char* label, const char* bound,
          bool is_allowed) {
  return {name,
          Requiring({Term({{"cpus", LabelOperator::kGreaterThan, {bound}}})}),
          Labeled({{"cpus", label}}), is_allowed};
}
Row Below(const char* name, const char* label, const char* bound,
          bool is_allowed) {
  return {name,
          Requiring({Term({{"cpus", LabelOperator::kLessThan, {bound}}})}),
          Labeled({{"cpus", label}}), is_allowed};
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, Kubernetes,
    testing::Values(
        Above("Rule05Greater", "9", "8", kAllowed),
        Above("Rule05GreaterIsStrict", "8", "8", kRefused),
        Above("Rule05NumbersAreNotTexts", "10", "9", kAllowed),
        Below("Rule05Less", "7", "8", kAllowed),
        Below("Rule05LessIsStrict", "8", "8", kRefused),
        Below("Rule05Negative", "-2", "-1", kAllowed),
        Row{"Rule05GreaterFailsWithoutTheKey",
            Selecting({LabelAbove("cpus", -1)}), Machine(), kRefused},
        Row{"Rule05LessFailsWithoutTheKey", Selecting({LabelBelow("cpus", 1)}),
            Machine(), kRefused},
        Above("Rule05PlusSign", "+9", "+8", kAllowed),
        Above("Rule05LeadingZeros", "009", "8", kAllowed),
        Above("Rule05Largest", "9223372036854775807", "9223372036854775806",
              kAllowed),
        Below("Rule05Smallest", "-9223372036854775808", "-9223372036854775807",
              kAllowed),
        Above("Rule05LabelBeyond64Bits", "9223372036854775808", "8", kRefused),
        Below("Rule05BoundBeyond64Bits", "8", "9223372036854775808", kRefused),
        Above("Rule05EmptyLabel", "", "-1", kRefused),
        Below("Rule05EmptyLabelIsNotLess", "", "1", kRefused),
        Above("Rule05Word", "many", "8", kRefused),
        Above("Rule05Fraction", "9.5", "8", kRefused),
        Above("Rule05Unit", "9Gi", "8", kRefused),
        Above("Rule05SpaceBefore", " 9", "8", kRefused),
        Above("Rule05SpaceAfter", "9 ", "8", kRefused),
        Above("Rule05Hexadecimal", "0x9", "8", kRefused),
        Above("Rule05Underscore", "1_0", "8", kRefused),
        Above("Rule05SignAlone", "+", "-1", kRefused),
        Below("Rule05TwoSigns", "+-9", "8", kRefused),
        Above("Rule05BoundIsNoNumber", "9", "few", kRefused),
        Row{"Rule05TwoBounds",
            Selecting({{"cpus", LabelOperator::kGreaterThan, {"7", "8"}}}),
            Labeled({{"cpus", "9"}}), kRefused},
        Row{"Rule05NoBound",
            Selecting({{"cpus", LabelOperator::kLessThan, {}}}),
            Labeled({{"cpus", "9"}}), kRefused}),
    testing::PrintToStringParamName());

PlacementRules OnField(LabelRequirement field) {
  return Requiring({Term({}, {std::move(field)})});
}

INSTANTIATE_TEST_SUITE_P(
    Fields, Kubernetes,
    testing::Values(
        Row{"Rule06NameIsTheMachines", OnField(NameIs("n1")), Named("n1"),
            kAllowed},
        Row{"Rule06NameIsAnotherMachines", OnField(NameIs("n2")), Named("n1"),
            kRefused},
        Row{"Rule06NameIsNotTheMachines", OnField(NameIsNot("n2")), Named("n1"),
            kAllowed},
        Row{"Rule06NameIsExcluded", OnField(NameIsNot("n1")), Named("n1"),
            kRefused},
        Row{"Rule06OtherFieldsMatchNothing",
            OnField(LabelNotIn("metadata.namespace", {"x"})), Named("n1"),
            kRefused},
        Row{"Rule06OtherOperatorsMatchNothing",
            OnField(LabelExists("metadata.name")), Named("n1"), kRefused},
        Row{"Rule06SeveralNamesMatchNothing",
            OnField(LabelIn("metadata.name", {"n1", "n2"})), Named("n1"),
            kRefused},
        Row{"Rule06ALabelOfThisNameIsNoField", OnField(NameIs("n1")),
            Labeled({{"metadata.name", "n1"}}), kRefused},
        Row{"Rule06TheHostNameLabelIsNoField", OnField(NameIs("n1")),
            Labeled({{"kubernetes.io/hostname", "n1"}}), kRefused},
        Row{"Rule07InvalidRequirementSparesOtherTerms",
            Requiring({Term({LabelInvalid("disk", "?")}), kHasSsd}), kSsdInA,
            kAllowed},
        Row{"Rule07InvalidRequirementSpoilsItsTerm",
            Requiring({Term({LabelIn("disk", {"ssd"}),
                             LabelInvalid("zone", "?")})}),
            kSsdInA, kRefused},
        Row{"Rule07InvalidSelectorSpoilsAll",
            Selecting({LabelInvalid("disk", "?")}), kSsdInA, kRefused},
        Row{"Rule07InvalidFieldSpoilsItsTerm",
            OnField(LabelInvalid("metadata.name", "?")), kSsdInA, kRefused}),
    testing::PrintToStringParamName());

// ---------------------------------------------------------------------------
// Taints and tolerations

const Taint kMl = NoSchedule("dedicated", "ml");
const Toleration kEqualMl = {.key = "dedicated", .value = "ml"};
const Toleration kEverything = {.op = TolerationOperator::kExists};

Toleration OfEffect(Toleration toleration, TaintEffect effect) {
  toleration.effect = effect;
  return toleration;
}

INSTANTIATE_TEST_SUITE_P(
    Taints, Kubernetes,
    testing::Values(
        Row{"Rule11NoScheduleFilters", {}, Tainted({kMl}), kRefused},
        Row{"Rule11NoExecuteFilters",
            {},
            Tainted({NoExecute("dedicated", "ml")}),
            kRefused},
        Row{"Rule11PreferNoScheduleDoesNotFilter",
            {},
            Tainted({PreferNoSchedule("dedicated", "ml")}),
            kAllowed},
        Row{"Rule11UnknownEffectDoesNotFilter",
            {},
            Tainted({{"dedicated", "ml", TaintEffect::kUnknown}}),
            kAllowed},
        Row{"Rule12ToleratedTaint", Tolerating({kEqualMl}), Tainted({kMl}),
            kAllowed},
        Row{"Rule12EachTaintNeedsAToleration", Tolerating({kEqualMl}),
            Tainted({kMl, NoSchedule("gpu")}), kRefused},
        Row{"Rule12AllTaintsTolerated",
            Tolerating({kEqualMl, ToleratesKey("gpu")}),
            Tainted({kMl, NoSchedule("gpu")}), kAllowed},
        Row{"Rule12EveryTolerationOfAKeyCounts",
            Tolerating({{.key = "dedicated", .value = "db"}, kEqualMl}),
            Tainted({kMl}), kAllowed},
        Row{"Rule12TolerationsOfOtherValues",
            Tolerating({{.key = "dedicated", .value = "db"},
                        {.key = "dedicated", .value = "web"}}),
            Tainted({kMl}), kRefused},
        Row{"Rule12TolerationOfAnotherEffect",
            Tolerating({OfEffect(kEqualMl, TaintEffect::kPreferNoSchedule)}),
            Tainted({kMl}), kRefused},
        Row{"Rule13EmptyEffectIsEveryEffect",
            Tolerating({ToleratesKey("dedicated")}),
            Tainted({kMl, NoExecute("dedicated", "ml")}), kAllowed},
        Row{"Rule13AnEffectIsThisEffectOnly",
            Tolerating({OfEffect(kEqualMl, TaintEffect::kNoSchedule)}),
            Tainted({kMl, NoExecute("dedicated", "ml")}), kRefused},
        Row{"Rule13EmptyKeyWithExistsIsEverything", Tolerating({kEverything}),
            Tainted({kMl, NoExecute("gpu", "broken")}), kAllowed},
        Row{"Rule13EmptyKeyWithExistsIsOfItsEffect",
            Tolerating({OfEffect(kEverything, TaintEffect::kNoExecute)}),
            Tainted({kMl}), kRefused},
        Row{"Rule13EmptyKeyWithEqualIsNotEverything",
            Tolerating({{.value = "ml"}}), Tainted({kMl}), kRefused},
        Row{"Rule13TheDefaultIsEqual", Tolerating({{.key = "dedicated"}}),
            Tainted({kMl}), kRefused}),
    testing::PrintToStringParamName());

Machine InCondition(const char* condition, TaintEffect effect) {
  return Tainted({{StrCat("node.kubernetes.io/", condition), "", effect}});
}

// What the admission controller gives every pod.
const Toleration kNotReady =
    Tolerates(NoExecute("node.kubernetes.io/not-ready"), 300);
const Toleration kUnreachable =
    Tolerates(NoExecute("node.kubernetes.io/unreachable"), 300);

INSTANTIATE_TEST_SUITE_P(
    Tolerations, Kubernetes,
    testing::Values(
        Row{"Rule14ExistsIgnoresTheValue",
            Tolerating({{.key = "dedicated",
                         .op = TolerationOperator::kExists,
                         .value = "db"}}),
            Tainted({kMl}), kAllowed},
        Row{"Rule14EqualIsVerbatim",
            Tolerating({{.key = "dedicated", .value = "ML"}}), Tainted({kMl}),
            kRefused},
        Row{"Rule14EmptyEqualsEmpty", Tolerating({{.key = "dedicated"}}),
            Tainted({NoSchedule("dedicated")}), kAllowed},
        Row{"Rule15UnknownOperatorToleratesNothing",
            Tolerating({{.key = "dedicated",
                         .op = TolerationOperator::kUnknown,
                         .value = "ml"}}),
            Tainted({kMl}), kRefused},
        Row{"Rule15UnknownOperatorWithoutKeyToleratesNothing",
            Tolerating({{.op = TolerationOperator::kUnknown}}), Tainted({kMl}),
            kRefused},
        Row{"Rule16SecondsDoNotMatterToPlacement",
            Tolerating({Tolerates(NoExecute("gpu", "broken"), 0)}),
            Tainted({NoExecute("gpu", "broken")}), kAllowed},
        Row{"Rule18Unschedulable",
            {},
            InCondition("unschedulable", TaintEffect::kNoSchedule),
            kRefused},
        Row{"Rule18UnschedulableButTolerated",
            Tolerating(
                {Tolerates(NoSchedule("node.kubernetes.io/unschedulable"))}),
            InCondition("unschedulable", TaintEffect::kNoSchedule), kAllowed},
        Row{"Rule20TheUsualTolerationsTolerateNothingElse",
            Tolerating({kNotReady, kUnreachable}), Tainted({kMl}), kRefused},
        Row{"Rule20OneTolerationIsEnough", Tolerating({kEqualMl}),
            Tainted({kMl}), kAllowed},
        Row{"Rule20OneBesideTheUsualIsEnough",
            Tolerating({kEqualMl, kNotReady, kUnreachable}), Tainted({kMl}),
            kAllowed},
        Row{"Rule20ManyTolerationsOfOtherTaints",
            Tolerating({kNotReady, kUnreachable, ToleratesKey("a"),
                        ToleratesKey("b"), ToleratesKey("c")}),
            Tainted({kMl}), kRefused},
        Row{"Rule21NotReadyKeepsTasksAway", Tolerating({kNotReady}),
            InCondition("not-ready", TaintEffect::kNoSchedule), kRefused},
        Row{"Rule21PressureKeepsTasksAway",
            {},
            InCondition("memory-pressure", TaintEffect::kNoSchedule),
            kRefused},
        Row{"Rule21AToleratedConditionIsNotLookedAtAgain",
            Tolerating({ToleratesKey("node.kubernetes.io/not-ready")}),
            InCondition("not-ready", TaintEffect::kNoSchedule), kAllowed}),
    testing::PrintToStringParamName());

// ---------------------------------------------------------------------------
// Host ports

INSTANTIATE_TEST_SUITE_P(
    HostPorts, Kubernetes,
    testing::Values(
        Row{"Rule42SamePort", Listening({TcpPort(80)}), Used({TcpPort(80)}),
            kRefused},
        Row{"Rule42AnotherPort", Listening({TcpPort(80)}), Used({TcpPort(81)}),
            kAllowed},
        Row{"Rule42AnotherProtocol", Listening({TcpPort(80)}),
            Used({UdpPort(80)}), kAllowed},
        Row{"Rule42SameAddress", Listening({TcpPort(80, "10.0.0.1")}),
            Used({TcpPort(80, "10.0.0.1")}), kRefused},
        Row{"Rule42AnotherAddress", Listening({TcpPort(80, "10.0.0.1")}),
            Used({TcpPort(80, "10.0.0.2")}), kAllowed},
        Row{"Rule42AllAddressesAgainstOne", Listening({TcpPort(80)}),
            Used({TcpPort(80, "10.0.0.1")}), kRefused},
        Row{"Rule42OneAddressAgainstAll", Listening({TcpPort(80, "10.0.0.1")}),
            Used({TcpPort(80)}), kRefused},
        Row{"Rule42TheDefaultIsTcpOnAllAddresses", Listening({{.port = 80}}),
            Used({TcpPort(80, "10.0.0.1")}), kRefused},
        Row{"Rule42OneOfSeveralIsTaken", Listening({TcpPort(80), TcpPort(443)}),
            Used({TcpPort(22), TcpPort(443)}), kRefused},
        Row{"Rule42NoPortWanted", Listening({}), Used({TcpPort(80)}),
            kAllowed}),
    testing::PrintToStringParamName());

// ---------------------------------------------------------------------------
// Scores

Cost CostOf(const char* policy, const PlacementRules& rules,
            const Machine& machine) {
  return PolicySet::FromNames(policy)->PreferenceCost(rules, machine);
}

TEST(KubernetesScore, Rule08WeightsAddUp) {
  const auto rules =
      Preferring({{10, kHasSsd}, {1, Term({LabelIn("zone", {"a"})})}});
  const Cost none = CostOf("node_affinity", rules, Machine());
  const Cost zone = CostOf("node_affinity", rules, Labeled({{"zone", "a"}}));
  const Cost disk = CostOf("node_affinity", rules, Labeled({{"disk", "ssd"}}));
  const Cost both = CostOf("node_affinity", rules, kSsdInA);
  EXPECT_GT(none, zone);
  EXPECT_EQ(none - disk, 10 * (none - zone));
  EXPECT_EQ(none - both, 11 * (none - zone));
}

TEST(KubernetesScore, Rule08EmptyPreferenceTellsNoMachinesApart) {
  const auto rules = Preferring({{100, Term({})}});
  EXPECT_EQ(CostOf("node_affinity", rules, Machine()),
            CostOf("node_affinity", rules, kSsdInA));
}

TEST(KubernetesScore, Rule11PreferNoScheduleScores) {
  EXPECT_GT(CostOf("taint", {}, Tainted({PreferNoSchedule("dedicated", "ml")})),
            CostOf("taint", {}, Machine()));
}

TEST(KubernetesScore, Rule19CountsIntolerableTaints) {
  const Machine two = Tainted({PreferNoSchedule("a"), PreferNoSchedule("b")});
  const Cost neither = CostOf("taint", {}, two);
  const Cost one = CostOf("taint", Tolerating({ToleratesKey("a")}), two);
  EXPECT_EQ(neither, 2 * one);
  EXPECT_GT(one, 0);
  EXPECT_EQ(CostOf("taint", Tolerating({kEverything}), two), 0);
}

TEST(KubernetesScore, Rule19TolerationsOfOtherEffectsDoNotCount) {
  const Machine machine = Tainted({PreferNoSchedule("dedicated", "ml")});
  for (const TaintEffect effect :
       {TaintEffect::kNoSchedule, TaintEffect::kNoExecute}) {
    EXPECT_GT(
        CostOf("taint", Tolerating({OfEffect(kEqualMl, effect)}), machine), 0);
  }
  EXPECT_EQ(
      CostOf("taint",
             Tolerating({OfEffect(kEqualMl, TaintEffect::kPreferNoSchedule)}),
             machine),
      0);
}

TEST(KubernetesScore, Rule19TaintsThatFilterDoNotScore) {
  EXPECT_EQ(CostOf("taint", {}, Tainted({kMl, NoExecute("gpu", "broken")})), 0);
}

// ---------------------------------------------------------------------------
// Resources

class KubernetesResources : public testing::Test {
 protected:
  bool Fits(const Resources& request) const {
    return IsAllowed(NoRules(), *state_.FindMachine("m1"), request);
  }
  void Apply(const Command& command) {
    EXPECT_EQ(state_.Apply(command, /*now_ms=*/0), Ack::kOk);
  }
  ClusterState state_;
};

TEST_F(KubernetesResources, Rule39GoesByTheAllocatable) {
  Apply(Added("m1", {.cpu = 1000, .capacity = {{"cpu", 4000}, {"pods", 110}}}));
  EXPECT_TRUE(Fits({1000, 0, 0, 1}));
  EXPECT_FALSE(Fits({1001, 0, 0, 1}));
}

TEST_F(KubernetesResources, Rule39CountsThePodThatAsksForNothing) {
  Apply(Added("m1", {.cpu = 1000, .pods = 1}));
  EXPECT_TRUE(Fits({0, 0, 0, 1}));
  Apply(ForeignPod("other", "m1", {}));
  EXPECT_FALSE(Fits({0, 0, 0, 1}));
}

TEST_F(KubernetesResources, Rule39LooksOnlyAtWhatIsRequested) {
  Apply(Added("m1", {.cpu = 1000, .memory = 8}));
  Apply(ForeignPod("other", "m1", {{"cpu", 2000}}));
  EXPECT_TRUE(Fits({0, 8, 0, 1}));
  EXPECT_FALSE(Fits({1, 8, 0, 1}));
}

TEST_F(KubernetesResources, Rule40ExtendedResourcesThatAreMissingAreZero) {
  Apply(Added("m1", {.cpu = 1000}));
  Resources gpu = *state_.FromNamed({{"nvidia.com/gpu", 1}});
  EXPECT_FALSE(Fits(gpu));
  Apply(Removed("m1"));
  Apply(Added("m1", {.cpu = 1000, .extended = {{"nvidia.com/gpu", 1}}}));
  EXPECT_TRUE(Fits(gpu));
}

TEST_F(KubernetesResources, Rule40ExtendedResourcesAreNotOvercommitted) {
  Apply(Added("m1", {.cpu = 1000, .extended = {{"nvidia.com/gpu", 2}}}));
  Apply(ForeignPod("other", "m1", {{"nvidia.com/gpu", 1}}));
  EXPECT_TRUE(Fits(*state_.FromNamed({{"nvidia.com/gpu", 1}})));
  EXPECT_FALSE(Fits(*state_.FromNamed({{"nvidia.com/gpu", 2}})));
}

TEST_F(KubernetesResources, Rule43EndedTasksFreeWhatTheyHeld) {
  for (const Command& end :
       {Command(Completed(1)), Command(Failed(1)), Command(Removed(1))}) {
    state_.Apply(Removed("m1"), 0);
    Apply(Added("m1", {.cpu = 1000}));
    Apply(Submitted(1, {.cpu = 600}));
    state_.Place({1}, state_.FindMachine("m1")->id, 0);
    EXPECT_FALSE(Fits({600, 0, 0, 1}));
    Apply(end);
    EXPECT_TRUE(Fits({600, 0, 0, 1}));
    if (state_.FindTask({1}) != nullptr) Apply(Removed(1));
  }
}

TEST_F(KubernetesResources, Rule43PodsOfOthersCountUntilTheyAreGone) {
  Apply(Added("m1", {.cpu = 1000}));
  Apply(ForeignPod("other", "m1", {{"cpu", 600}}));
  EXPECT_FALSE(Fits({600, 0, 0, 1}));
  Apply(RemoveForeignPod{"other"});
  EXPECT_TRUE(Fits({600, 0, 0, 1}));
}

// ---------------------------------------------------------------------------

TEST(KubernetesRules, EachHasARowOrAReason) {
  std::set<int> covered;
  for (const Elsewhere& rules : kElsewhere) {
    for (int rule = rules.first; rule <= rules.last; ++rule) {
      covered.insert(rule);
    }
  }
  const testing::UnitTest& unit_test = *testing::UnitTest::GetInstance();
  for (int i = 0; i < unit_test.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *unit_test.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const std::string name = suite.GetTestInfo(j)->name();
      const size_t at = name.find("Rule");
      if (at == std::string::npos) continue;
      const auto rule = ParseInt64(name.substr(at + 4, 2));
      if (rule.has_value()) covered.insert(static_cast<int>(*rule));
    }
  }
  for (int rule = 1; rule <= 53; ++rule) {
    EXPECT_TRUE(covered.contains(rule)) << "rule " << rule;
  }
}

}  // namespace
}  // namespace sluice
