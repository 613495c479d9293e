#include "round/packing/packing_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::SizeIs;

class PackingPartTest : public testing::Test {
 protected:
  std::set<std::string> Choose(uint64_t turn, int64_t whole_machines_max = 9) {
    std::set<std::string> uuids;
    for (const MachineId id : ChoosePart(
             {.whole_machines_max = whole_machines_max}, turn, cluster_.state(),
             cluster_.policies(), cluster_.eligibility())) {
      uuids.insert(cluster_.state().FindMachine(id)->uuid);
    }
    return uuids;
  }
  // Machines of which each has some load, the later ones more.
  void Load(std::string_view prefix, int count, const LabelPairs& labels = {}) {
    for (int i = 0; i < count; ++i) {
      const std::string uuid = StrCat(prefix, i);
      cluster_.Apply(Added(uuid, {.cpu = 1000, .labels = labels}));
      const auto uid = static_cast<uint64_t>(++last_uid_);
      cluster_.Apply(Submitted(uid, {.cpu = 100 + 10 * i}));
      cluster_.mutable_state().Place({uid},
                                     cluster_.state().FindMachine(uuid)->id, 0);
    }
  }
  TestScheduler cluster_;
  int last_uid_ = 0;
};

TEST_F(PackingPartTest, IsForClustersWithMoreMachines) {
  Load("m", 3);
  EXPECT_FALSE(IsPackedInParts(cluster_.state(), {.whole_machines_max = 3}));
  EXPECT_TRUE(IsPackedInParts(cluster_.state(), {.whole_machines_max = 2}));
}

TEST_F(PackingPartTest, HasEachMachineInOneTurn) {
  Load("m", 20);
  std::set<std::string> seen;
  for (uint64_t turn = 0; turn < 10; ++turn) {
    const std::set<std::string> part = Choose(turn);
    EXPECT_THAT(part, Contains("m0")) << "it has most room";
    EXPECT_LE(part.size(), 3u);
    seen.insert(part.begin(), part.end());
  }
  EXPECT_THAT(seen, SizeIs(20));
  EXPECT_EQ(Choose(0), Choose(10));
}

TEST_F(PackingPartTest, HasTheRoomiestOfEachKindFirst) {
  PlacementRules likes_ssd;  // Or labels would tell no kinds apart.
  likes_ssd.preferred = {{1, {.labels = {LabelIn("disk", {"ssd"})}}}};
  cluster_.Apply(Submitted(1000, {.rules = likes_ssd}));
  Load("m", 8);
  Load("ssd", 8, {{"disk", "ssd"}});
  EXPECT_THAT(Choose(3, /*whole_machines_max=*/18),
              IsSupersetOf({"m0", "ssd0"}));
}

TEST_F(PackingPartTest, HasOnlyUsableMachines) {
  EXPECT_THAT(Choose(0), IsEmpty());
  cluster_.Apply(Added("broken", {.quarantine_reason = "for a test"}));
  EXPECT_THAT(Choose(0), IsEmpty());
}

}  // namespace
}  // namespace sluice
