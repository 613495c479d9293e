// Small clusters whose tasks have rules about each other, against brute force:
// every set of running tasks is tried that could be stopped for one that waits.
//
// In the end no task waits that some set would let in, and what the last resort
// finds for one task is the cheapest set there is.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "network/fresh_eligibility.h"
#include "property/peer_oracle.h"
#include "round/plans/displacement.h"
#include "round/together/gangs.h"
#include "util/peer_builder.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// What is stopped, by priority, the most urgent first.
using Price = std::map<uint32_t, int64_t, std::greater<>>;

struct Drawn {
  TaskOptions options;
  uint64_t gang_minimum = 0;  // 0: it is of none.
};

class SmallCluster {
 public:
  SmallCluster(uint64_t seed, Preemption mode, bool are_gangs_waiting = false)
      : rng_(seed),
        are_gangs_waiting_(are_gangs_waiting),
        cluster_({.preemption = {.mode = mode}}) {
    for (int64_t i = rng_.Between(2, 4); i > 0; --i) AddMachine();
    for (int64_t i = rng_.Between(3, 7); i > 0; --i) SubmitSome(/*low=*/true);
  }

  TestScheduler& cluster() { return cluster_; }
  const std::map<uint64_t, Drawn>& drawn() const { return drawn_; }

  void SubmitWaiting() {
    for (int64_t i = rng_.Between(1, 3); i > 0; --i) SubmitSome(/*low=*/false);
  }

  // A round, after which all who were told to leave do.  Returns whether
  // anything happened.
  bool Round() {
    cluster_.Round(now_ms_ += 61'000);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    const ScheduleReply reply = cluster_.Deliver();
    for (const ScheduleReply::Entry& entry : reply.deltas) {
      if (entry.type == DeltaType::kPlace) continue;
      drawn_.erase(entry.uid.value);
      cluster_.Apply(Removed(entry.uid.value));
    }
    return !reply.deltas.empty();
  }

  PeerTask AsPeer(uint64_t uid) const {
    const TaskOptions& options = drawn_.at(uid).options;
    return {.job = options.job,
            .task_namespace = kNamespace,
            .labels = options.labels,
            .rules = options.rules,
            .machine = cluster_.MachineOf(uid)};
  }

  // The least that it costs to let these in, one after the other; nothing where
  // that cannot be.  They are equally urgent.
  std::optional<Price> Cheapest(const std::vector<uint64_t>& uids) const {
    std::vector<uint64_t> stoppable;
    const PeerCluster all = Peers();
    for (const auto& [other, peer] : all.tasks) {
      if (!peer.machine.empty() &&
          PriorityOf(other) < PriorityOf(uids.front())) {
        stoppable.push_back(other);
      }
    }
    std::optional<Price> best;
    for (uint64_t set = 0; set < uint64_t{1} << stoppable.size(); ++set) {
      std::set<uint64_t> gone;
      Price price;
      for (size_t i = 0; i < stoppable.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        gone.insert(stoppable[i]);
        price[PriorityOf(stoppable[i])] += CostOf(stoppable[i]);
      }
      if ((best.has_value() && *best <= price) || !MayStopTogether(gone)) {
        continue;
      }
      PeerCluster left = all;
      for (const uint64_t one : gone) left.tasks.erase(one);
      if (MayCome(uids, std::move(left))) best = price;
    }
    return best;
  }

  std::vector<uint64_t> WaitingAlone() const {
    std::vector<uint64_t> waiting;
    for (const auto& [uid, one] : drawn_) {
      if (one.gang_minimum == 0 && cluster_.MachineOf(uid).empty() &&
          !one.options.rules.never_preempts) {
        waiting.push_back(uid);
      }
    }
    return waiting;
  }
  // The tasks of each gang of which all wait.
  std::vector<std::vector<uint64_t>> WaitingGangs() const {
    std::map<std::string, std::vector<uint64_t>> waiting;
    for (const auto& [uid, one] : drawn_) {
      if (one.gang_minimum > 0 && cluster_.MachineOf(uid).empty() &&
          !one.options.rules.never_preempts) {
        waiting[one.options.job].push_back(uid);
      }
    }
    std::vector<std::vector<uint64_t>> gangs;
    for (auto& [job, tasks] : waiting) {
      if (tasks.size() >= drawn_.at(tasks.front()).gang_minimum) {
        gangs.push_back(std::move(tasks));
      }
    }
    return gangs;
  }

 private:
  void AddMachine() {
    const std::string uuid = StrCat("m", cpu_of_.size());
    cpu_of_[uuid] = rng_.Between(3, 12) * 100;
    labels_of_[uuid] = {{"zone", StrCat("z", rng_.Below(2))}};
    cluster_.Apply(
        Added(uuid, {.cpu = cpu_of_[uuid], .labels = labels_of_[uuid]}));
  }

  std::string DrawApp() { return StrCat("app-", rng_.Below(3)); }
  PeerTerm DrawTerm() {
    return {App(DrawApp()), rng_.Chance(2, 3) ? "zone" : ""};
  }

  void SubmitSome(bool low) {
    TaskOptions options = {
        .cpu = rng_.Between(1, 5) * 100,
        .priority = static_cast<uint32_t>(low ? rng_.Between(0, 2)
                                              : rng_.Between(2, 4)),
        .job = StrCat("job-", next_uid_),
        .labels = {{"app", DrawApp()}},
        .preemption_cost = static_cast<int32_t>(rng_.Between(0, 3) * 50)};
    if (rng_.Chance(1, 3)) options.rules.anti_affinity.push_back(DrawTerm());
    if (!low && rng_.Chance(1, 3)) options.rules.affinity = {DrawTerm()};
    if (!low && rng_.Chance(1, 3)) {
      options.rules.spread = {Spread(App(DrawApp()), "zone")};
    }
    if (rng_.Chance(1, 8)) options.rules.host_ports = {{.port = 80}};
    options.rules.never_preempts = rng_.Chance(1, 12);
    const bool is_new_gang = !low && are_gangs_waiting_;
    const int64_t count = is_new_gang ? 2 : rng_.Between(1, low ? 3 : 2);
    uint64_t minimum = 0;
    if (is_new_gang) {
      minimum = 2;
    } else if (low && count > 1 && rng_.Chance(1, 3)) {
      minimum = static_cast<uint64_t>(rng_.Between(2, count));
    } else if (low && rng_.Chance(1, 4)) {
      options.budget =
          DisruptionBudget{.limit = DisruptionBudget::Limit::kMinAvailable,
                           .amount = rng_.Between(0, 2)};
    }
    for (int64_t i = 0; i < count; ++i) {
      cluster_.Apply(
          Submitted(next_uid_, options, {.gang = {.minimum = minimum}}));
      drawn_[next_uid_++] = {options, minimum};
    }
  }

  PeerCluster Peers() const {
    PeerCluster peers;
    for (const auto& [uuid, labels] : labels_of_) {
      peers.machines[uuid].description.labels = labels;
    }
    for (const auto& [uid, one] : drawn_) peers.tasks[uid] = AsPeer(uid);
    return peers;
  }
  uint32_t PriorityOf(uint64_t uid) const {
    return drawn_.at(uid).options.priority;
  }
  int64_t CostOf(uint64_t uid) const {
    return 100 + drawn_.at(uid).options.preemption_cost;
  }
  // One after the other, in any places.
  bool MayCome(std::span<const uint64_t> uids, PeerCluster left) const {
    if (uids.empty()) return true;
    const uint64_t uid = uids.front();
    PeerTask newcomer = AsPeer(uid);
    left.tasks.erase(uid);
    for (const auto& [machine, cpu] : cpu_of_) {
      if (!Fits(uid, machine, left) ||
          !WhyPeersForbid(left, newcomer, machine).empty()) {
        continue;
      }
      PeerCluster with = left;
      newcomer.machine = machine;
      with.tasks[uid] = newcomer;
      newcomer.machine.clear();
      if (MayCome(uids.subspan(1), std::move(with))) return true;
    }
    return false;
  }

  // A gang goes on with its minimum or not at all, and so many stay of a job as
  // its budget says.
  bool MayStopTogether(const std::set<uint64_t>& gone) const {
    std::map<std::string, int64_t> running;
    std::map<std::string, int64_t> leaving;
    std::map<std::string, const Drawn*> of_job;
    for (const auto& [uid, one] : drawn_) {
      if (cluster_.MachineOf(uid).empty()) continue;
      ++running[one.options.job];
      if (gone.contains(uid)) ++leaving[one.options.job];
      of_job[one.options.job] = &one;
    }
    return std::ranges::all_of(leaving, [&](const auto& entry) {
      const Drawn& one = *of_job.at(entry.first);
      const int64_t left = running.at(entry.first) - entry.second;
      if (one.options.budget.has_value() && left < one.options.budget->amount) {
        return false;
      }
      return one.gang_minimum == 0 || left == 0 ||
             left >= static_cast<int64_t>(one.gang_minimum);
    });
  }

  bool Fits(uint64_t uid, const std::string& machine,
            const PeerCluster& left) const {
    const TaskOptions& own = drawn_.at(uid).options;
    int64_t cpu = own.cpu;
    for (const auto& [other, peer] : left.tasks) {
      if (peer.machine != machine) continue;
      cpu += drawn_.at(other).options.cpu;
      if (!own.rules.host_ports.empty() && !peer.rules.host_ports.empty()) {
        return false;
      }
    }
    return cpu <= cpu_of_.at(machine);
  }

  Rng rng_;
  const bool are_gangs_waiting_;
  TestScheduler cluster_;
  std::map<std::string, int64_t> cpu_of_;
  std::map<std::string, LabelPairs> labels_of_;
  std::map<uint64_t, Drawn> drawn_;  // Those that are not gone.
  uint64_t next_uid_ = 1;
  int64_t now_ms_ = 0;
};

TEST(LastResort, LeavesNobodyWaitingWhomStopsWouldLetIn) {
  int served = 0;
  for (uint64_t seed = 1; seed <= SeedCount(150); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    SmallCluster small(seed, Preemption::kPriority);
    for (int i = 0; i < 3; ++i) small.Round();
    small.SubmitWaiting();
    int quiet = 0;
    for (int i = 0; i < 200 && quiet < 24; ++i) {
      if (small.Round()) {
        quiet = 0;
        ++served;
      } else {
        ++quiet;
      }
    }
    EXPECT_EQ(quiet, 24) << "it never settles";
    for (const uint64_t uid : small.WaitingAlone()) {
      EXPECT_FALSE(small.Cheapest({uid}).has_value())
          << "task " << uid << " could come in";
    }
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(served, 0);
}

// Their tasks take their places one after the other, which might miss some, but
// hardly of two tasks.
TEST(LastResort, LeavesNoGangOfTwoWaitingThatStopsWouldLetIn) {
  int started = 0;
  int missed = 0;
  for (uint64_t seed = 1; seed <= SeedCount(150); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    SmallCluster small(seed, Preemption::kPriority, /*are_gangs_waiting=*/true);
    for (int i = 0; i < 3; ++i) small.Round();
    small.SubmitWaiting();
    const auto before = std::ssize(small.WaitingGangs());
    int quiet = 0;
    for (int i = 0; i < 200 && quiet < 24; ++i) {
      quiet = small.Round() ? 0 : quiet + 1;
    }
    EXPECT_EQ(quiet, 24) << "it never settles";
    const auto waiting = small.WaitingGangs();
    started += static_cast<int>(before - std::ssize(waiting));
    missed +=
        static_cast<int>(std::ranges::count_if(waiting, [&](const auto& gang) {
          return small.Cheapest(gang).has_value();
        }));
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_EQ(missed, 0);
  EXPECT_GT(started, static_cast<int>(SeedCount(150) / 3));
}

TEST(LastResort, FindsTheCheapestForOneTask) {
  int found_count = 0;
  for (uint64_t seed = 1; seed <= SeedCount(400); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    SmallCluster small(seed, Preemption::kOff);
    for (int i = 0; i < 3; ++i) small.Round();
    small.SubmitWaiting();
    for (int i = 0; i < 3; ++i) small.Round();
    ClusterState& state = small.cluster().mutable_state();
    state.SyncPeers();
    Eligibility& eligibility = small.cluster().eligibility();
    FreshEligibility fresh(&state, &eligibility);
    const Gangs gangs(&state, &fresh, ~uint64_t{0}, 0);
    const PreemptionOptions options = {.mode = Preemption::kPriority};
    for (const uint64_t uid : small.WaitingAlone()) {
      const ClassKey& key = small.cluster().TaskOf(uid).class_key;
      StoppableTasks stoppable(state, gangs, options, key.priority);
      Allowance work(10'000'000);
      DisplacementSearch search(
          {state, small.cluster().constraints(), eligibility, stoppable}, key,
          &work);
      const auto found =
          search.FindCheapest([](MachineId) { return true; }, seed);
      const auto wanted = small.Cheapest({uid});
      ASSERT_EQ(found.has_value(), wanted.has_value()) << "task " << uid;
      if (!found.has_value()) continue;
      EXPECT_EQ(found->price.sums, *wanted) << "task " << uid;
      ++found_count;
    }
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(found_count, 50);
}

}  // namespace
}  // namespace sluice
