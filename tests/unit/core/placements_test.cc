#include "core/placements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PlacementsTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.Apply(Added("m", {.cpu = 300}));
    cluster_.Apply(Added("n", {.cpu = 300}));
    for (uint64_t uid = 1; uid <= 4; ++uid) {
      cluster_.Apply(Submitted(uid, {.cpu = 100}));
    }
  }
  void Place(uint64_t uid, std::string_view uuid) {
    cluster_.mutable_state().Place({uid},
                                   cluster_.state().FindMachine(uuid)->id, 0);
  }
  std::vector<std::string> Undoable(uint64_t delta_begin = 0,
                                    uint32_t priority = 0) {
    std::vector<std::string> texts;
    for (const auto& [task, machine] :
         UndoablePlacements(cluster_.state(), priority, delta_begin)) {
      texts.push_back(StrCat(task->id.value, " on ",
                             cluster_.state().FindMachine(machine)->uuid));
    }
    return texts;
  }
  TestScheduler cluster_;
};

TEST_F(PlacementsTest, ComeInTheirOrder) {
  EXPECT_THAT(Undoable(), IsEmpty());
  Place(3, "m");
  Place(1, "n");
  const uint64_t middle = cluster_.state().counters().next_delta_sequence;
  Place(2, "m");
  EXPECT_THAT(Undoable(), ElementsAre("3 on m", "1 on n", "2 on m"));
  EXPECT_THAT(Undoable(middle), ElementsAre("2 on m"));
  EXPECT_THAT(Undoable(0, /*priority=*/7), IsEmpty());
}

TEST_F(PlacementsTest, AreNotWhatAClientKnows) {
  Place(1, "m");
  cluster_.Deliver();
  Place(2, "m");
  EXPECT_THAT(Undoable(), ElementsAre("2 on m"));
}

TEST_F(PlacementsTest, AreNotWhereTheyWouldNotFitAgain) {
  Place(1, "m");
  Place(2, "m");
  Place(3, "n");
  cluster_.Apply(ForeignPod("pod/ns", "m", {{"cpu", 200}}));
  EXPECT_THAT(Undoable(), ElementsAre("3 on n"));
}

TEST_F(PlacementsTest, GoWhereThereIsRoomAndNotBeforeOneThatIsTheSame) {
  ClusterState& state = cluster_.mutable_state();
  const MachineId m = state.FindMachine("m")->id;
  const MachineId n = state.FindMachine("n")->id;
  const std::set<MachineId> both = {m, n};
  int64_t looks = 0;
  const auto places = [&](uint64_t uid, const Task* twin) {
    return PlacesFor(cluster_.TaskOf(uid), {.machines = both, .twin = twin},
                     cluster_.constraints(), state, &looks);
  };
  EXPECT_THAT(places(1, nullptr), ElementsAre(m, n));
  Place(1, "n");
  EXPECT_THAT(places(2, &cluster_.TaskOf(1)), ElementsAre(n));
  EXPECT_THAT(places(2, nullptr), ElementsAre(m, n));
  EXPECT_EQ(looks, 5);
  cluster_.Apply(Submitted(9, {.cpu = 250}));
  EXPECT_THAT(places(9, &cluster_.TaskOf(1)), ElementsAre(m));
}

TEST_F(PlacementsTest, AreLookedForNoFurtherThanAsked) {
  const ClusterState& state = cluster_.state();
  const MachineId m = state.FindMachine("m")->id;
  const MachineId n = state.FindMachine("n")->id;
  const std::set<MachineId> both = {m, n};
  int64_t looks = 0;
  const auto places = [&](MachineId first) {
    return PlacesFor(cluster_.TaskOf(1),
                     {.machines = both, .first = first, .count_max = 1},
                     cluster_.constraints(), state, &looks);
  };
  EXPECT_THAT(places({}), ElementsAre(m));
  EXPECT_THAT(places(n), ElementsAre(n));
  EXPECT_EQ(looks, 2);
}

// Of what is spread the first may not go where the second may.
TEST_F(PlacementsTest, GoBeforeOneThatIsTheSameWhereTheOrderCounts) {
  ClusterState& state = cluster_.mutable_state();
  const MachineId m = state.FindMachine("m")->id;
  const MachineId n = state.FindMachine("n")->id;
  const std::set<MachineId> both = {m, n};
  const auto places = [&](uint64_t uid, const PlacementRules& rules) {
    const TaskOptions options = {
        .cpu = 1, .labels = {{"app", "web"}}, .rules = rules};
    cluster_.Apply(Submitted(uid, options, {}));
    cluster_.Apply(Submitted(uid + 1, options, {}));
    state.SyncPeers();
    Place(uid, "n");
    int64_t looks = 0;
    return PlacesFor(cluster_.TaskOf(uid + 1),
                     {.machines = both, .twin = &cluster_.TaskOf(uid)},
                     cluster_.constraints(), state, &looks);
  };
  EXPECT_THAT(places(11, {.spread = {Spread(App("web"), "")}}), ElementsAre(m));
  EXPECT_THAT(places(21, {.anti_affinity = {{App("db"), ""}}}), ElementsAre(n));
}

}  // namespace
}  // namespace sluice
