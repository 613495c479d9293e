#include "round/context/placements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util/cluster_builder.h"
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

TEST_F(PlacementsTest, AreTheSameWithoutALookAtMachinesWhereNothingHasChanged) {
  const auto untouched = [this](uint64_t delta_begin) {
    std::vector<TaskId> ids;
    for (const auto& [task, machine] :
         UntouchedPlacements(cluster_.state(), delta_begin)) {
      EXPECT_EQ(task->machine, machine);
      ids.push_back(task->id);
    }
    return ids;
  };
  Place(1, "m");
  cluster_.Deliver();
  Place(3, "m");
  const uint64_t middle = cluster_.state().counters().next_delta_sequence;
  Place(2, "n");
  EXPECT_THAT(untouched(0), ElementsAre(TaskId{3}, TaskId{2}));
  EXPECT_THAT(untouched(middle), ElementsAre(TaskId{2}));
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

}  // namespace
}  // namespace sluice
