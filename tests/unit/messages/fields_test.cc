#include "messages/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "firmament/task_desc.pb.h"
#include "sluice/state/placement_rules.h"
#include "sluice/v1/store.pb.h"
#include "util/drawn_rules.h"

namespace sluice {
namespace {

using testing::ElementsAre;

template <class Record>
Record Draw(Rng* rng) {
  Record record;
  const FieldDrawer drawer(rng);
  drawer("", record);
  return record;
}

// Reads what it wrote.
template <class Record, class Message>
void TryRecord() {
  Rng rng(/*seed=*/1);
  for (int i = 0; i < 200; ++i) {
    const auto record = Draw<Record>(&rng);
    Message message;
    WriteFields(record, &message);
    Record read;
    EXPECT_EQ(ReadFields(message, ListsAre::kInOrder, &read), "");
    EXPECT_EQ(read, record) << message.ShortDebugString();
  }
}

TEST(Fields, AreReadAsTheyWereWritten) {
  TryRecord<PreferredTerm, v1::StoredPreferredTerm>();
  TryRecord<Toleration, v1::StoredToleration>();
  TryRecord<HostPort, v1::StoredHostPort>();
  TryRecord<WeightedPeerTerm, v1::StoredWeightedPeerTerm>();
  TryRecord<SpreadConstraint, v1::StoredSpreadConstraint>();
  TryRecord<DomainMinimum, v1::StoredDomainMinimum>();
}

TEST(Fields, OfEveryKindOfTaskRulesAreReadAsTheyWereWritten) {
  Rng rng(/*seed=*/2);
  for (int i = 0; i < 200; ++i) {
    PlacementRules rules;
    DrawTaskRules(&rng, &rules);
    firmament::TaskRules message;
    WriteFields(rules, &message);
    PlacementRules read;
    EXPECT_EQ(ReadFields(message, ListsAre::kInOrder, &read), "");
    EXPECT_EQ(read, rules) << message.ShortDebugString();
  }
}

// An enum that is an enum in the message, too; in the store they are numbers.
struct Work {
  enum class Type : uint8_t { kSheep = 0, kTurtle = 3 };
  bool inject_task_lib = false;
  Type task_type = Type::kSheep;
  std::vector<std::string> args = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("inject_task_lib", self.inject_task_lib);
    visit("task_type", self.task_type, Type::kTurtle);
    visit("args", self.args);
  }
};

TEST(Fields, MayBeEnumsAndListsOfTexts) {
  firmament::TaskDescriptor message;
  WriteFields(Work{.inject_task_lib = true,
                   .task_type = Work::Type::kTurtle,
                   .args = {"b", "a"}},
              &message);
  EXPECT_EQ(message.task_type(), firmament::TaskDescriptor::TURTLE);
  EXPECT_TRUE(message.inject_task_lib());
  EXPECT_THAT(message.args(), ElementsAre("b", "a"));
  Work work;
  EXPECT_EQ(ReadFields(message, ListsAre::kInOrder, &work),
            "args: out of order");
  *message.add_args() = "a";
  EXPECT_EQ(ReadFields(message, ListsAre::kAnyOrder, &work), "");
  EXPECT_THAT(work.args, ElementsAre("a", "b"));
  message.set_task_type(static_cast<firmament::TaskDescriptor::TaskType>(4));
  EXPECT_EQ(ReadFields(message, ListsAre::kAnyOrder, &work),
            "task_type: 4 is not in 0 to 3");
}

TEST(Fields, SayWhereTheFirstFaultIs) {
  v1::StoredPreferredTerm message;
  PreferredTerm preferred;
  const auto read = [&] {
    return ReadFields(message, ListsAre::kInOrder, &preferred);
  };
  EXPECT_EQ(read(), "weight: 0 is not in 1 to 100");
  message.set_weight(1);
  EXPECT_EQ(read(), "");
  v1::StoredRequirement* label = message.mutable_term()->add_labels();
  EXPECT_EQ(read(), "term: labels: values: its operator cannot have these");
  label->set_op(7);
  EXPECT_EQ(read(), "term: labels: op: 7 is not in 0 to 6");
}

TEST(FieldsDeathTest, HaveNamesThatTheMessageKnows) {
  v1::StoredHostPort message;
  EXPECT_DEATH(WriteFields(Work(), &message), "has no inject_task_lib");
}

}  // namespace
}  // namespace sluice
