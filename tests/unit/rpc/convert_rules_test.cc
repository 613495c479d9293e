#include "rpc/convert_rules.h"

#include <glog/logging.h>
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/rng.h"
#include "base/strings.h"
#include "messages/fields.h"
#include "util/cluster_builder.h"
#include "util/drawn_rules.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using firmament::ResourceDescriptor;
using firmament::TaskDescriptor;
using firmament::TaskRules;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

template <class Message>
Message Parse(const std::string& text) {
  Message message;
  CHECK(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

PlacementRules RulesOf(const std::string& text, Faults* faults) {
  absl::StatusOr<PlacementRules> rules =
      ToPlacementRules(Parse<TaskDescriptor>(text), faults);
  EXPECT_THAT(rules, IsOk()) << text;
  return rules.ok() ? *std::move(rules) : PlacementRules();
}

// Of a description without faults.
PlacementRules RulesOf(const std::string& text) {
  Faults faults;
  PlacementRules rules = RulesOf(text, &faults);
  EXPECT_EQ(faults.Text(), "") << text;
  return rules;
}

std::string Required(const std::string& terms) {
  return "affinity { node_affinity { "
         "requiredDuringSchedulingIgnoredDuringExecution { " +
         terms + " } } }";
}
std::string Expression(const std::string& requirement) {
  return Required("nodeSelectorTerms { matchExpressions { " + requirement +
                  " } }");
}
std::string Field(const std::string& requirement) {
  return Required("nodeSelectorTerms { matchFields { " + requirement + " } }");
}
std::string Preferred(const std::string& terms) {
  return "affinity { node_affinity { "
         "preferredDuringSchedulingIgnoredDuringExecution { " +
         terms + " } } }";
}

// ---------------------------------------------------------------------------
// Requirements

TEST(ConvertRules, SayNothingWhereNothingIsStated) {
  EXPECT_EQ(RulesOf(""), NoRules());
  EXPECT_EQ(RulesOf(Required("")), NoRules())
      << "the bridge sends this where a pod has preferences alone";
}

TEST(ConvertRules, ReadAllTypesOfSelectors) {
  const std::vector<std::pair<std::string, LabelRequirement>> rows = {
      {R"(type: IN_SET key: "k" values: "b" values: "a" values: "b")",
       LabelIn("k", {"a", "b"})},
      {R"(type: NOT_IN_SET key: "k" values: "a")", LabelNotIn("k", {"a"})},
      {R"(type: EXISTS_KEY key: "k")", LabelExists("k")},
      {R"(type: NOT_EXISTS_KEY key: "k")", LabelDoesNotExist("k")},
      {R"(type: GREATER_THAN key: "k" values: "7")", LabelAbove("k", 7)},
      {R"(type: LESSER_THAN key: "k" values: "-7")", LabelBelow("k", -7)}};
  for (const auto& [text, requirement] : rows) {
    EXPECT_THAT(RulesOf("label_selectors { " + text + " }").selectors,
                ElementsAre(requirement))
        << text;
  }
}

TEST(ConvertRules, ReadAllOperatorsOfExpressions) {
  const std::vector<std::pair<std::string, LabelRequirement>> rows = {
      {R"(key: "k" operator: "In" values: "")", LabelIn("k", {""})},
      {R"(key: "k" operator: "NotIn" values: "b" values: "a")",
       LabelNotIn("k", {"a", "b"})},
      {R"(key: "k" operator: "Exists")", LabelExists("k")},
      {R"(key: "k" operator: "DoesNotExist")", LabelDoesNotExist("k")},
      {R"(key: "k" operator: "Gt" values: "+007")", LabelAbove("k", 7)},
      {R"(key: "k" operator: "Lt" values: "-9223372036854775808")",
       LabelBelow("k", INT64_MIN)}};
  for (const auto& [text, requirement] : rows) {
    EXPECT_THAT(RulesOf(Expression(text)).required,
                ElementsAre(NodeTerm{.labels = {requirement}, .fields = {}}))
        << text;
  }
}

TEST(ConvertRules, ReadTheNameOfTheMachine) {
  EXPECT_THAT(
      RulesOf(Field(R"(key: "metadata.name" operator: "In" values: "n1")"))
          .required,
      ElementsAre(NodeTerm{.labels = {}, .fields = {NameIs("n1")}}));
  EXPECT_THAT(
      RulesOf(Field(R"(key: "metadata.name" operator: "NotIn" values: "n1")"))
          .required,
      ElementsAre(NodeTerm{.labels = {}, .fields = {NameIsNot("n1")}}));
}

TEST(ConvertRules, ReadMachineMetadataAsSelectors) {
  EXPECT_THAT(RulesOf(R"(machine_metadata: "zone=b" machine_metadata: "disk=ssd"
                 machine_metadata: "zone=a" machine_metadata: "zone=b"
                 machine_metadata: "note=x=y"
                 label_selectors { key: "disk" values: "ssd" })")
                  .selectors,
              ElementsAre(LabelIn("disk", {"ssd"}), LabelIn("note", {"x=y"}),
                          LabelIn("zone", {"a", "b"})));
}

TEST(ConvertRules, DemandTheMachineInEveryTerm) {
  const LabelRequirement is_m = LabelIn("machine_id", {"m"});
  EXPECT_THAT(RulesOf("machine_id: 'm'").required,
              ElementsAre(NodeTerm{.labels = {}, .fields = {is_m}}));
  const std::string terms = R"(
      nodeSelectorTerms {}
      nodeSelectorTerms { matchExpressions { key: "b" operator: "Exists" } }
      nodeSelectorTerms { matchFields {
          key: "metadata.name" operator: "In" values: "n" } })";
  EXPECT_THAT(
      RulesOf("machine_id: 'm'" + Required(terms)).required,
      ElementsAre(NodeTerm(),
                  NodeTerm{.labels = {}, .fields = {is_m, NameIs("n")}},
                  NodeTerm{.labels = {LabelExists("b")}, .fields = {is_m}}));
  EXPECT_EQ(
      RulesOf("machine_id: 'm'" + Required("nodeSelectorTerms {}")).required,
      std::vector{NodeTerm()})
      << "it matched no machine before";
}

// A requirement that makes no sense, and what is said of it.
struct SenselessRow {
  std::string task;
  std::string what;
};

TEST(ConvertRules, MakeWhatMakesNoSenseHoldNowhere) {
  const std::vector<SenselessRow> rows = {
      {R"(label_selectors { type: 9 key: "k" values: "a" })",
       "type 9 is unknown"},
      {R"(label_selectors { key: "k" })", "type IN_SET without values"},
      {R"(machine_metadata: "k")", "machine_metadata without '='"},
      {R"(machine_metadata: "=v")", "its key is empty"},
      {Expression(R"(key: "k" operator: "Has" values: "a")"),
       "operator 'Has' is unknown"},
      {Expression(R"(key: "k" operator: "in" values: "a")"),
       "operator 'in' is unknown"},
      {Expression(R"(key: "k" values: "a")"), "operator '' is unknown"},
      {Expression(R"(key: "k" operator: "In")"),
       "operator 'In' without values"},
      {Expression(R"(key: "k" operator: "NotIn")"),
       "operator 'NotIn' without values"},
      {Expression(R"(key: "k" operator: "Exists" values: "")"),
       "operator 'Exists' with values"},
      {Expression(R"(key: "k" operator: "DoesNotExist" values: "a")"),
       "operator 'DoesNotExist' with values"},
      {Expression(R"(key: "k" operator: "Gt")"),
       "operator 'Gt' with 0 values, not one"},
      {Expression(R"(key: "k" operator: "Gt" values: "1" values: "1")"),
       "operator 'Gt' with 2 values, not one"},
      {Expression(R"(key: "k" operator: "Lt" values: "1.5")"),
       "operator 'Lt' with '1.5', which is not a 64-bit integer"},
      {Expression(R"(key: "k" operator: "Lt" values: "9223372036854775808")"),
       "operator 'Lt' with '9223372036854775808', which is not a 64-bit "
       "integer"},
      {Field(R"(key: "k" operator: "In" values: "n1")"),
       "the only field is metadata.name"},
      {Field(R"(key: "metadata.name" operator: "Exists")"),
       "operator 'Exists' is neither In nor NotIn"},
      {Field(R"(key: "metadata.name" operator: "In" values: "a" values: "b")"),
       "operator 'In' with 2 values, not one"}};
  for (const SenselessRow& row : rows) {
    Faults faults;
    const PlacementRules rules = RulesOf(row.task, &faults);
    std::vector<LabelRequirement> all = rules.selectors;
    for (const NodeTerm& term : rules.required) {
      all.insert(all.end(), term.labels.begin(), term.labels.end());
      all.insert(all.end(), term.fields.begin(), term.fields.end());
    }
    ASSERT_THAT(all, SizeIs(1)) << row.task;
    EXPECT_EQ(all[0], LabelInvalid(all[0].key, row.what)) << row.task;
    EXPECT_EQ(faults.Text(),
              StrCat("requirement on '", all[0].key, "': ", row.what))
        << row.task;
  }
}

TEST(ConvertRules, TakeAKeyThatIsEmptyForNone) {
  Faults faults;
  const PlacementRules rules =
      RulesOf(Expression(R"(operator: "DoesNotExist")"), &faults);
  EXPECT_THAT(
      rules.required,
      ElementsAre(NodeTerm{.labels = {LabelInvalid("", "its key is empty")},
                           .fields = {}}));
  EXPECT_EQ(faults.Text(), "requirement on '': its key is empty");
}

TEST(ConvertRules, KeepTheRestWhereSomethingMakesNoSense) {
  Faults faults;
  const PlacementRules rules = RulesOf(
      R"(label_selectors { key: "disk" values: "ssd" }
         label_selectors { key: "gpu" type: 9 }
         toleration { key: "k" operator: "Exists" }
         toleration { key: "k" operator: "Gt" }
         toleration { key: "k" effect: "Foo" })",
      &faults);
  EXPECT_THAT(rules.selectors,
              ElementsAre(LabelIn("disk", {"ssd"}), LabelInvalid("gpu",
                                                                 "type 9 is "
                                                                 "unknown")));
  EXPECT_THAT(rules.tolerations, SizeIs(3));
  EXPECT_EQ(faults.Text(),
            "requirement on 'gpu': type 9 is unknown (and 2 more)");
}

// ---------------------------------------------------------------------------
// One form

TEST(ConvertRules, AreEqualWhereTheyMeanTheSame) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"(label_selectors { key: "a" values: "1" values: "2" }
          label_selectors { key: "b" values: "1" })",
       R"(label_selectors { key: "b" values: "1" }
          label_selectors { key: "a" values: "2" values: "1" }
          label_selectors { key: "b" values: "1" })"},
      {Required(R"(
         nodeSelectorTerms { matchExpressions { key: "a" operator: "Exists" }
                             matchExpressions { key: "b" operator: "Exists" } }
         nodeSelectorTerms { matchExpressions { key: "c" operator: "Exists" } })"),
       Required(R"(
         nodeSelectorTerms { matchExpressions { key: "c" operator: "Exists" } }
         nodeSelectorTerms { matchExpressions { key: "b" operator: "Exists" }
                             matchExpressions { key: "a" operator: "Exists" } }
         nodeSelectorTerms { matchExpressions { key: "c" operator: "Exists" } })")},
      {R"(toleration { key: "a" value: "b" } toleration { key: "c" })",
       R"(toleration { key: "c" operator: "Equal" }
          toleration { key: "a" operator: "Equal" value: "b" }
          toleration { key: "a" value: "b" })"},
      {R"(toleration { key: "a" operator: "Exists" effect: "NoSchedule" })",
       R"(toleration { key: "a" operator: "Exists" effect: "NoSchedule"
                       value: "ignored" tolerationSeconds: 5 })"},
      {R"(host_ports { port: 80 } host_ports { port: 81 protocol: "UDP" })",
       R"(host_ports { port: 81 protocol: "UDP" address: "0.0.0.0" }
          host_ports { port: 80 protocol: "TCP" } host_ports { port: 80 }
          host_ports { address: "10.0.0.1" })"},
  };
  for (const auto& [a, b] : rows) {
    EXPECT_EQ(RulesOf(a), RulesOf(b)) << a << "\n" << b;
    EXPECT_NE(RulesOf(a), NoRules()) << a;
  }
}

TEST(ConvertRules, KeepATermWithoutConditionsWhichMatchesNothing) {
  EXPECT_THAT(RulesOf(Required("nodeSelectorTerms {}")).required,
              ElementsAre(NodeTerm()));
}

TEST(ConvertRules, AddUpPreferencesAndDropThoseThatAddNothing) {
  const std::string ssd =
      R"(preference { matchExpressions { key: "disk" operator: "Exists" } })";
  EXPECT_THAT(RulesOf(Preferred("weight: 0 " + ssd)).preferred, IsEmpty());
  EXPECT_THAT(RulesOf(Preferred("weight: 100")).preferred, IsEmpty());
  TaskDescriptor twice;
  for (const char* weight : {"7", "3", "7"}) {
    twice.MergeFrom(
        Parse<TaskDescriptor>(Preferred(StrCat("weight: ", weight, " ", ssd))));
  }
  const NodeTerm term{.labels = {LabelExists("disk")}, .fields = {}};
  Faults faults;
  EXPECT_THAT(ToPlacementRules(twice, &faults)->preferred,
              ElementsAre(PreferredTerm{3, term}, PreferredTerm{7, term},
                          PreferredTerm{7, term}));
}

// ---------------------------------------------------------------------------
// Tolerations

TEST(ConvertRules, ReadTolerations) {
  const std::vector<std::pair<std::string, Toleration>> rows = {
      {R"(key: "k" value: "v")", {.key = "k", .value = "v"}},
      {R"(key: "k" operator: "Equal" effect: "NoSchedule")",
       {.key = "k", .effect = TaintEffect::kNoSchedule}},
      {R"(operator: "Exists" effect: "PreferNoSchedule")",
       {.op = TolerationOperator::kExists,
        .effect = TaintEffect::kPreferNoSchedule}},
      {R"(key: "k" operator: "Exists" effect: "NoExecute"
          tolerationSeconds: 300)",
       {.key = "k",
        .op = TolerationOperator::kExists,
        .effect = TaintEffect::kNoExecute,
        .seconds = 300}},
      {R"(key: "k" operator: "Exists" tolerationSeconds: 0)",
       {.key = "k", .op = TolerationOperator::kExists, .seconds = 0}},
      {R"(key: "k" tolerationSeconds: -5)", {.key = "k", .seconds = -5}}};
  for (const auto& [text, toleration] : rows) {
    EXPECT_THAT(RulesOf("toleration { " + text + " }").tolerations,
                ElementsAre(toleration))
        << text;
  }
}

TEST(ConvertRules, MakeTolerationsThatMakeNoSenseTolerateNothing) {
  const std::vector<SenselessRow> rows = {
      {R"(key: "k" operator: "Foo" value: "v")",
       "toleration of 'k': operator 'Foo' is unknown"},
      {R"(value: "v")", "toleration of '': operator 'Equal' without a key"}};
  for (const auto& [text, what] : rows) {
    Faults faults;
    const PlacementRules rules =
        RulesOf("toleration { " + text + " }", &faults);
    ASSERT_THAT(rules.tolerations, SizeIs(1));
    EXPECT_EQ(rules.tolerations[0].op, TolerationOperator::kUnknown);
    EXPECT_EQ(faults.Text(), what);
  }
  Faults faults;
  EXPECT_THAT(
      RulesOf(R"(toleration { key: "k" effect: "No" })", &faults).tolerations,
      ElementsAre(Toleration{.key = "k", .effect = TaintEffect::kUnknown}));
  EXPECT_EQ(faults.Text(), "toleration of 'k': effect 'No' is unknown");
}

// The bridge repeats what it sent before with each update.
TEST(ConvertRules, CountTolerationsThatAreRepeatedOnce) {
  TaskDescriptor task;
  for (size_t i = 0; i < 3 * kTolerationsMax; ++i) {
    task.add_toleration()->set_key(i % 2 == 0 ? "a" : "b");
  }
  Faults faults;
  EXPECT_THAT(ToPlacementRules(task, &faults)->tolerations, SizeIs(2));
}

// ---------------------------------------------------------------------------
// Host ports and bounds

TEST(ConvertRules, ReadHostPorts) {
  EXPECT_THAT(
      RulesOf(R"(host_ports { port: 65535 }
                         host_ports { port: 1 protocol: "SCTP" address: "::1" }
                         host_ports { port: 53 protocol: "UDP" })")
          .host_ports,
      ElementsAre(HostPort{"SCTP", "::1", 1}, TcpPort(65535), UdpPort(53)));
}

struct TaskFault {
  const char* name;
  std::function<void(TaskDescriptor*)> break_it;
  std::string reason;
};

const std::vector<TaskFault>& TaskFaults() {
  const std::string huge(kLabelBytesMax + 1, 'x');
  const auto required = [](TaskDescriptor* task) {
    return task->mutable_affinity()
        ->mutable_node_affinity()
        ->mutable_requiredduringschedulingignoredduringexecution();
  };
  const auto prefer = [](TaskDescriptor* task, int weight) {
    auto* term = task->mutable_affinity()
                     ->mutable_node_affinity()
                     ->add_preferredduringschedulingignoredduringexecution();
    term->set_weight(weight);
    term->mutable_preference()->add_matchexpressions()->set_key("k");
  };
  static const std::vector<TaskFault> faults = {
      {"Weight101", [=](auto* task) { prefer(task, 101); },
       "preferred weight: 101 is not in 0 to 100"},
      {"WeightNegative", [=](auto* task) { prefer(task, -1); },
       "preferred weight: -1 is not in 0 to 100"},
      {"Port65536", [](auto* task) { task->add_host_ports()->set_port(65536); },
       "host_ports: port 65536 is not in 0 to 65535"},
      {"PortNegative", [](auto* task) { task->add_host_ports()->set_port(-1); },
       "host_ports: port -1 is not in 0 to 65535"},
      {"Protocol",
       [](auto* task) { task->add_host_ports()->set_protocol("tcp"); },
       "host_ports: protocol 'tcp' is not TCP, UDP or SCTP"},
      {"AddressTooLong",
       [=](auto* task) { task->add_host_ports()->set_address(huge); },
       "address of a host port: 4097 bytes, at most 4096"},
      {"KeyTooLong",
       [=](auto* task) { task->add_label_selectors()->set_key(huge); },
       "key of a requirement: 4097 bytes, at most 4096"},
      {"ValueTooLong",
       [=](auto* task) { task->add_label_selectors()->add_values(huge); },
       "requirement on '': value: 4097 bytes, at most 4096"},
      {"TolerationTooLong",
       [=](auto* task) { task->add_toleration()->set_key(huge); },
       "key of a toleration: 4097 bytes"},
      {"TolerationValueTooLong",
       [=](auto* task) { task->add_toleration()->set_value(huge); },
       "toleration of '': value: 4097 bytes"},
      {"Requirements",
       [](auto* task) {
         for (size_t i = 0; i <= kRequirementsMax; ++i) {
           task->add_label_selectors()->set_key(StrCat(i));
         }
       },
       "label_selectors and machine_metadata: more than 256 of them"},
      {"MachineIdTooLong", [=](auto* task) { task->set_machine_id(huge); },
       "machine_id: 4097 bytes"},
      {"MetadataTooLong", [=](auto* task) { task->add_machine_metadata(huge); },
       "machine_metadata: 4097 bytes"},
      {"MetadataValueTooLong",
       [=](auto* task) { task->add_machine_metadata("k=" + huge); },
       "requirement on 'k': value: 4097 bytes"},
      {"Expressions",
       [=](auto* task) {
         auto* term = required(task)->add_nodeselectorterms();
         for (size_t i = 0; i <= kRequirementsMax; ++i) {
           term->add_matchexpressions()->set_key(StrCat(i));
         }
       },
       "matchExpressions: more than 256 of them"},
      {"Values",
       [](auto* task) {
         auto* selector = task->add_label_selectors();
         selector->set_key("k");
         for (size_t i = 0; i <= kRequirementValuesMax; ++i) {
           selector->add_values(StrCat(i));
         }
       },
       "requirement on 'k': values: more than 4096 of them"},
      {"Terms",
       [=](auto* task) {
         for (size_t i = 0; i <= kAffinityTermsMax; ++i) {
           required(task)
               ->add_nodeselectorterms()
               ->add_matchexpressions()
               ->set_key(StrCat(i));
         }
       },
       "nodeSelectorTerms: more than 256 of them"},
      {"PreferredTerms",
       [=](auto* task) {
         for (size_t i = 0; i <= kAffinityTermsMax; ++i) prefer(task, 1);
       },
       "preferred terms: more than 256 of them"},
      {"Tolerations",
       [](auto* task) {
         for (size_t i = 0; i <= kTolerationsMax; ++i) {
           task->add_toleration()->set_key(StrCat(i));
         }
       },
       "toleration: more than 1024 of them"},
      {"Ports",
       [](auto* task) {
         for (size_t i = 0; i <= kHostPortsMax; ++i) {
           task->add_host_ports()->set_port(static_cast<int32_t>(i) + 1);
         }
       },
       "host_ports: more than 1024 of them"}};
  return faults;
}

TEST(ConvertRules, RefuseWhatIsOutOfRangeAndNameTheBound) {
  for (const TaskFault& fault : TaskFaults()) {
    TaskDescriptor task;
    fault.break_it(&task);
    Faults faults;
    EXPECT_THAT(
        ToPlacementRules(task, &faults),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(fault.reason)))
        << fault.name;
  }
}

// ---------------------------------------------------------------------------
// TaskRules, of every kind that there is

TEST(ConvertTaskRules, TakeEveryKind) {
  Rng rng(/*seed=*/1);
  for (int i = 0; i < 100; ++i) {
    PlacementRules rules;
    DrawTaskRules(&rng, &rules);
    TaskDescriptor task;
    WriteFields(rules, task.mutable_rules());
    // Neither twice nor in another order does it say more.
    task.mutable_rules()->MergeFrom(firmament::TaskRules(task.rules()));
    Faults faults;
    EXPECT_EQ(*ToPlacementRules(task, &faults), rules);
    EXPECT_TRUE(faults.empty());
  }
}

void ExpectRefused(const TaskDescriptor& task, const std::string& reason) {
  Faults faults;
  EXPECT_THAT(ToPlacementRules(task, &faults),
              StatusIs(absl::StatusCode::kInvalidArgument, reason));
}

// A newer client may know more kinds of rules, and more about each.
TEST(ConvertTaskRules, RefuseWhatTheyDoNotKnow) {
  TaskDescriptor task;
  TaskRules* rules = task.mutable_rules();
  const auto& reflection = *TaskRules::GetReflection();
  reflection.MutableUnknownFields(rules)->AddVarint(1000, 1);
  ExpectRefused(task, "rules: a field of it is unknown");
  reflection.MutableUnknownFields(rules)->Clear();
  const auto* kind = TaskRules::GetDescriptor()->field(0);
  google::protobuf::Message* rule = reflection.AddMessage(rules, kind);
  rule->GetReflection()->MutableUnknownFields(rule)->AddVarint(1000, 1);
  ExpectRefused(task, "rules: " + kind->name() + ": a field of it is unknown");
}

TEST(ConvertTaskRules, HaveBounds) {
  const auto& reflection = *TaskRules::GetReflection();
  const auto* kind = TaskRules::GetDescriptor()->field(0);
  TaskDescriptor task;
  google::protobuf::Message* rule =
      reflection.AddMessage(task.mutable_rules(), kind);
  const auto* text = rule->GetDescriptor()->field(0);
  rule->GetReflection()->SetString(rule, text,
                                   std::string(kLabelBytesMax + 1, 'x'));
  ExpectRefused(task, "rules: " + kind->name() + ": " + text->name() +
                          ": 4097 bytes, at most 4096 are allowed");
  task.clear_rules();
  for (size_t i = 0; i <= kAffinityTermsMax; ++i) {
    reflection.AddMessage(task.mutable_rules(), kind);
  }
  ExpectRefused(task, "rules: " + kind->name() + ": more than 256 of them");
}

TEST(ConvertRules, KeepTheOwner) {
  TaskDescriptor task;
  EXPECT_TRUE(ToOwner(task)->empty());
  task.set_owner_ref_kind("ReplicaSet");
  task.set_owner_ref_uid("u");
  EXPECT_EQ(*ToOwner(task), (Owner{"ReplicaSet", "u"}));
  task.set_owner_ref_uid(std::string(kLabelBytesMax + 1, 'x'));
  EXPECT_THAT(ToOwner(task), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("owner_ref_uid: 4097 bytes")));
}

// ---------------------------------------------------------------------------
// Machines

std::vector<Taint> TaintsOf(const std::string& text, Faults* faults) {
  return *ToTaints(Parse<ResourceDescriptor>(text), faults);
}
std::vector<Taint> TaintsOf(const std::string& text) {
  Faults faults;
  std::vector<Taint> taints = TaintsOf(text, &faults);
  EXPECT_EQ(faults.Text(), "");
  return taints;
}

TEST(ConvertTaints, AreInOrderAndNoneTwice) {
  EXPECT_THAT(
      TaintsOf(R"(taints { key: "b" effect: "NoSchedule" }
                          taints { key: "a" value: "v" effect: "NoExecute" }
                          taints { key: "b" effect: "NoSchedule" }
                          taints { key: "b" effect: "PreferNoSchedule" })"),
      ElementsAre(NoExecute("a", "v"), NoSchedule("b"), PreferNoSchedule("b")));
}

TEST(ConvertTaints, SayWhatIsUnschedulableOrInABadCondition) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"unschedulable: true", "unschedulable"},
      {R"(conditions { type: "Ready" status: "False" })", "not-ready"},
      {R"(conditions { type: "Ready" status: "Unknown" })", "unreachable"},
      {R"(conditions { type: "MemoryPressure" status: "True" })",
       "memory-pressure"},
      {R"(conditions { type: "DiskPressure" status: "True" })",
       "disk-pressure"},
      {R"(conditions { type: "PIDPressure" status: "True" })", "pid-pressure"},
      {R"(conditions { type: "NetworkUnavailable" status: "True" })",
       "network-unavailable"}};
  for (const auto& [text, key] : rows) {
    EXPECT_THAT(TaintsOf(text),
                ElementsAre(NoSchedule("node.kubernetes.io/" + key)))
        << text;
  }
  EXPECT_THAT(TaintsOf(R"(conditions { type: "Ready" status: "True" }
                          conditions { type: "DiskPressure" status: "False" }
                          conditions { type: "PIDPressure" status: "Unknown" }
                          conditions { type: "Other" status: "True" })"),
              IsEmpty());
  EXPECT_THAT(TaintsOf(R"(unschedulable: true
                  taints { key: "node.kubernetes.io/unschedulable"
                           effect: "NoSchedule" })"),
              SizeIs(1));
}

TEST(ConvertTaints, DoNothingWithAnUnknownEffect) {
  Faults faults;
  EXPECT_THAT(TaintsOf(R"(taints { key: "k" effect: "Foo" })", &faults),
              ElementsAre(Taint{"k", "", TaintEffect::kUnknown}));
  EXPECT_EQ(faults.Text(), "taint 'k': effect 'Foo' is unknown");
}

TEST(ConvertTaints, AreBounded) {
  ResourceDescriptor machine;
  for (size_t i = 0; i < kTaintsMax; ++i) {
    machine.add_taints()->set_key(StrCat(i));
  }
  Faults faults;
  EXPECT_THAT(ToTaints(machine, &faults), IsOk());
  machine.set_unschedulable(true);
  EXPECT_THAT(ToTaints(machine, &faults),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "taints: more than 256 of them"));
  ResourceDescriptor huge;
  huge.add_taints()->set_value(std::string(kLabelBytesMax + 1, 'x'));
  EXPECT_THAT(ToTaints(huge, &faults),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("taint '': value: 4097 bytes")));
}

TEST(ConvertAvoids, AreOfTheKindsThatKubernetesKnows) {
  EXPECT_THAT(*ToAvoids(Parse<ResourceDescriptor>(
                  R"(avoids { kind: "ReplicationController" uid: "2" }
             avoids { kind: "ReplicaSet" uid: "1" }
             avoids { kind: "StatefulSet" uid: "3" }
             avoids { kind: "ReplicaSet" uid: "1" })")),
              ElementsAre(Owner{"ReplicaSet", "1"},
                          Owner{"ReplicationController", "2"}));
}

TEST(ConvertAvoids, AreBounded) {
  ResourceDescriptor machine;
  for (size_t i = 0; i <= kAvoidsMax; ++i) {
    machine.add_avoids()->set_kind("ReplicaSet");
    machine.mutable_avoids(static_cast<int>(i))->set_uid(StrCat(i));
  }
  EXPECT_THAT(ToAvoids(machine), StatusIs(absl::StatusCode::kInvalidArgument,
                                          "avoids: more than 1024 of them"));
}

TEST(ConvertTaints, EvictWhereAMachineIsNotReady) {
  struct Row {
    std::string machine;
    std::vector<Taint> added;  // With NoExecute.
  };
  for (const auto& [machine, added] : std::vector<Row>{
           {R"(conditions { type: "Ready" status: "True" })", {}},
           {R"(conditions { type: "DiskPressure" status: "True" })", {}},
           {R"(conditions { type: "Ready" status: "False" })",
            {NoExecute("node.kubernetes.io/not-ready")}},
           {R"(conditions { type: "Ready" status: "Unknown" })",
            {NoExecute("node.kubernetes.io/unreachable")}},
           {R"(conditions { type: "Ready" status: "False" }
               taints { key: "node.kubernetes.io/not-ready" value: "v"
                        effect: "NoExecute" })",
            {NoExecute("node.kubernetes.io/not-ready", "v")}}}) {
    Faults faults;
    std::vector<Taint> taints = TaintsOf(machine, &faults);
    AddEvictingTaints(Parse<ResourceDescriptor>(machine), &taints);
    EXPECT_TRUE(std::ranges::is_sorted(taints)) << machine;
    std::erase_if(taints, [](const Taint& taint) {
      return taint.effect != TaintEffect::kNoExecute;
    });
    EXPECT_EQ(taints, added) << machine;
  }
}

}  // namespace
}  // namespace sluice
