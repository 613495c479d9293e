#include "rpc/convert_peers.h"

#include <glog/logging.h>
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/strings.h"
#include "util/rules_builder.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using firmament::TaskDescriptor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Requirements = std::vector<LabelRequirement>;

TaskIdentity Self() {
  return {.task_namespace = "shop",
          .labels = {{"app", "web"}, {"version", "7"}},
          .job = "web-job"};
}

TaskDescriptor Parse(const std::string& text) {
  TaskDescriptor task;
  // Merge: what is stated in two parts is there in both.
  CHECK(google::protobuf::TextFormat::MergeFromString(text, &task)) << text;
  return task;
}

PlacementRules RulesOf(const std::string& text, Faults* faults) {
  PlacementRules rules;
  EXPECT_THAT(AddPeerTerms(Parse(text), Self(), {}, &rules, faults), IsOk())
      << text;
  return rules;
}

// Of a description without faults.
PlacementRules RulesOf(const std::string& text) {
  Faults faults;
  PlacementRules rules = RulesOf(text, &faults);
  EXPECT_EQ(faults.Text(), "") << text;
  return rules;
}

std::string Required(const std::string& kind, const std::string& terms) {
  return "affinity { " + kind +
         " { requiredDuringSchedulingIgnoredDuringExecution { " + terms +
         " } } }";
}
std::string Near(const std::string& term) {
  return Required("pod_affinity", term);
}
std::string Apart(const std::string& term) {
  return Required("pod_anti_affinity", term);
}
std::string Preferred(const std::string& kind, const std::string& term) {
  return "affinity { " + kind +
         " { preferredDuringSchedulingIgnoredDuringExecution { " + term +
         " } } }";
}
std::string Spread(const std::string& constraint) {
  return "topology_spread_constraints { " + constraint + " }";
}

// In the task's own namespace, on the same machine.
PeerTerm Local(std::optional<Requirements> labels) {
  return {.tasks = {.labels = std::move(labels), .namespaces = {"shop"}}};
}
// Of a job in any namespace, on the same machine.
PeerTerm OfJob(std::string pattern) {
  return {.tasks = {.labels = Requirements(),
                    .namespace_labels = Requirements(),
                    .job = std::move(pattern)}};
}

TEST(ConvertPeers, SayNothingWhereNothingIsStated) {
  EXPECT_EQ(RulesOf(""), NoRules());
  EXPECT_EQ(RulesOf("affinity { pod_affinity {} pod_anti_affinity {} }"),
            NoRules());
}

// ---------------------------------------------------------------------------
// Selectors and terms

// Terms of the contract, and what they mean: of affinity and of anti-affinity.
TEST(ConvertPeers, ReadTerms) {
  const std::string any = "labelSelector {} ";
  const std::vector<std::pair<std::string, PeerTerm>> rows = {
      // What the Poseidon bridge makes of every matchLabels.
      {"labelSelector { matchLabels {} }", Local(Requirements())},
      {any, Local(Requirements())},
      {R"(labelSelector { matchLabels { key: "k" value: "v" } })",
       Local(Requirements{LabelIn("k", {"v"})})},
      {R"(labelSelector { match_labels_map { key: "b" value: "2" }
                          match_labels_map { key: "a" value: "" } })",
       Local(Requirements{LabelIn("a", {""}), LabelIn("b", {"2"})})},
      {R"(labelSelector {
            matchExpressions { key: "d" operator: "DoesNotExist" }
            matchExpressions { key: "c" operator: "Exists" }
            matchExpressions { key: "b" operator: "NotIn" values: "1" }
            matchExpressions { key: "a" operator: "In" values: "2" values: "1"
                               values: "2" } })",
       Local(Requirements{LabelIn("a", {"1", "2"}), LabelNotIn("b", {"1"}),
                          LabelExists("c"), LabelDoesNotExist("d")})},
      {any + R"(topologyKey: "zone")",
       {.tasks = {.labels = Requirements(), .namespaces = {"shop"}},
        .topology_key = "zone"}},
      {any + R"(namespaces: "b" namespaces: "a" namespaces: "b")",
       {.tasks = {.labels = Requirements(), .namespaces = {"a", "b"}}}},
      {any + "namespaceSelector {}",
       {.tasks = {.labels = Requirements(),
                  .namespace_labels = Requirements()}}},
      {any + R"(namespaceSelector {} namespaces: "a")",
       {.tasks = {.labels = Requirements(),
                  .namespace_labels = Requirements()}}},
      {any + R"(namespaces: "a" namespaceSelector {
                  match_labels_map { key: "env" value: "test" } })",
       {.tasks = {.labels = Requirements(),
                  .namespaces = {"a"},
                  .namespace_labels = Requirements{LabelIn("env", {"test"})}}}},
      {any + R"(matchLabelKeys: "version" matchLabelKeys: "missing"
                mismatchLabelKeys: "app" mismatchLabelKeys: "missing")",
       Local(Requirements{LabelNotIn("app", {"web"}),
                          LabelIn("version", {"7"})})}};
  for (const auto& [text, term] : rows) {
    EXPECT_THAT(RulesOf(Near(text)).affinity, ElementsAre(term)) << text;
    EXPECT_THAT(RulesOf(Apart(text)).anti_affinity, ElementsAre(term)) << text;
  }
}

TEST(ConvertPeers, AreEqualWhereTheyMeanTheSame) {
  EXPECT_EQ(RulesOf(Near(R"(labelSelector { matchExpressions {
                key: "app" operator: "In" values: "web" } })")),
            RulesOf(Near(R"(labelSelector {
                match_labels_map { key: "app" value: "web" } }
                matchLabelKeys: "app" namespaces: "shop")")));
  const std::string a = R"(labelSelector {} topologyKey: "a")";
  const std::string b = R"(labelSelector {} topologyKey: "b")";
  EXPECT_EQ(RulesOf(Apart(a) + Apart(b) + Apart(a)),
            RulesOf(Apart(b) + Apart(a)));
}

// A term that means no task, and what is said of it.
TEST(ConvertPeers, MakeWhatMakesNoSenseMeanNoTask) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", ""},
      {R"(matchLabelKeys: "app")",
       "matchLabelKeys or mismatchLabelKeys without labelSelector"},
      {R"(mismatchLabelKeys: "app")",
       "matchLabelKeys or mismatchLabelKeys without labelSelector"},
      {R"(labelSelector { matchExpressions { key: "k" operator: "Has" } })",
       "requirement on 'k': operator 'Has' is unknown"},
      {R"(labelSelector { matchExpressions {
            key: "k" operator: "Gt" values: "7" } })",
       "requirement on 'k': operator 'Gt' is for machines only"},
      {R"(labelSelector { match_labels_map { key: "" value: "v" } })",
       "requirement on '': its key is empty"},
      {R"(labelSelector {} namespaceSelector { matchExpressions {
            key: "k" operator: "Exists" values: "v" } })",
       "requirement on 'k': operator 'Exists' with values"}};
  for (const auto& [text, fault] : rows) {
    Faults faults;
    const PlacementRules near = RulesOf(Near(text), &faults);
    EXPECT_EQ(faults.Text(), fault) << text;
    ASSERT_EQ(near.affinity.size(), 1u) << "it can never be met: " << text;
    EXPECT_FALSE(Selects(near.affinity[0].tasks, Self())) << text;
    EXPECT_THAT(RulesOf(Apart(text), &faults).anti_affinity, IsEmpty()) << text;
    const std::string weighted = "weight: 5 podAffinityTerm { " + text + " }";
    EXPECT_THAT(
        RulesOf(Preferred("pod_affinity", weighted), &faults).preferred_peers,
        IsEmpty())
        << text;
  }
}

TEST(ConvertPeers, CountAPreferenceAsOftenAsItIsGiven) {
  const std::string any = " podAffinityTerm { labelSelector {} }";
  const PeerTerm term = Local(Requirements());
  EXPECT_THAT(
      RulesOf(Preferred("pod_affinity", "weight: 100" + any) +
              Preferred("pod_affinity", "weight: 1" + any) +
              Preferred("pod_affinity", "weight: 1" + any) +
              Preferred("pod_affinity", "weight: 0" + any) +
              Preferred("pod_anti_affinity", "weight: 0" + any) +
              Preferred("pod_anti_affinity", "weight: 100" + any))
          .preferred_peers,
      ElementsAre(WeightedPeerTerm{-100, term}, WeightedPeerTerm{1, term},
                  WeightedPeerTerm{1, term}, WeightedPeerTerm{100, term}));
}

// ---------------------------------------------------------------------------
// Topology spread

TEST(ConvertPeers, ReadSpreadConstraints) {
  const PeerTerm any = Local(Requirements());
  const std::string selector = "labelSelector {} ";
  const std::vector<std::pair<std::string, SpreadConstraint>> rows = {
      {selector, {.term = any}},
      {selector + "maxSkew: 3 minDomains: 4",
       {.term = any, .max_skew = 3, .min_domains = 4}},
      {selector + R"(whenUnsatisfiable: "DoNotSchedule"
                     nodeAffinityPolicy: "Honor" nodeTaintsPolicy: "Ignore")",
       {.term = any}},
      {selector + R"(whenUnsatisfiable: "ScheduleAnyway"
                     nodeAffinityPolicy: "Ignore" nodeTaintsPolicy: "Honor")",
       {.term = any,
        .is_required = false,
        .honors_node_affinity = false,
        .honors_taints = true}},
      {R"(topologyKey: "zone" matchLabelKeys: "version" labelSelector {
            match_labels_map { key: "app" value: "web" } })",
       {.term = {.tasks = {.labels = Requirements{LabelIn("app", {"web"}),
                                                  LabelIn("version", {"7"})},
                           .namespaces = {"shop"}},
                 .topology_key = "zone"}}},
      {R"(topologyKey: "zone")",
       {.term = {.tasks = {.namespaces = {"shop"}}, .topology_key = "zone"}}}};
  for (const auto& [text, spread] : rows) {
    EXPECT_THAT(RulesOf(Spread(text)).spread, ElementsAre(spread)) << text;
  }
  EXPECT_THAT(RulesOf(Spread(R"(whenUnsatisfiable: "ScheduleAnyway")")).spread,
              IsEmpty())
      << "nothing is counted";
}

TEST(ConvertPeers, NoteWhatASpreadConstraintCannotHave) {
  Faults faults;
  EXPECT_THAT(RulesOf(Spread(R"(labelSelector {} minDomains: 2
                                whenUnsatisfiable: "ScheduleAnyway")"),
                      &faults)
                  .spread,
              ElementsAre(SpreadConstraint{.term = Local(Requirements()),
                                           .is_required = false}));
  EXPECT_EQ(faults.Text(), "minDomains with ScheduleAnyway");
}

TEST(ConvertPeers, ReadMinimums) {
  const std::string own = "domain_minimums { topologyKey: 'zone' ";
  EXPECT_THAT(
      RulesOf(own + "atLeast: 2 }").minimums,
      ElementsAre(DomainMinimum{
          .term = {.tasks = OfJob("web-job").tasks, .topology_key = "zone"},
          .at_least = 2}));
  EXPECT_THAT(RulesOf("domain_minimums { labelSelector {} }").minimums,
              ElementsAre(DomainMinimum{.term = Local(Requirements())}));
  Faults faults;
  EXPECT_THAT(RulesOf(own + "labelSelector { match_labels_map { key: 'app' "
                            "value: 'db' } } }",
                      &faults)
                  .minimums,
              IsEmpty());
  EXPECT_EQ(faults.Text(),
            "domain_minimums: the selector does not select the task itself");
}

TEST(ConvertPeers, LeaveOutAMinimumAboveTheMaximum) {
  const std::string zone = "topologyKey: 'zone' ";
  Faults faults;
  const PlacementRules rules = RulesOf(
      "domain_minimums { " + zone + "atLeast: 5 } domain_maximums { " + zone +
          "atMost: 2 } domain_minimums { topologyKey: 'rack' atLeast: 3 }",
      &faults);
  EXPECT_THAT(rules.spread, SizeIs(1));
  ASSERT_THAT(rules.minimums, SizeIs(1)) << "other domains may have more";
  EXPECT_EQ(rules.minimums[0].term.topology_key, "rack");
  EXPECT_EQ(faults.Text(),
            "domain_minimums: at least 5 where domain_maximums allows 2");
  Faults none;
  EXPECT_THAT(
      RulesOf("domain_minimums { " + zone + "atLeast: 2 } domain_maximums { " +
                  zone + "atMost: 2 }",
              &none)
          .minimums,
      SizeIs(1));
  EXPECT_TRUE(none.empty());
}

TEST(ConvertPeers, BoundsOfEveryJobAreForTasksThatStateNone) {
  const auto rules_of = [](const std::string& text, TaskIdentity self) {
    const JobBounds bounds = {
        .topology_key = "rack", .at_least = 1, .at_most = 3};
    PlacementRules rules;
    Faults faults;
    EXPECT_THAT(AddPeerTerms(Parse(text), self, bounds, &rules, &faults),
                IsOk());
    return rules;
  };
  const PeerTerm own = {.tasks = OfJob("web-job").tasks,
                        .topology_key = "rack"};
  const PlacementRules plain = rules_of("", Self());
  EXPECT_THAT(plain.minimums,
              ElementsAre(DomainMinimum{.term = own, .at_least = 1}));
  EXPECT_THAT(plain.spread, ElementsAre(SpreadConstraint{
                                .term = own,
                                .max_skew = 3,
                                .min_domains = SpreadConstraint::kFromEmpty,
                                .honors_node_affinity = false}));
  const PlacementRules stated = rules_of(
      "domain_minimums { atLeast: 7 } domain_maximums { atMost: 8 }", Self());
  ASSERT_EQ(stated.minimums.size(), 1u);
  EXPECT_EQ(stated.minimums[0].at_least, 7);
  ASSERT_EQ(stated.spread.size(), 1u);
  EXPECT_EQ(stated.spread[0].max_skew, 8);
  const PlacementRules global = rules_of("global: ONE_A_MACHINE", Self());
  EXPECT_THAT(global.minimums, IsEmpty());
  EXPECT_THAT(global.spread, IsEmpty());
  TaskIdentity nobody = Self();
  nobody.job = {};
  EXPECT_THAT(rules_of("", nobody).minimums, IsEmpty());
  EXPECT_THAT(rules_of("", nobody).spread, IsEmpty());
}

TEST(ConvertPeers, ReadMaximumsAsSpreadsThatRiseFromNothing) {
  const std::string own = "domain_maximums { topologyKey: 'zone' ";
  EXPECT_THAT(
      RulesOf(own + "atMost: 2 }").spread,
      ElementsAre(SpreadConstraint{
          .term = {.tasks = OfJob("web-job").tasks, .topology_key = "zone"},
          .max_skew = 2,
          .min_domains = SpreadConstraint::kFromEmpty,
          .honors_node_affinity = false}));
  EXPECT_THAT(RulesOf(Spread("labelSelector {}") +
                      "domain_maximums { labelSelector {} }")
                  .spread,
              testing::SizeIs(2));
  Faults faults;
  EXPECT_THAT(RulesOf(own + "labelSelector { match_labels_map { key: 'app' "
                            "value: 'db' } } }",
                      &faults)
                  .spread,
              IsEmpty());
  EXPECT_EQ(faults.Text(),
            "domain_maximums: the selector does not select the task itself");
}

// ---------------------------------------------------------------------------
// Fleet's

TEST(ConvertPeers, ReadPatternsOfJobsInOneForm) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"db-*", "db-*"},  {"*", ""},      {"***", ""},
      {"db-**", "db-*"}, {"*?a", "?*a"}, {"?**?", "??*"},
      {"a*?*b", "a?*b"}, {"*a*", "*a*"}, {"db", "db"}};
  for (const auto& [given, pattern] : rows) {
    EXPECT_THAT(RulesOf("conflicts: '" + given + "'").anti_affinity,
                ElementsAre(OfJob(pattern)))
        << given;
    EXPECT_THAT(RulesOf("machine_of: '" + given + "'").affinity,
                ElementsAre(OfJob(pattern)))
        << given;
  }
  EXPECT_THAT(
      RulesOf("conflicts: 'b' conflicts: 'a' conflicts: 'b'").anti_affinity,
      ElementsAre(OfJob("a"), OfJob("b")));
}

TEST(ConvertPeers, TakeAnEmptyPatternForNoJob) {
  Faults faults;
  EXPECT_THAT(RulesOf("conflicts: ''", &faults).anti_affinity, IsEmpty());
  EXPECT_EQ(faults.Text(), "conflicts: a pattern is empty");
  EXPECT_THAT(RulesOf("machine_of: ''", &faults).affinity,
              ElementsAre(PeerTerm()));
}

TEST(ConvertPeers, KeepTheTasksOfAGlobalJobApart) {
  EXPECT_EQ(RulesOf("global: NOT_GLOBAL"), NoRules());
  for (const char* global : {"ONE_A_MACHINE", "EVERYWHERE_AT_ONCE"}) {
    EXPECT_THAT(RulesOf(StrCat("global: ", global)).anti_affinity,
                ElementsAre(OfJob("web-job")));
  }
  TaskIdentity self = Self();
  self.job = "web*";
  PlacementRules rules;
  Faults faults;
  ASSERT_TRUE(
      AddPeerTerms(Parse("global: ONE_A_MACHINE"), self, {}, &rules, &faults)
          .ok());
  EXPECT_THAT(rules.anti_affinity, ElementsAre(OfJob("web\\*")));
}

TEST(ConvertPeers, TellTaskZeroFromNoneToReplace) {
  EXPECT_EQ(RulesOf("").replaces, std::nullopt);
  EXPECT_EQ(RulesOf("replaces: 0").replaces, TaskUid{0});
  EXPECT_EQ(RulesOf("replaces: 7").replaces, TaskUid{7});
  EXPECT_FALSE(RulesOf("replaces: 7").replaces_anywhere);
  EXPECT_TRUE(RulesOf("replaces: 7 replaces_anywhere: true").replaces_anywhere);
  Faults faults;
  EXPECT_EQ(RulesOf("replaces_anywhere: true", &faults), NoRules());
  EXPECT_EQ(faults.Text(), "replaces_anywhere without replaces");
}

// ---------------------------------------------------------------------------
// Errors

TEST(ConvertPeers, RefuseWhatIsOutOfRangeAndNameIt) {
  const std::string huge(kNameBytesMax + 1, 'x');
  const std::string any = "labelSelector {} ";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {Preferred("pod_affinity", "weight: 101"),
       "preferred weight: 101 is not in 0 to 100"},
      {Preferred("pod_anti_affinity", "weight: -1"),
       "preferred weight: -1 is not in 0 to 100"},
      {Spread("maxSkew: -1"), "maxSkew: -1 < 0"},
      {Spread("minDomains: -7"), "minDomains: -7 < 0"},
      {Spread("whenUnsatisfiable: 'Never'"),
       "whenUnsatisfiable: 'Never' is neither DoNotSchedule nor "
       "ScheduleAnyway"},
      {Spread("nodeAffinityPolicy: 'honor'"),
       "nodeAffinityPolicy: 'honor' is neither Honor nor Ignore"},
      {Spread("nodeTaintsPolicy: 'x'"),
       "nodeTaintsPolicy: 'x' is neither Honor nor Ignore"},
      {"global: 7", "global: 7 is unknown"},
      {"domain_minimums { atLeast: -1 }", "atLeast: -1 < 0"},
      {"domain_maximums { atMost: -1 }", "atMost: -1 < 0"},
      {"domain_minimums { topologyKey: '" + huge + "' }",
       "topologyKey: 4097 bytes"},
      {Near("topologyKey: '" + huge + "'"), "topologyKey: 4097 bytes"},
      {Spread("topologyKey: '" + huge + "'"), "topologyKey: 4097 bytes"},
      {Near("namespaces: '" + huge + "'"),
       "namespace of a term: 4097 bytes, at most 4096"},
      {Near(any + "namespaceSelector { match_labels_map { key: '" + huge +
            "' } }"),
       "key of a requirement: 4097 bytes"},
      {"conflicts: '" + huge + "'", "conflicts: 4097 bytes, at most 512"},
      {"machine_of: '" + huge + "'", "machine_of: 4097 bytes, at most 512"}};
  for (const auto& [text, error] : rows) {
    PlacementRules rules;
    Faults faults;
    TaskDescriptor task;
    if (text == "global: 7") {
      task.set_global(static_cast<TaskDescriptor::Global>(7));
    } else {
      task = Parse(text);
    }
    EXPECT_THAT(AddPeerTerms(task, Self(), {}, &rules, &faults),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(error)))
        << text;
  }
}

TEST(ConvertPeers, RefuseAGlobalTaskOfAJobWithoutAName) {
  TaskIdentity self = Self();
  self.job = "";
  PlacementRules rules;
  Faults faults;
  const TaskDescriptor task = Parse("global: ONE_A_MACHINE");
  EXPECT_THAT(AddPeerTerms(task, self, {}, &rules, &faults),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "global: its job has no name"));
  self.job = std::string(kPatternBytesMax + 1, 'x');
  EXPECT_THAT(AddPeerTerms(task, self, {}, &rules, &faults),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("job name of a global task: 513 bytes")));
}

TEST(ConvertPeers, BoundEveryList) {
  const auto many = [](size_t max, const std::function<std::string(int)>& one) {
    std::string text;
    for (size_t i = 0; i <= max; ++i) text += one(static_cast<int>(i));
    return text;
  };
  const auto key = [](int i) {
    return StrCat("labelSelector {} topologyKey: '", i, "'");
  };
  const std::vector<std::pair<std::string, std::string>> rows = {
      {many(kAffinityTermsMax, [&](int i) { return Near(key(i)); }),
       "required pod_affinity and machine_of: more than 256"},
      {many(kAffinityTermsMax,
            [&](int i) { return StrCat("conflicts: '", i, "'"); }),
       "required pod_anti_affinity and conflicts: more than 256"},
      {many(kAffinityTermsMax, [&](int i) { return Spread(key(i)); }),
       "topology_spread_constraints and domain_maximums: more than 256"},
      {many(kAffinityTermsMax,
            [&](int i) {
              return Preferred("pod_affinity",
                               "weight: 1 podAffinityTerm {" + key(i) + "}");
            }),
       "preferred terms: more than 256"},
      {Near(many(kNamespacesMax,
                 [](int i) { return StrCat("namespaces: '", i, "'"); })),
       "namespaces: more than 1024"},
      {Near("labelSelector {" +
            many(kRequirementsMax,
                 [](int i) {
                   return StrCat("match_labels_map { key: 'k", i, "' }");
                 }) +
            "}"),
       "labelSelector: more than 256"}};
  for (const auto& [text, error] : rows) {
    PlacementRules rules;
    Faults faults;
    EXPECT_THAT(AddPeerTerms(Parse(text), Self(), {}, &rules, &faults),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(error)));
  }
}

}  // namespace
}  // namespace sluice
