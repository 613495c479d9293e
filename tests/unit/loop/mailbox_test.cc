#include "loop/mailbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Mailbox, GivesItemsOutInTheOrderInWhichTheyCameIn) {
  Mailbox<int> mailbox(10);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(mailbox.Push(i));
  std::vector<int> batch;
  EXPECT_TRUE(mailbox.TakeBatch(10, 0, &batch));
  EXPECT_THAT(batch, ElementsAre(0, 1, 2));
}

TEST(Mailbox, GivesOutNoMoreThanWasAskedFor) {
  Mailbox<int> mailbox(10);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(mailbox.Push(i));
  std::vector<int> batch;
  EXPECT_TRUE(mailbox.TakeBatch(2, 0, &batch));
  EXPECT_THAT(batch, ElementsAre(0, 1));
  EXPECT_EQ(mailbox.size(), 1u);
}

TEST(Mailbox, HoldsToItsBoundOnlyThoseWhoCanBeRefused) {
  Mailbox<int> mailbox(1);
  EXPECT_TRUE(mailbox.TryPush(1));
  EXPECT_FALSE(mailbox.TryPush(2));
  EXPECT_TRUE(mailbox.Push(3));
  std::vector<int> batch;
  EXPECT_TRUE(mailbox.TakeBatch(10, 0, &batch));
  EXPECT_THAT(batch, ElementsAre(1, 3));
}

TEST(Mailbox, ReplacesWhatTheBatchHeldBefore) {
  Mailbox<int> mailbox(1);
  ASSERT_TRUE(mailbox.Push(1));
  std::vector<int> batch = {7, 8};
  EXPECT_TRUE(mailbox.TakeBatch(10, 0, &batch));
  EXPECT_THAT(batch, ElementsAre(1));
}

TEST(Mailbox, ReturnsAnEmptyBatchWhenNothingComesInTime) {
  Mailbox<int> mailbox(1);
  std::vector<int> batch;
  EXPECT_TRUE(mailbox.TakeBatch(10, /*timeout_us=*/1, &batch));
  EXPECT_THAT(batch, IsEmpty());
}

TEST(Mailbox, IsEmptiedAfterItWasClosed) {
  Mailbox<int> mailbox(10);
  ASSERT_TRUE(mailbox.Push(1));
  mailbox.Close();
  EXPECT_FALSE(mailbox.Push(2));
  EXPECT_FALSE(mailbox.TryPush(2));
  std::vector<int> batch;
  EXPECT_TRUE(mailbox.TakeBatch(10, 0, &batch));
  EXPECT_THAT(batch, ElementsAre(1));
  EXPECT_FALSE(mailbox.TakeBatch(10, 0, &batch));
  EXPECT_THAT(batch, IsEmpty());
}

TEST(Mailbox, WakesItsReaderWhenItIsClosed) {
  Mailbox<int> mailbox(10);
  std::thread reader([&] {
    std::vector<int> batch;
    while (mailbox.TakeBatch(10, /*timeout_us=*/60000000, &batch)) {
    }
  });
  mailbox.Close();
  reader.join();
}

TEST(Mailbox, TakesItemsThatCannotBeCopied) {
  Mailbox<std::unique_ptr<int>> mailbox(10);
  ASSERT_TRUE(mailbox.Push(std::make_unique<int>(5)));
  std::vector<std::unique_ptr<int>> batch;
  EXPECT_TRUE(mailbox.TakeBatch(10, 0, &batch));
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(*batch[0], 5);
}

TEST(Mailbox, KeepsTheOrderOfEachOfManyProducers) {
  constexpr int kProducers = 4;
  constexpr int kItems = 2000;
  struct Item {
    size_t producer;
    int number;
  };
  Mailbox<Item> mailbox(16);
  std::vector<std::thread> producers;
  for (size_t p = 0; p < kProducers; ++p) {
    producers.emplace_back([&mailbox, p] {
      for (int i = 0; i < kItems; ++i) ASSERT_TRUE(mailbox.Push({p, i}));
    });
  }
  std::array<int, kProducers> next = {};
  std::vector<Item> batch;
  for (int taken = 0; taken < kProducers * kItems;) {
    ASSERT_TRUE(mailbox.TakeBatch(64, /*timeout_us=*/60000000, &batch));
    for (const Item& item : batch) {
      ASSERT_EQ(item.number, next[item.producer]++);
      ++taken;
    }
  }
  for (std::thread& producer : producers) producer.join();
}

}  // namespace
}  // namespace sluice
