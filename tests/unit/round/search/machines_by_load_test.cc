#include "round/search/machines_by_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util/cluster_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

class MachinesByLoadTest : public testing::Test {
 protected:
  const Machine& MachineOf(const std::string& uuid) {
    return *cluster_.state().FindMachine(uuid);
  }
  // Of the kind of one of them.
  std::vector<std::string> Order(const MachinesByLoad& machines,
                                 const std::string& uuid) {
    const auto kind =
        static_cast<size_t>(cluster_.eligibility().KindOf(MachineOf(uuid)));
    std::vector<std::string> uuids;
    for (const auto& [cost, id] : machines.OfKind(kind)) {
      uuids.push_back(cluster_.state().FindMachine(id)->uuid);
    }
    return uuids;
  }
  void Place(uint64_t uid, const std::string& uuid) {
    cluster_.mutable_state().Place({uid}, MachineOf(uuid).id, 0);
  }
  TestScheduler cluster_;
};

TEST_F(MachinesByLoadTest, AreInOrderOfLoadWithinAKind) {
  PlacementRules likes_ssd;  // Or labels would tell no kinds apart.
  likes_ssd.preferred = {{1, {.labels = {LabelIn("disk", {"ssd"})}}}};
  ClusterBuilder()
      .Machines("m", 3, {.cpu = 1000})
      .Machine("ssd", {.cpu = 1000, .labels = {{"disk", "ssd"}}})
      .Machine("broken", {.cpu = 1000, .quarantine_reason = "for a test"})
      .Task(1, {.cpu = 300})
      .Task(2, {.cpu = 200})
      .Task(3, {.cpu = 400, .rules = likes_ssd})
      .ApplyTo(&cluster_);
  Place(1, "m0");
  Place(2, "m2");
  MachinesByLoad machines(cluster_.state(), cluster_.policies(),
                          cluster_.eligibility());
  EXPECT_THAT(Order(machines, "m0"), ElementsAre("m1", "m2", "m0"));
  EXPECT_THAT(Order(machines, "ssd"), ElementsAre("ssd"));
  Place(3, "m1");
  machines.Update(MachineOf("m1"));
  EXPECT_THAT(Order(machines, "m0"), ElementsAre("m2", "m0", "m1"));
  // Nothing is taken up that was not usable.
  machines.Update(MachineOf("broken"));
  EXPECT_THAT(Order(machines, "broken"), Not(Contains("broken")));
}

}  // namespace
}  // namespace sluice
