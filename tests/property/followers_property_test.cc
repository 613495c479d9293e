// Whole rounds on clusters where tasks that must be near others of other jobs
// are known to fit, all of them: they were put there before their places were
// forgotten.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "util/peer_builder.h"
#include "util/seed_count.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr char kHost[] = "kubernetes.io/hostname";
constexpr char kZone[] = "zone";

// A cluster, and tasks that fit there.
class PlantedCluster {
 public:
  // Fills so many percent of each machine.
  PlantedCluster(uint64_t seed, int64_t percent) : rng_(seed) {
    zones_ = rng_.Between(2, 5);
    for (int64_t i = rng_.Between(20, 120); i > 0; --i) AddMachine(percent);
    for (int64_t i = rng_.Between(5, 40); i > 0; --i) PlantGroup();
    for (size_t m = 0; m < machines_.size(); ++m) {
      while (PlantTask(m, StrCat("plain-", m % 7), {}) && !rng_.Chance(1, 4)) {
      }
    }
    rng_.Shuffle(tasks_);
  }

  void ApplyTo(TestScheduler* cluster) const {
    for (size_t m = 0; m < machines_.size(); ++m) {
      const std::string uuid = StrCat("m", m);
      cluster->Apply(Added(uuid, {.cpu = machines_[m].cpu,
                                  .labels = {{kHost, uuid},
                                             {"net", machines_[m].net},
                                             {kZone, machines_[m].zone}}}));
    }
    for (const SubmitTask& task : tasks_) cluster->Apply(task);
  }

  int64_t task_count() const { return std::ssize(tasks_); }

 private:
  struct Machine {
    int64_t cpu = 0;
    int64_t left = 0;
    std::string net;
    std::string zone;
  };

  void AddMachine(int64_t percent) {
    const int64_t cpu = 1000 * rng_.Between(4, 16);
    machines_.push_back(
        {cpu, cpu * percent / 100, rng_.Chance(1, 5) ? "public" : "private",
         StrCat("z", rng_.Below(static_cast<uint64_t>(zones_)))});
  }

  bool PlantTask(size_t m, const std::string& app, PlacementRules rules) {
    Machine& machine = machines_[m];
    const int64_t cpu = 100 * rng_.Between(1, 30);
    if (cpu > machine.left) return false;
    machine.left -= cpu;
    tasks_.push_back(Submitted(++last_uid_,
                               {.cpu = cpu,
                                .job = app,
                                .labels = {{"app", app}},
                                .rules = std::move(rules)},
                               {}));
    return true;
  }

  // A leader and those that must be near it, or near each other.
  void PlantGroup() {
    const size_t m = rng_.Below(machines_.size());
    const std::string name = StrCat("group-", ++last_group_, "-");
    if (!PlantTask(m, StrCat(name, 0), {})) return;
    int64_t near = 0;  // Whom the next one follows.
    for (int64_t i = 1; i <= rng_.Between(1, 3); ++i) {
      const bool is_on_host = rng_.Chance(2, 3);
      size_t where = m;
      if (!is_on_host) {
        do {
          where = rng_.Below(machines_.size());
        } while (machines_[where].zone != machines_[m].zone);
      }
      PlacementRules rules = {
          .affinity = {{App(StrCat(name, near)), is_on_host ? kHost : kZone}}};
      if (rng_.Chance(1, 2)) {
        rules.selectors = {LabelIn("net", {machines_[where].net})};
      }
      if (!PlantTask(where, StrCat(name, i), std::move(rules))) return;
      if (is_on_host && rng_.Chance(1, 3)) near = i;
    }
  }

  Rng rng_;
  int64_t zones_ = 0;
  std::vector<Machine> machines_;
  std::vector<SubmitTask> tasks_;
  uint64_t last_uid_ = 0;
  int64_t last_group_ = 0;
};

// Rounds over many clusters, each of which is filled so far.
struct Outcome {
  int64_t tasks = 0;
  int64_t waiting = 0;
};

Outcome PlaceAll(int64_t percent) {
  constexpr uint64_t kSeeds = SeedCount(200);
  Outcome outcome;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const PlantedCluster planted(seed, percent);
    TestScheduler cluster;
    planted.ApplyTo(&cluster);
    cluster.Round();
    outcome.tasks += planted.task_count();
    outcome.waiting += cluster.state().pending_count();
  }
  return outcome;
}

class FollowersProperty : public testing::TestWithParam<int64_t> {};

TEST_P(FollowersProperty, ArePlacedInTheRoundOfTheirLeaders) {
  EXPECT_EQ(PlaceAll(GetParam()).waiting, 0);
}

INSTANTIATE_TEST_SUITE_P(Percent, FollowersProperty,
                         testing::Values(50, 70, 80, 90));

TEST(FullClusters, KeepNextToNoFollowersWaiting) {
  const Outcome outcome = PlaceAll(100);
  EXPECT_LE(outcome.waiting, outcome.tasks / 5000);
}

}  // namespace
}  // namespace sluice
