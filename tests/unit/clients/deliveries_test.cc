#include "clients/deliveries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Three placements that nobody was told of.
class DeliveriesTest : public testing::Test {
 protected:
  DeliveriesTest() {
    ClusterBuilder()
        .Machine("m", {.cpu = 3000})
        .Tasks(1, 3, {.cpu = 1000})
        .ApplyTo(&cluster_);
    cluster_.Round();
    for (const uint64_t sequence : Untold()) deliveries_.Begin(sequence);
  }
  std::vector<uint64_t> Untold() {
    const auto& sequences = cluster_.state().SequencesOf(FeedId());
    return {sequences.begin(), sequences.end()};
  }

  TestScheduler cluster_;
  Deliveries deliveries_{&cluster_.mutable_state()};
};

TEST_F(DeliveriesTest, EndWithWhatHasArrived) {
  const std::vector<uint64_t> all = Untold();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(deliveries_.open_count(), 3u);
  deliveries_.Confirm(all[1]);
  EXPECT_THAT(Untold(), ElementsAre(all[2]));
  deliveries_.Confirm(all[1]);
  EXPECT_EQ(deliveries_.open_count(), 1u);
  EXPECT_EQ(deliveries_.CountStanding(FeedId()), 1);
  deliveries_.Confirm(all[2]);
  EXPECT_THAT(Untold(), IsEmpty());
}

TEST_F(DeliveriesTest, BeginAgainOnceTheyAreTakenBack) {
  const std::vector<uint64_t> all = Untold();
  deliveries_.Confirm(all[0]);
  deliveries_.TakeBack();
  EXPECT_EQ(deliveries_.open_count(), 0u);
  EXPECT_THAT(Untold(), ElementsAre(all[1], all[2]));
  deliveries_.Begin(all[1]);
  deliveries_.Confirm(all[1]);
  EXPECT_THAT(Untold(), ElementsAre(all[2]));
}

TEST_F(DeliveriesTest, StandOnlyUnlessTheyAreRevoked) {
  cluster_.Apply(Removed(2));
  EXPECT_EQ(deliveries_.open_count(), 3u);
  EXPECT_EQ(deliveries_.CountStanding(FeedId()), 2);
  deliveries_.TakeBack();
  EXPECT_EQ(Untold().size(), 2u);
}

}  // namespace
}  // namespace sluice
