#include "persist/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "persist/memory_store.h"
#include "unit/persist/state_text.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Printed, so that nobody changes what is on disk by accident.
TEST(Records, HaveAKindAndABigEndianIdAsKey) {
  EXPECT_EQ(CountersKey(), "c");
  EXPECT_EQ(KeyText(JobKey({0x01020304})), "0x6a01020304");
  EXPECT_EQ(KeyText(MachineKey({7})), "0x6d00000007");
  EXPECT_EQ(KeyText(TaskKey({0xfedcba9876543210})), "0x74fedcba9876543210");
  EXPECT_EQ(KeyText(DeltaKey(258)), "0x750000000000000102");
}

TEST(Records, AreInTheOrderOfRecoveryAndOfIds) {
  const std::vector<std::string> keys = {
      CountersKey(),
      JobKey({0}),
      JobKey({1}),
      JobKey({256}),
      MachineKey({0}),
      TaskKey({0}),
      TaskKey({255}),
      TaskKey({256}),
      TaskKey({std::numeric_limits<uint64_t>::max()}),
      DeltaKey(0),
      DeltaKey(1)};
  EXPECT_TRUE(std::ranges::is_sorted(keys));
}

TEST(Records, HaveKeysThatCanBePrinted) {
  EXPECT_EQ(KeyText(""), "0x");
  EXPECT_EQ(KeyText(std::string("\0\xff", 2)), "0x00ff");
  EXPECT_EQ(KeyText(std::string(40, 'a')),
            "0x" +
                std::string("6161616161616161616161616161616161616161616161616"
                            "161616161616161") +
                "..., 40 bytes");
}

SubmitTask Submission(uint64_t uid) {
  SubmitTask submit;
  submit.uid = {uid};
  submit.job_uuid = "job";
  return submit;
}

AddMachine Addition(NamedAmounts allocatable) {
  MachineSpec spec;
  spec.uuid = "m";
  spec.allocatable = std::move(allocatable);
  return {std::move(spec)};
}

std::vector<std::string> KeyTexts(const WriteBatch& batch) {
  std::vector<std::string> texts;
  for (const WriteBatch::Operation& operation : batch.operations()) {
    texts.push_back((operation.value.has_value() ? "put " : "delete ") +
                    KeyText(operation.key));
  }
  return texts;
}

TEST(Records, AreNoneWhereNothingChanged) {
  EXPECT_THAT(EncodeChanges(ClusterState(), ChangeSet()).operations(),
              IsEmpty());
}

TEST(Records, ArePutWhereTheyExistAndDeletedWhereTheyDoNot) {
  ClusterState state;
  state.Apply(Addition({{"pods", 3}}), 0);
  state.Apply(Submission(5), 0);
  state.Place({5}, {0}, 0);
  EXPECT_THAT(
      KeyTexts(EncodeChanges(state, state.TakeChanges())),
      ElementsAre("put 0x63", "put 0x6a00000000", "put 0x6d00000000",
                  "put 0x740000000000000005", "put 0x750000000000000001"));
  state.Apply(RemoveTask{{5}}, 0);
  EXPECT_THAT(KeyTexts(EncodeChanges(state, state.TakeChanges())),
              ElementsAre("put 0x63", "delete 0x6a00000000",
                          "delete 0x740000000000000005",
                          "delete 0x750000000000000001"));
}

// Machines have large records and many placements.
TEST(Records, DoNotPutAMachineForWhatRunsOnIt) {
  ClusterState state;
  state.Apply(Addition({{"pods", 3}}), 0);
  state.Apply(Submission(5), 0);
  state.TakeChanges();
  state.Place({5}, {0}, 0);
  EXPECT_THAT(KeyTexts(EncodeChanges(state, state.TakeChanges())),
              ElementsAre("put 0x63", "put 0x740000000000000005",
                          "put 0x750000000000000001"));
}

// The sequence of a task is not dealt twice, though its job and so the counter
// of jobs is as it was.
TEST(Records, HoldTheCountersWithEveryChange) {
  ClusterState state;
  state.Apply(Submission(1), 0);
  state.TakeChanges();
  state.Apply(Submission(2), 0);
  EXPECT_THAT(KeyTexts(EncodeChanges(state, state.TakeChanges())),
              ElementsAre("put 0x63", "put 0x740000000000000002"));
}

TEST(Records, AreTheSameBytesForTheSameState) {
  MemoryStore stores[2];
  for (MemoryStore& store : stores) {
    ClusterState state;
    AddMachine add = Addition({{"cpu", 1}, {"x/gpu", 2}});
    add.spec.labels = {{"a", "1"}, {"b", "2"}};
    state.Apply(add, 0);
    SubmitTask submit = Submission(5);
    submit.spec.labels = {{"b", "2"}, {"a", "1"}};
    state.Apply(submit, 0);
    ASSERT_THAT(store.Write(EncodeChanges(state, state.TakeChanges()),
                            Durability::kBuffered),
                IsOk());
  }
  EXPECT_EQ(StoreText(stores[0]), StoreText(stores[1]));
}

}  // namespace
}  // namespace sluice
