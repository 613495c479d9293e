#include "rpc/inspect_drain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class InspectDrainTest : public testing::Test {
 protected:
  void Add(const std::string& uuid, const std::string& name) {
    AddMachine added = Added(uuid, {.cpu = 1000});
    added.spec.name = name;
    cluster_.Apply(added);
  }
  absl::StatusOr<const Machine*> Find(const std::string& uuid_or_name) {
    return FindMachineNamed(cluster_.state(), uuid_or_name);
  }
  v1::Drain Inspect(const std::string& uuid) {
    v1::Drain drain;
    InspectDrain(cluster_.scheduler(), *cluster_.state().FindMachine(uuid),
                 &drain);
    return drain;
  }

  TestScheduler cluster_;
};

TEST_F(InspectDrainTest, FindsAMachineByItsUuidOrTheNameThatIsItsAlone) {
  Add("u1", "node");
  Add("u2", "u1");
  EXPECT_EQ((*Find("u1"))->uuid, "u1") << "uuids go first";
  EXPECT_EQ((*Find("node"))->uuid, "u1");
  Add("u3", "node");
  EXPECT_THAT(Find("node").status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("2 machines have the name node")));
  Add("u4", "");
  EXPECT_THAT(Find("").status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("no machine is named")));
  EXPECT_THAT(Find("nobody").status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nobody")));
}

TEST_F(InspectDrainTest, FindsADepartedMachineWhereNoOtherHasTheName) {
  Add("u1", "node");
  cluster_.Apply(Removed("u1"));
  EXPECT_EQ((*Find("node"))->uuid, "u1");
  Add("u2", "node");
  EXPECT_EQ((*Find("node"))->uuid, "u2");
}

TEST_F(InspectDrainTest, CountsWhatHasLeftAndNamesSomeOfThoseThatStay) {
  Add("u1", "node");
  cluster_.Apply(AddForeignPod{"system/proxy", "u1", {{"cpu", 10}}});
  for (uint64_t uid = 1; uid <= 7; ++uid) {
    cluster_.Apply(Submitted(uid, {.cpu = 10, .name = StrCat("web-", uid)}));
  }
  const Owner owner = {"ReplicaSet", "r"};
  for (uint64_t uid = 8; uid <= 9; ++uid) {
    cluster_.Apply(Submitted(uid, {.cpu = 10, .owner = owner}));
  }
  cluster_.Reply(1);
  EXPECT_FALSE(Inspect("u1").is_draining());
  EXPECT_EQ(Inspect("u1").left(), 0);
  cluster_.Apply(SetDraining{"u1"});
  cluster_.Apply(Removed(9));
  Add("u2", "another");
  EXPECT_EQ(Inspect("u1").movable(), 1);
  cluster_.Reply(2);
  const v1::Drain drain = Inspect("u1");
  EXPECT_EQ(drain.machine_uuid(), "u1");
  EXPECT_EQ(drain.machine_name(), "node");
  EXPECT_TRUE(drain.is_draining());
  EXPECT_EQ(drain.left(), 1);
  EXPECT_EQ(drain.leaving(), 1);
  EXPECT_EQ(drain.movable(), 0);
  ASSERT_EQ(drain.held_size(), 2);
  EXPECT_EQ(drain.held(0).code(), "no_owner");
  EXPECT_EQ(drain.held(0).tasks(), 7);
  EXPECT_FALSE(drain.held(0).is_for_now());
  EXPECT_THAT(drain.held(0).task_names(),
              ElementsAre("web-1", "web-2", "web-3", "web-4", "web-5"));
  EXPECT_EQ(drain.held(1).code(), "foreign_pod");
  EXPECT_THAT(drain.held(1).task_names(), ElementsAre("system/proxy"));
}

TEST_F(InspectDrainTest, SaysWhatMayMoveYet) {
  Add("u1", "node");
  TaskOptions web = {.cpu = 10, .job = "web", .owner = {"ReplicaSet", "r"}};
  web.budget = {.amount = 1};
  cluster_.Apply(Submitted(1, web));
  cluster_.Reply(1);
  const v1::Drain drain = Inspect("u1");
  ASSERT_EQ(drain.held_size(), 1);
  EXPECT_EQ(drain.held(0).code(), "budget");
  EXPECT_TRUE(drain.held(0).is_for_now());
}

}  // namespace
}  // namespace sluice
