// Uids that name tasks whose ids have other numbers (state/task_uids.h).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "persist/memory_store.h"
#include "persist/records.h"
#include "persist/recovery.h"
#include "persist/sealed_value.h"
#include "sluice/v1/store.pb.h"
#include "unit/persist/state_text.h"
#include "unit/persist/store_contract.h"
#include "util/cluster_builder.h"
#include "util/state_invariants.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

class RecoveredUidsTest : public testing::Test {
 protected:
  void SetUp() override {
    Do(Added("m", {.cpu = 1000}));
    Submit(1, "ns/a");
    state_.Place({1}, {0}, 0);
    state_.BeginDelivery(1);
    state_.EndDelivery(1, /*is_delivered=*/true);
  }
  Ack Do(const Command& command) { return state_.Apply(command, 0); }
  void Submit(uint64_t uid, const std::string& name) {
    Do(Submitted(uid, {.cpu = 100, .name = name}));
  }
  // Writes what has changed.  Returns the format that the store says it has.
  uint32_t Save() {
    EXPECT_THAT(store_.Write(EncodeChanges(state_, state_.TakeChanges()),
                             Durability::kBuffered),
                IsOk());
    const Entries entries = ScanAll(store_, CountersKey());
    v1::StoredCounters counters;
    EXPECT_TRUE(counters.ParseFromString(
        std::string(*Unseal(CountersKey(), entries.at(0).second))));
    return counters.format();
  }

  ClusterState state_;
  MemoryStore store_;
};

TEST_F(RecoveredUidsTest, AreKnown) {
  Submit(1, "ns/b");  // Task 1 has lost its uid ...
  Submit(2, "ns/a");  // ... and has another one.
  Save();
  ClusterState recovered;
  ASSERT_THAT(Recover(store_, &recovered), IsOk());
  EXPECT_EQ(StateText(recovered), StateText(state_));
  EXPECT_EQ(FindContradiction(recovered), "");
  EXPECT_EQ(recovered.FindHolder({2})->id, TaskId{1});
  EXPECT_EQ(recovered.FindHolder({1})->name, "ns/b");
  EXPECT_EQ(recovered.Apply(RemoveTask{{1}}, 0), Ack::kOk);
  EXPECT_EQ(recovered.FindHolder({1}), nullptr);
}

TEST_F(RecoveredUidsTest, AreToldByAFormatThatOlderDaemonsRefuse) {
  EXPECT_EQ(Save(), kRecordFormatOfPlainUids);
  Submit(1, "ns/b");
  EXPECT_EQ(Save(), kRecordFormat);
  for (int i = 0; i < 2; ++i) Do(Removed(1));
  EXPECT_EQ(Save(), kRecordFormatOfPlainUids);
}

}  // namespace
}  // namespace sluice
