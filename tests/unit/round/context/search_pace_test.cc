#include "round/context/search_pace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "base/strings.h"
#include "util/cluster_builder.h"

namespace sluice {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Of so many machines.
void AddMachines(int64_t count, ClusterState* state) {
  for (int64_t i = 0; i < count; ++i) {
    state->Apply(Added(StrCat("machine-", i), {.cpu = 1000}), 0);
  }
}

TEST(SearchPace, LooksInALargeClusterForAsLongAsChangesAreWorth) {
  ClusterState state;
  AddMachines(SearchPace::kMachinesMax + 1, &state);
  SearchPace pace;
  EXPECT_EQ(pace.WorkFor(state), kMost) << "everything is new";
  pace.Note(state.version());
  EXPECT_EQ(pace.WorkFor(state), SearchPace::kBase);
  const uint64_t before = state.version();
  state.Apply(Submitted(1), 0);
  const auto changes = static_cast<int64_t>(state.version() - before);
  ASSERT_GT(changes, 0);
  EXPECT_EQ(pace.WorkFor(state),
            SearchPace::kBase + changes * SearchPace::kPerChange);
  pace.Note(state.version());
  EXPECT_EQ(pace.WorkFor(state), SearchPace::kBase);
}

TEST(SearchPace, LooksForAsLongAsItMayInASmallCluster) {
  ClusterState state;
  AddMachines(SearchPace::kMachinesMax, &state);
  SearchPace pace;
  pace.Note(state.version());
  EXPECT_EQ(pace.WorkFor(state), kMost);
}

TEST(SearchPace, GivesAPackingOfAllMachinesMore) {
  EXPECT_EQ(SearchPace::WorkTogether(1000), 5000);
  EXPECT_GT(SearchPace::WorkTogether(kMost), kMost / 2);
}

TEST(SearchPace, LooksForAProofInSomeRoundsOfALargeCluster) {
  ClusterState state;
  AddMachines(SearchPace::kMachinesMax + 1, &state);
  SearchPace pace;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(pace.IsProofDue(state));
    pace.NoteProof(/*has_one=*/true);
    for (int k = 0; k < SearchPace::kUnproved; ++k) {
      EXPECT_FALSE(pace.IsProofDue(state));
      pace.NoteProof(/*has_one=*/false);
    }
  }
}

TEST(SearchPace, LooksForAProofInEachRoundOfASmallCluster) {
  ClusterState state;
  AddMachines(SearchPace::kMachinesMax, &state);
  SearchPace pace;
  pace.NoteProof(/*has_one=*/true);
  EXPECT_TRUE(pace.IsProofDue(state));
}

}  // namespace
}  // namespace sluice
