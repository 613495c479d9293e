#include "unit/persist/store_contract.h"

#include <gmock/gmock.h>

#include "absl/container/btree_map.h"
#include "base/rng.h"
#include "base/strings.h"
#include "util/status_matchers.h"

namespace sluice {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

Entries ScanAll(const Store& store, std::string_view prefix) {
  Entries entries;
  EXPECT_THAT(store.Scan(prefix,
                         [&](std::string_view key, std::string_view value) {
                           entries.emplace_back(key, value);
                           return absl::OkStatus();
                         }),
              IsOk());
  return entries;
}

namespace {

TEST_P(StoreContract, StartsEmpty) { EXPECT_THAT(ScanAll(*store_), IsEmpty()); }

TEST_P(StoreContract, ScansInTheOrderOfUnsignedBytes) {
  WriteBatch batch;
  batch.Put("b", "4");
  batch.Put("\xff", "5");
  batch.Put(std::string("a\0", 2), "2");
  batch.Put("a", "1");
  batch.Put("a\x80", "3");
  ASSERT_THAT(store_->Write(batch, Durability::kBuffered), IsOk());
  EXPECT_THAT(
      ScanAll(*store_),
      ElementsAre(Pair("a", "1"), Pair(std::string("a\0", 2), "2"),
                  Pair("a\x80", "3"), Pair("b", "4"), Pair("\xff", "5")));
}

TEST_P(StoreContract, ScansNothingButThePrefix) {
  WriteBatch batch;
  for (const char* key : {"a", "b", "b\xff", "ba", "c"}) batch.Put(key, key);
  ASSERT_THAT(store_->Write(batch, Durability::kBuffered), IsOk());
  EXPECT_THAT(
      ScanAll(*store_, "b"),
      ElementsAre(Pair("b", "b"), Pair("ba", "ba"), Pair("b\xff", "b\xff")));
  EXPECT_THAT(ScanAll(*store_, "bb"), IsEmpty());
  EXPECT_THAT(ScanAll(*store_, "d"), IsEmpty());
}

TEST_P(StoreContract, KeepsAnyBytes) {
  std::string all_bytes;
  for (int c = 0; c < 256; ++c) all_bytes += static_cast<char>(c);
  WriteBatch batch;
  batch.Put(all_bytes, all_bytes);
  batch.Put("empty", "");
  batch.Put("large", std::string(1 << 20, 'x'));
  ASSERT_THAT(store_->Write(batch, Durability::kSynced), IsOk());
  EXPECT_THAT(ScanAll(*store_),
              ElementsAre(Pair(all_bytes, all_bytes), Pair("empty", ""),
                          Pair("large", std::string(1 << 20, 'x'))));
}

TEST_P(StoreContract, ExecutesABatchInItsOrder) {
  WriteBatch batch;
  batch.Put("twice", "first");
  batch.Put("twice", "second");
  batch.Put("put then deleted", "");
  batch.Delete("put then deleted");
  batch.Delete("deleted then put");
  batch.Put("deleted then put", "there");
  batch.Delete("never there");
  ASSERT_THAT(store_->Write(batch, Durability::kBuffered), IsOk());
  EXPECT_THAT(ScanAll(*store_), ElementsAre(Pair("deleted then put", "there"),
                                            Pair("twice", "second")));
}

TEST_P(StoreContract, DoesNothingForAnEmptyBatch) {
  EXPECT_THAT(store_->Write(WriteBatch(), Durability::kBuffered), IsOk());
  EXPECT_THAT(store_->Write(WriteBatch(), Durability::kSynced), IsOk());
  EXPECT_THAT(ScanAll(*store_), IsEmpty());
}

TEST_P(StoreContract, EndsTheScanWithTheFirstErrorOfTheVisitor) {
  WriteBatch batch;
  for (const char* key : {"a", "b", "c"}) batch.Put(key, "");
  ASSERT_THAT(store_->Write(batch, Durability::kBuffered), IsOk());
  std::string visited;
  EXPECT_THAT(store_->Scan("",
                           [&](std::string_view key, std::string_view) {
                             visited += key;
                             return key == "b" ? absl::AbortedError("seen it")
                                               : absl::OkStatus();
                           }),
              StatusIs(absl::StatusCode::kAborted, "seen it"));
  EXPECT_EQ(visited, "ab");
}

TEST_P(StoreContract, SaysWhatItIs) {
  EXPECT_THAT(store_->description(), Not(IsEmpty()));
}

TEST_P(StoreContract, HoldsWhatAMapHolds) {
  Rng rng(7);
  absl::btree_map<std::string, std::string> expected;
  for (int round = 0; round < 200; ++round) {
    WriteBatch batch;
    for (uint64_t left = rng.Below(20); left > 0; --left) {
      const std::string key = StrCat(rng.Below(50));
      if (rng.Chance(1, 3)) {
        batch.Delete(key);
        expected.erase(key);
      } else {
        std::string value = StrCat(rng.Next());
        expected[key] = value;
        batch.Put(key, std::move(value));
      }
    }
    const Durability durability =
        rng.Chance(1, 20) ? Durability::kSynced : Durability::kBuffered;
    ASSERT_THAT(store_->Write(batch, durability), IsOk());
  }
  EXPECT_EQ(ScanAll(*store_), Entries(expected.begin(), expected.end()));
}

}  // namespace
}  // namespace sluice
