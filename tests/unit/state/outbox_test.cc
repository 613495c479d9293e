#include "state/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Delta DeltaOf(uint64_t sequence, uint64_t task, uint32_t feed) {
  Delta delta;
  delta.sequence = sequence;
  delta.task = {task};
  delta.feed = {feed};
  return delta;
}

TEST(Outbox, FindsTheDeltasOfATaskAndOfAFeed) {
  Outbox outbox;
  EXPECT_TRUE(outbox.Add(DeltaOf(1, 7, 0)));
  EXPECT_TRUE(outbox.Add(DeltaOf(2, 8, 3)));
  EXPECT_TRUE(outbox.Add(DeltaOf(5, 8, 3)));
  EXPECT_FALSE(outbox.Add(DeltaOf(5, 9, 3)));
  EXPECT_THAT(outbox.SequencesOf(FeedId{0}), ElementsAre(1));
  EXPECT_THAT(outbox.SequencesOf(FeedId{3}), ElementsAre(2, 5));
  EXPECT_THAT(outbox.SequencesOf(TaskId{8}), ElementsAre(2, 5));
  EXPECT_THAT(outbox.SequencesOf(TaskId{9}), IsEmpty());
  outbox.Erase(2);
  EXPECT_THAT(outbox.SequencesOf(FeedId{3}), ElementsAre(5));
  outbox.Erase(5);
  outbox.Erase(1);
  EXPECT_THAT(outbox.SequencesOf(FeedId{0}), IsEmpty());
  EXPECT_THAT(outbox.SequencesOf(TaskId{8}), IsEmpty());
  EXPECT_THAT(outbox.deltas(), IsEmpty());
}

TEST(Outbox, KnowsWhatWaitsInNobodysHands) {
  Outbox outbox;
  EXPECT_EQ(outbox.Waiting({7}), nullptr);
  outbox.Add(DeltaOf(1, 7, 0));
  ASSERT_NE(outbox.Waiting({7}), nullptr);
  EXPECT_EQ(outbox.Waiting({7})->sequence, 1u);
  outbox.Find(1)->is_in_flight = true;
  EXPECT_EQ(outbox.Waiting({7}), nullptr);
  EXPECT_EQ(outbox.Find(2), nullptr);
}

}  // namespace
}  // namespace sluice
