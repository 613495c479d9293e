// Random lives of tiny clusters whose tasks replace each other: of a task and
// the one in whose place it is to run one alone runs, and neither waits for
// nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int kSteps = 60;

class ReplacementWorld {
 public:
  explicit ReplacementWorld(uint64_t seed)
      : rng_(seed),
        cluster_({.requeues = {.from_failed_machines = rng_.Chance(1, 2),
                               .evicted = rng_.Chance(1, 2)}}) {
    for (int i = 0; i < 3; ++i) AddMachine();
  }

  // What was wrong, or "".
  std::string Step() {
    const uint64_t what = rng_.Below(10);
    if (what < 4) {
      Submit();
    } else if (what < 6 && last_uid_ > 0) {
      End(rng_.Between(1, static_cast<int64_t>(last_uid_)));
    } else if (what == 6) {
      EndOneThatWasTold();
    } else if (what == 7) {
      LoseMachine();
      AddMachine();
    }
    return Round();
  }

  // Rounds without events: nobody waits whom nothing keeps.
  std::string Settle() {
    for (int i = 0; i < 20; ++i) {
      if (std::string wrong = Round(); !wrong.empty()) return wrong;
      if (is_quiet_) return FindStranded();
    }
    return "rounds go on";
  }

 private:
  struct Submitted {
    std::optional<uint64_t> former;
    bool is_anywhere = false;
    int64_t cpu = 0;
  };

  void AddMachine() {
    const std::string uuid = StrCat("m", machines_++);
    cluster_.Apply(Added(uuid, {.cpu = rng_.Between(1, 4) * 1000}));
    present_.push_back(uuid);
  }
  void LoseMachine() {
    const size_t i = rng_.Below(present_.size());
    RemoveMachine command = Removed(present_[i]);
    command.has_failed = true;
    cluster_.Apply(command);
    present_.erase(present_.begin() + static_cast<ptrdiff_t>(i));
  }
  void Submit() {
    const uint64_t uid = ++last_uid_;
    Submitted task;
    task.cpu = rng_.Between(1, 4) * 500;
    // Of older ones, of itself, and of ones that are still to come.
    if (rng_.Chance(2, 3)) {
      task.former = rng_.Between(1, static_cast<int64_t>(uid) + 2);
      task.is_anywhere = rng_.Chance(1, 2);
    }
    TaskOptions options = {.cpu = task.cpu};
    if (task.former.has_value()) {
      options.rules.replaces = TaskUid{*task.former};
      options.rules.replaces_anywhere = task.is_anywhere;
    }
    tasks_[uid] = task;
    cluster_.Apply(sluice::Submitted(uid, options));
  }
  void End(int64_t uid) {
    const auto id = static_cast<uint64_t>(uid);
    if (rng_.Chance(1, 2)) cluster_.Apply(Completed(id));
    if (rng_.Chance(1, 2)) cluster_.Apply(Removed(id));
  }
  void EndOneThatWasTold() {
    for (const auto& [id, task] : cluster_.state().tasks()) {
      if (task->state != TaskState::kRunning || !task->is_evicted) continue;
      cluster_.Apply(Failed(id.value));
      return;
    }
  }

  std::string Round() {
    const std::vector<std::string> told = cluster_.Reply(++now_ms_);
    is_quiet_ = told.empty();
    if (std::string wrong = FindContradiction(cluster_.state());
        !wrong.empty()) {
      return wrong;
    }
    for (const auto& [uid, task] : tasks_) {
      if (!task.former.has_value() || *task.former == uid) continue;
      const Task* newcomer = Find(uid);
      const Task* former = Find(*task.former);
      if (newcomer == nullptr || former == nullptr || !Runs(*newcomer) ||
          !Runs(*former) || FavorsFormer(uid)) {
        continue;
      }
      return StrCat(uid, " runs beside ", *task.former);
    }
    return "";
  }

  const Task* Find(uint64_t uid) const {
    const Task* task = cluster_.state().FindTask({uid});
    return task != nullptr && task->IsLive() ? task : nullptr;
  }
  static bool Runs(const Task& task) {
    return task.state == TaskState::kRunning && !task.is_evicted;
  }

  // Whether the newcomer's former task is the newest of their circle.  Uids are
  // in the order of submission here.
  bool FavorsFormer(uint64_t uid) const {
    std::set<uint64_t> seen;
    uint64_t newest = 0;
    for (uint64_t at = uid; seen.insert(at).second;) {
      newest = std::max(newest, at);
      const auto it = tasks_.find(at);
      if (Find(at) == nullptr || it == tasks_.end() ||
          !it->second.former.has_value()) {
        return false;
      }
      at = *it->second.former;
      if (at == uid) return newest == *tasks_.at(uid).former;
    }
    return false;
  }

  std::string FindStranded() const {
    for (const auto& [uid, task] : tasks_) {
      const Task* waiting = Find(uid);
      if (waiting == nullptr || waiting->state != TaskState::kPending ||
          IsReplaced(uid)) {
        continue;
      }
      const Task* former = task.former.has_value() && *task.former != uid
                               ? Find(*task.former)
                               : nullptr;
      const bool is_bound =
          former != nullptr && former->state == TaskState::kRunning;
      if (is_bound && !former->is_evicted && HasRoom(task, former)) {
        return StrCat(uid, " waits, and could have the place of ",
                      *task.former);
      }
      if ((!is_bound || task.is_anywhere) && HasRoom(task, nullptr)) {
        return StrCat(uid, " waits, and there is room for it");
      }
    }
    return "";
  }

  bool IsReplaced(uint64_t uid) const {
    for (const auto& [other, task] : tasks_) {
      if (task.former == uid && other != uid && Find(other) != nullptr &&
          !FavorsFormer(other)) {
        return true;
      }
    }
    return false;
  }

  // On the machine of the former one without it, or on any.
  bool HasRoom(const Submitted& task, const Task* former) const {
    for (const auto& [id, machine] : cluster_.state().machines()) {
      if (!machine->IsUsable()) continue;
      if (former != nullptr && former->machine != id) continue;
      int64_t free = machine->Free()[kCpu];
      if (former != nullptr) free += former->class_key.request[kCpu];
      if (task.cpu <= free) return true;
    }
    return false;
  }

  Rng rng_;
  TestScheduler cluster_;
  std::map<uint64_t, Submitted> tasks_;
  std::vector<std::string> present_;
  uint64_t last_uid_ = 0;
  int machines_ = 0;
  int64_t now_ms_ = 0;
  bool is_quiet_ = false;
};

TEST(ReplacementsProperty, OneOfTwoRunsAndNoneWaitsForNothing) {
  for (uint64_t seed = 1; seed <= SeedCount(600); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    ReplacementWorld world(seed);
    for (int step = 0; step < kSteps; ++step) {
      ASSERT_EQ(world.Step(), "") << "step " << step;
      if (step % 10 != 9) continue;
      ASSERT_EQ(world.Settle(), "") << "step " << step;
    }
  }
}

}  // namespace
}  // namespace sluice
