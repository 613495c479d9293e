// Random lives of small clusters whose tasks have terms about each other: each
// placement is legal at the moment at which the client carries it out, and a
// task that waits in the end fits nowhere.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "property/random_peers.h"
#include "property/replay_model.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int kStepsPerSeed = 12;
// Rounds in a row that may each place something before nothing is left to do:
// a round that commands do not meet should need no second one.
constexpr int kRoundsMax = 20;

// One run of a seed.  It stops at the first thing that is wrong.
class Trial {
 public:
  explicit Trial(uint64_t seed)
      : rng_(seed),
        peers_(rng_.Next()),
        evicts_(rng_.Chance(1, 4)),
        cluster_({.improve_budget = DrawImproveBudget(&rng_),
                  .evicts_on_no_execute = evicts_,
                  .requeues = {.from_failed_machines = true}}) {}

  // Returns what was wrong, or "".
  std::string Go() {
    for (int64_t i = rng_.Between(2, 8); i > 0; --i) AddMachine();
    for (step_ = 0; step_ < kStepsPerSeed; ++step_) {
      for (int64_t i = rng_.Between(1, 6); i > 0; --i) DoCommand();
      const std::string error = PlaceAllThatFit();
      if (!error.empty()) return StrCat("step ", step_, ": ", error);
    }
    return "";
  }

  int64_t placed() const { return placed_; }
  int64_t rounds() const { return rounds_; }
  int64_t peers_forbade() const { return peers_forbade_; }

 private:
  void Apply(const Command& command) {
    model_.Apply(command);
    cluster_.Apply(command, now_ms_);
  }

  void AddMachine() {
    const std::string uuid = StrCat("m", model_.cluster().machines.size());
    Apply(Added(uuid, peers_.DrawMachine(uuid)));
  }

  // Draws one of `uids`; 0 where there is none.
  uint64_t Draw(const std::vector<uint64_t>& uids) {
    return uids.empty() ? 0 : uids[rng_.Below(uids.size())];
  }

  void DoCommand() {
    now_ms_ += rng_.Between(0, 2000);
    switch (rng_.Below(12)) {
      case 0:
      case 1:
        if (const uint64_t uid = Draw(model_.Running())) Apply(Completed(uid));
        return;
      case 2:
        if (const uint64_t uid = Draw(model_.Running())) Apply(Failed(uid));
        return;
      case 3:
        if (const uint64_t uid = Draw(model_.Waiting())) {
          Apply(Removed(uid));
        } else if (const uint64_t other = Draw(model_.Running())) {
          Apply(Removed(other));
        }
        return;
      case 4:
        return ChangeMachine();
      case 5:
        return ChangeTask();
      default:
        Apply(peers_.DrawTask(++last_uid_));
    }
  }

  void ChangeMachine() {
    const size_t count = model_.cluster().machines.size();
    const std::string uuid = StrCat("m", rng_.Below(count));
    if (!model_.cluster().machines.at(uuid).is_usable) {
      Apply(Added(uuid, peers_.DrawMachine(uuid)));  // It returns.
    } else if (rng_.Chance(1, 2)) {
      Apply(Updated(uuid, peers_.DrawMachine(uuid)));
    } else if (rng_.Chance(1, 2) || count >= 8) {
      RemoveMachine command = Removed(uuid);
      command.has_failed = rng_.Chance(1, 2);
      Apply(command);
    } else {
      AddMachine();
    }
  }

  // The labels and terms of a task that waits or runs.
  void ChangeTask() {
    const uint64_t uid =
        Draw(rng_.Chance(1, 2) ? model_.Running() : model_.Waiting());
    if (uid == 0) return;
    UpdateTask update{{uid}, peers_.DrawTask(uid).spec};
    const PeerTask& task = model_.cluster().tasks.at(uid);
    update.spec.request =
        cluster_.state().ToNamed(cluster_.TaskOf(uid).class_key.request);
    std::erase_if(update.spec.request,
                  [](const auto& amount) { return amount.first == "pods"; });
    update.spec.task_namespace = task.task_namespace;
    update.spec.namespace_labels = task.namespace_labels;
    Apply(update);
  }

  // Rounds until nothing is placed.  Returns what was wrong, or "".
  std::string PlaceAllThatFit() {
    for (int round = 0; round < kRoundsMax; ++round) {
      const RoundStats stats = cluster_.Round(now_ms_);
      ++rounds_;
      const std::string contradiction = FindContradiction(cluster_.state());
      if (!contradiction.empty()) return contradiction;
      const ScheduleReply reply = cluster_.Deliver();
      const std::string error = Check(reply, stats);
      if (!error.empty()) return error;
      if (reply.deltas.empty()) return FindStranded();
    }
    return "rounds go on placing tasks";
  }

  std::string Check(const ScheduleReply& reply, const RoundStats& stats) {
    if (stats.is_cut_short) return "the round was cut short";
    int64_t placed = 0;
    for (const ScheduleReply::Entry& entry : reply.deltas) {
      if (entry.type == DeltaType::kPlace) ++placed;
      if (entry.type == DeltaType::kPreempt && !evicts_) {
        return StrCat("task ", entry.uid.value, " is preempted");
      }
    }
    if (placed != stats.placed) {
      return "the round counts its placements differently";
    }
    placed_ += placed;
    return model_.Replay(reply);
  }

  // A task that waits though it may run somewhere, or "".
  std::string FindStranded() {
    for (const uint64_t uid : model_.Waiting()) {
      const PeerCluster& cluster = model_.cluster();
      for (const auto& [uuid, machine] : cluster.machines) {
        const std::string why = model_.WhyNot(uid, uuid);
        if (why.empty()) {
          return StrCat("task ", uid, " waits, but may run on ", uuid);
        }
        peers_forbade_ +=
            why == WhyPeersForbid(cluster, cluster.tasks.at(uid), uuid);
      }
    }
    return "";
  }

  Rng rng_;
  RandomPeers peers_;
  const bool evicts_;
  TestScheduler cluster_;
  ReplayModel model_;
  int64_t now_ms_ = 0;
  int step_ = 0;
  uint64_t last_uid_ = 0;
  int64_t placed_ = 0;
  int64_t rounds_ = 0;
  int64_t peers_forbade_ = 0;
};

class PeersProperty : public testing::TestWithParam<uint64_t> {};

TEST_P(PeersProperty, EachPlacementIsLegalAndWhatWaitsFitsNowhere) {
  constexpr uint64_t kSeedsPerCase = SeedCount(250);
  int64_t placed = 0;
  int64_t peers_forbade = 0;
  for (uint64_t i = 0; i < kSeedsPerCase; ++i) {
    const uint64_t seed = GetParam() * kSeedsPerCase + i;
    Trial trial(seed);
    ASSERT_EQ(trial.Go(), "") << "seed " << seed;
    placed += trial.placed();
    peers_forbade += trial.peers_forbade();
  }
  constexpr int64_t kEnough = 4 * kSeedsPerCase;
  EXPECT_GT(placed, kEnough) << "the commands do not try the scheduler";
  EXPECT_GT(peers_forbade, kEnough) << "terms forbid next to nothing";
}

INSTANTIATE_TEST_SUITE_P(Seeds, PeersProperty, testing::Range<uint64_t>(0, 16));

}  // namespace
}  // namespace sluice
