// Whatever happened and whenever the crash came: what is recovered cannot be
// told from what was there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "base/strings.h"
#include "persist/memory_store.h"
#include "persist/records.h"
#include "persist/recovery.h"
#include "persist/sealed_value.h"
#include "unit/persist/random_steps.h"
#include "unit/persist/state_text.h"
#include "util/seed_count.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

constexpr uint64_t kSeeds = SeedCount(400);
constexpr int kSteps = 150;

void Save(ClusterState* state, Store* store) {
  const WriteBatch batch = EncodeChanges(*state, state->TakeChanges());
  ASSERT_THAT(store->Write(batch, Durability::kBuffered), IsOk());
}

// The crash takes the deltas out of the clients' hands; a state that lives on
// sees the same when the calls end without success.
void EndAllDeliveries(ClusterState* state) {
  std::vector<uint64_t> in_flight;
  for (const auto& [sequence, delta] : state->outbox()) {
    if (delta.is_in_flight) in_flight.push_back(sequence);
  }
  for (const uint64_t sequence : in_flight) {
    state->EndDelivery(sequence, /*is_delivered=*/false);
  }
}

struct Totals {
  int64_t compared_in_flight = 0;
  int64_t undone = 0;
  int64_t shared = 0;
  int64_t muted = 0;
  int64_t removed = 0;
  int64_t departed_with_tasks = 0;
  int64_t foreign_pods = 0;
  int64_t evicted = 0;
  int64_t moved = 0;
  int64_t disturbed = 0;
  int64_t avoided = 0;
  int64_t shared_ports = 0;
  int64_t lasting_taints = 0;
  int64_t lost = 0;
  int64_t backing_off = 0;
};

void Count(const ClusterState& state, Totals* totals) {
  for (const auto& [id, delta] : state.outbox()) {
    if (delta.type == DeltaType::kMigrate) ++totals->moved;
    if (!delta.is_in_flight) continue;
    ++totals->compared_in_flight;
    if (!state.FindMachine(delta.machine)->is_present) ++totals->undone;
  }
  for (const auto& [id, task] : state.tasks()) {
    if (!task->client.earlier_holders.empty()) ++totals->shared;
    if (task->client.IsMuted()) ++totals->muted;
    if (task->state == TaskState::kRemoved) ++totals->removed;
    if (task->is_evicted) ++totals->evicted;
    if (task->disturbances > 0) ++totals->disturbed;
    if (task->runs_again == RunsAgain::kMachineFailed) ++totals->lost;
    if (task->retry_ms > 0) ++totals->backing_off;
    if (!task->class_key.rules->owner.empty()) ++totals->avoided;
    const bool has_ports = !task->class_key.rules->host_ports.empty();
    if (task->client.IsDisplaced() && has_ports) ++totals->shared_ports;
  }
  for (const auto& [id, machine] : state.machines()) {
    if (!machine->is_present && !machine->tasks.empty()) {
      ++totals->departed_with_tasks;
    }
    if (!machine->foreign_pods.empty()) ++totals->foreign_pods;
    const bool differ = std::ranges::adjacent_find(
                            machine->taints, std::not_equal_to(),
                            &MachineTaint::since_ms) != machine->taints.end();
    if (differ) ++totals->lasting_taints;
  }
}

// Those that no client of the contract was told of.
void TakeBackMoves(ClusterState* state) {
  std::vector<TaskId> moved;
  for (const auto& [sequence, delta] : state->outbox()) {
    if (delta.type == DeltaType::kMigrate && delta.feed == FeedId()) {
      moved.push_back(delta.task);
    }
  }
  for (const TaskId task : moved) state->Spare(task);
}

// Crashes and recovers: `state` becomes what a new process would have, after it
// was compared with what it would be without the crash.
void Crash(std::unique_ptr<ClusterState>* state, Store* store) {
  auto recovered = std::make_unique<ClusterState>();
  ASSERT_THAT(Recover(*store, recovered.get()), IsOk());

  EndAllDeliveries(state->get());
  TakeBackMoves(state->get());
  ASSERT_EQ(StateText(*recovered), StateText(**state));
  // What recovery undid reaches the store, and nothing else is in it than what
  // the state holds.
  Save(recovered.get(), store);
  MemoryStore fresh;
  ASSERT_THAT(fresh.Write(EncodeChanges(**state, EverythingIn(**state)),
                          Durability::kBuffered),
              IsOk());
  ASSERT_EQ(StoreText(*store), StoreText(fresh));
  *state = std::move(recovered);
}

void RunSeed(uint64_t seed, Totals* totals) {
  SCOPED_TRACE(StrCat("seed ", seed));
  RandomSteps steps(seed);
  Rng rng(~seed);
  MemoryStore store;
  // Two lives by the same steps, one with crashes and one without.
  auto crashing = std::make_unique<ClusterState>();
  ClusterState steady;
  for (int i = 0; i < kSteps; ++i) {
    const int64_t now_ms = 1000 + i / 3;
    const Step step = steps.Next(steady);
    const Ack ack = Take(step, now_ms, &steady);
    ASSERT_EQ(Take(step, now_ms, crashing.get()), ack) << "step " << i;
    ASSERT_EQ(StateText(*crashing), StateText(steady)) << "step " << i;
    if (rng.Chance(1, 5)) Save(crashing.get(), &store);
    if (rng.Chance(1, 12) || i == kSteps - 1) {
      // What successors are to inherit is not stored.
      EndAllSuccessions(now_ms, crashing.get());
      EndAllSuccessions(now_ms, &steady);
      Save(crashing.get(), &store);
      Count(*crashing, totals);
      Crash(&crashing, &store);
      if (testing::Test::HasFatalFailure()) return;
      EndAllDeliveries(&steady);
      TakeBackMoves(&steady);
    }
  }
}

TEST(RecoveryProperty, CannotBeToldFromNoCrash) {
  Totals totals;
  for (uint64_t seed = 0; seed < kSeeds && !HasFatalFailure(); ++seed) {
    RunSeed(seed, &totals);
  }
  // The lives were rich enough to mean something.
  constexpr int64_t kMany = kSeeds / 4;
  constexpr int64_t kSome = kSeeds / 20;
  EXPECT_GT(totals.compared_in_flight, kMany);
  EXPECT_GT(totals.shared, kMany);
  EXPECT_GT(totals.muted, kMany);
  EXPECT_GT(totals.removed, kMany);
  EXPECT_GT(totals.departed_with_tasks, kMany);
  EXPECT_GT(totals.foreign_pods, kMany);
  EXPECT_GT(totals.evicted, kMany);
  EXPECT_GT(totals.moved, kSome);
  EXPECT_GT(totals.avoided, kMany);
  EXPECT_GT(totals.shared_ports, kSome);
  EXPECT_GT(totals.lasting_taints, kSome);
  EXPECT_GT(totals.lost, kSome);
  // A few lives may by chance lack what is rare.
  if (kDrawsFewerSeeds) return;
  EXPECT_GT(totals.undone, kSome);
  EXPECT_GT(totals.backing_off, kSome);
  EXPECT_GE(totals.disturbed, 5);
}

// Damage that has a proper checksum: nobody's hardware does that, but a daemon
// with a bug might, and even then the next one must not die of it.
TEST(RecoveryProperty, SurvivesRecordsThatMeanAnything) {
  int64_t recovered_count = 0;
  int64_t refused_count = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RandomSteps steps(seed % 20);
    Rng rng(seed);
    ClusterState state;
    MemoryStore store;
    for (int i = 0; i < 60; ++i) Take(steps.Next(state), i, &state);
    WriteBatch batch = EncodeChanges(state, state.TakeChanges());
    WriteBatch damaged;
    const size_t victim = rng.Below(batch.operations().size());
    for (size_t i = 0; i < batch.operations().size(); ++i) {
      const auto& [key, value] = batch.operations()[i];
      if (!value.has_value()) continue;
      std::string bytes(*Unseal(key, *value));
      for (uint64_t left = i == victim ? rng.Between(1, 3) : 0; left > 0;
           --left) {
        if (bytes.empty()) break;
        char& byte = bytes[rng.Below(bytes.size())];
        byte = static_cast<char>(byte ^ (1 << rng.Below(8)));
      }
      damaged.Put(key, Seal(key, bytes));
    }
    ASSERT_THAT(store.Write(damaged, Durability::kBuffered), IsOk());
    ClusterState recovered;
    if (!Recover(store, &recovered).ok()) {
      ++refused_count;
      continue;
    }
    ++recovered_count;
    RandomSteps further(seed);
    for (int i = 0; i < 60; ++i) Take(further.Next(recovered), i, &recovered);
  }
  EXPECT_GT(recovered_count, 300);
  EXPECT_GT(refused_count, 300);
}

}  // namespace
}  // namespace sluice
