// Rounds that move what runs, in clusters that change by what their client does
// with the decisions and by nothing else.
//
// What is known of them without the scheduler: another round on the same input
// stops and moves nothing.  And no round makes the cluster worse, once its
// client has done what it says: at the most urgent priority at which what waits
// costs something else than before it costs less; where it costs the same, what
// runs costs less, by no less than what the moves cost.

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "cost/waiting_cost.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/seed_count.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// What the node_affinity policy charges for a weight that is not matched.
constexpr Cost kCostPerWeight = 3000;
constexpr uint32_t kPriorities = 4;
constexpr int kRoundsMax = 40;
// So long after another each round looks at what runs.
constexpr int64_t kStepMs = 60'000;
// What a round places stays there in the next one.
constexpr int64_t kMinRunMs = 90'000;
// Within this nothing that waits becomes more important than something else.
constexpr int64_t kMomentMs = 1000;

// What a cluster comes to, the most important first.
struct Worth {
  // By priority, what it costs that so many wait for so long.
  std::map<uint32_t, Cost, std::greater<>> waiting;
  Cost cost = 0;  // Of the preferences of what runs.

  std::strong_ordering operator<=>(const Worth&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Worth& worth) {
    for (const auto& [priority, cost] : worth.waiting) {
      out << "what waits of priority " << priority << " costs " << cost << ", ";
    }
    return out << "what runs " << worth.cost;
  }
};

class StaticCluster {
 public:
  explicit StaticCluster(uint64_t seed)
      : rng_(seed),
        move_cost_(kCostPerWeight * rng_.Between(1, 20)),
        cluster_({.preemption = {.mode = Preemption::kFull,
                                 .moves = {.cost = move_cost_,
                                           .percent_per_round = 100,
                                           .percent_per_hour = 100,
                                           .min_run_ms = kMinRunMs}}}) {
    for (int64_t i = rng_.Between(2, rng_.Chance(1, 10) ? 30 : 8); i > 0; --i) {
      AddMachine();
    }
    // These run by the time when the others come.
    const int64_t batches = rng_.Between(3, 12);
    for (int64_t i = 0; i < batches; ++i) SubmitSome();
    Schedule();
    now_ms_ += kStepMs;
    for (int64_t i = rng_.Between(0, 2); i > 0; --i) AddMachine();
    for (int64_t i = rng_.Between(0, batches); i > 0; --i) SubmitSome();
  }

  // Until a round decides nothing.
  void Run() {
    for (int round = 0; round < kRoundsMax; ++round) {
      now_ms_ += kMinRunMs + kStepMs;
      const Worth before = Measure();
      const std::vector<ScheduleReply::Entry> decided = Schedule();
      const int64_t moved = std::ranges::count(decided, DeltaType::kMigrate,
                                               &ScheduleReply::Entry::type);
      const Worth after = Measure();
      SCOPED_TRACE(StrCat("round ", round, ", ", moved, " moves"));
      EXPECT_LE(after, before);
      if (after.waiting == before.waiting) {
        EXPECT_LE(after.cost + moved * move_cost_, before.cost);
      }
      now_ms_ += kMomentMs;
      for (const ScheduleReply::Entry& entry : Schedule()) {
        EXPECT_EQ(entry.type, DeltaType::kPlace)
            << "task " << entry.uid.value << " on unchanged input";
      }
      if (testing::Test::HasFailure() || decided.empty()) return;
      CarryOut(decided);
    }
    ADD_FAILURE() << "it never settles";
  }

 private:
  std::string DrawDisk() { return rng_.Chance(1, 2) ? "ssd" : "hdd"; }

  void AddMachine() {
    cluster_.Apply(Added(StrCat("m", next_machine_++),
                         {.cpu = rng_.Between(4, 20) * 100,
                          .memory = rng_.Between(4, 20) * 100,
                          .pods = rng_.Between(3, 30),
                          .labels = {{"disk", DrawDisk()}}}));
  }

  void Submit(const TaskOptions& options, const PeerOptions& peers) {
    tasks_[next_uid_] = options;
    peers_[next_uid_] = peers;
    cluster_.Apply(Submitted(next_uid_++, options, peers), now_ms_);
  }

  void SubmitSome() {
    const std::string job = StrCat("job", next_uid_);
    TaskOptions options{
        .cpu = rng_.Between(1, 9) * 100,
        .memory = rng_.Between(0, 9) * 100,
        .priority = static_cast<uint32_t>(rng_.Below(kPriorities)),
        .job = job,
        .owner = {"ReplicaSet", job}};
    int64_t count = rng_.Between(1, 5);
    PeerOptions peers;
    if (rng_.Chance(1, 8)) {
      peers.gang = {.minimum = static_cast<uint64_t>(count)};
    }
    options.rules.never_preempts = rng_.Chance(1, 8);
    if (rng_.Chance(2, 3)) {
      options.rules.preferred = {
          {.weight = static_cast<int32_t>(rng_.Between(1, 100)),
           .term = {.labels = {LabelIn("disk", {DrawDisk()})}}}};
    }
    if (rng_.Chance(1, 4)) {
      options.preemption_cost = static_cast<int32_t>(rng_.Between(0, 300));
    }
    if (rng_.Chance(1, 4)) {
      options.budget = DisruptionBudget{
          .limit = rng_.Chance(1, 2) ? DisruptionBudget::Limit::kMinAvailable
                                     : DisruptionBudget::Limit::kMaxUnavailable,
          .amount = rng_.Between(0, 3)};
    }
    for (; count > 0; --count) Submit(options, peers);
  }

  std::vector<ScheduleReply::Entry> Schedule() {
    cluster_.Round(now_ms_);
    std::vector<ScheduleReply::Entry> all;
    while (true) {
      const ScheduleReply reply = cluster_.Deliver();
      if (reply.deltas.empty()) return all;
      all.insert(all.end(), reply.deltas.begin(), reply.deltas.end());
    }
  }

  // As controllers do: each task that leaves has a successor at once.
  void CarryOut(const std::vector<ScheduleReply::Entry>& decided) {
    for (const ScheduleReply::Entry& entry : decided) {
      if (entry.type == DeltaType::kPlace) continue;
      const auto task = tasks_.extract(entry.uid.value);
      const auto peers = peers_.extract(entry.uid.value);
      const auto place = PlaceOf(entry.uid.value);
      if (place.has_value()) meant_for_[next_uid_] = *place;
      cluster_.Apply(Removed(entry.uid.value), now_ms_);
      Submit(task.mapped(), peers.mapped());
    }
  }

  // Where the task will be once its client has done all that it was told;
  // nothing where it will wait.
  std::optional<MachineId> PlaceOf(uint64_t uid) const {
    const Task& task = cluster_.TaskOf(uid);
    const Nominations& nominations = cluster_.state().nominations();
    for (const auto& [sequence, succession] : nominations.successions().all()) {
      if (succession.predecessor == task.id) return succession.machine;
    }
    if (task.state == TaskState::kRunning) return task.machine;
    const auto nominated = nominations.machines().find(task.id);
    if (nominated != nominations.machines().end()) return nominated->second;
    const auto meant = meant_for_.find(uid);
    return meant == meant_for_.end() ? std::nullopt
                                     : std::optional(meant->second);
  }

  // What it costs that the task waits, or is to.
  Cost WaitingCostOf(const Task& task) const {
    return WaitingCost(
        task.state == TaskState::kRunning ? 0 : now_ms_ - task.submitted_ms);
  }

  // What the task prefers and does not get; all that it prefers where it may
  // yet be placed elsewhere, since there is room sooner.
  Cost CostOn(MachineId place, uint64_t uid) const {
    const auto& wishes = tasks_.at(uid).rules.preferred;
    if (wishes.empty()) return 0;
    const std::string& disk = wishes[0].term.labels[0].values[0];
    const Machine& machine = *cluster_.state().FindMachine(place);
    const bool is_matched =
        machine.labels == LabelPairs{{"disk", disk}} &&
        !cluster_.state().nominations().Contains(cluster_.TaskOf(uid).id);
    return is_matched ? 0 : kCostPerWeight * wishes[0].weight;
  }

  Worth Measure() const {
    Worth worth;
    for (uint32_t p = 0; p < kPriorities; ++p) worth.waiting[p] = 0;
    for (const auto& [uid, options] : tasks_) {
      const std::optional<MachineId> place = PlaceOf(uid);
      if (place.has_value()) {
        worth.cost += CostOn(*place, uid);
      } else {
        worth.waiting[options.priority] += WaitingCostOf(cluster_.TaskOf(uid));
      }
    }
    return worth;
  }

  Rng rng_;
  const Cost move_cost_;
  TestScheduler cluster_;
  std::map<uint64_t, TaskOptions> tasks_;    // By uid, of those that have not
  std::map<uint64_t, PeerOptions> peers_;    // ended; and the rest of them.
  std::map<uint64_t, MachineId> meant_for_;  // By uid, of successors of moves.
  int64_t next_machine_ = 0;
  uint64_t next_uid_ = 1;
  int64_t now_ms_ = 0;
};

TEST(Moves, NeverCostMoreThanTheyGainAndAreOverAtOnce) {
  for (uint64_t seed = 1; seed <= SeedCount(200); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    StaticCluster(seed).Run();
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace sluice
