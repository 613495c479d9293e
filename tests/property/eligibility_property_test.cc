// What is kept of verdicts and preferences, against asking anew: after any
// sequence of events the kinds of machines that rules allow are those of the
// machines that they allow.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "network/eligibility.h"
#include "property/random_rules.h"
#include "util/cluster_builder.h"
#include "util/seed_count.h"

namespace sluice {
namespace {

constexpr uint64_t kMachines = 8;

class EligibilityTrial {
 public:
  explicit EligibilityTrial(uint64_t seed) : rng_(seed) {}

  void Go() {
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(StrCat("step ", step));
      if (rng_.Chance(1, 3)) {
        DoTask();
      } else {
        DoMachine();
      }
      if (rng_.Chance(1, 3)) eligibility_.StartRound(&state_);
      eligibility_.Refresh(&state_);
      Compare();
      if (testing::Test::HasFailure()) return;
    }
  }
  int64_t comparisons() const { return comparisons_; }
  const Eligibility& eligibility() const { return eligibility_; }

 private:
  MachineOptions DrawMachine() {
    MachineOptions options{.cpu = 1000};
    options.labels = DrawLabels(&rng_);
    options.taints = DrawTaints(&rng_);
    if (rng_.Chance(1, 6)) options.avoids = {{"ReplicaSet", "a"}};
    return options;
  }

  void DoMachine() {
    const std::string uuid = StrCat("machine-", rng_.Below(kMachines));
    const Machine* known = state_.FindMachine(uuid);
    if (known == nullptr || !known->is_present) {
      state_.Apply(Added(uuid, DrawMachine()), 0);
    } else if (rng_.Chance(1, 6)) {
      state_.Apply(Removed(uuid), 0);
    } else {
      UpdateMachine update = Updated(uuid, DrawMachine());
      if (rng_.Chance(1, 4)) update.spec.name = StrCat("machine-", 9);
      state_.Apply(update, 0);
    }
  }

  void DoTask() {
    const uint64_t uid = rng_.Below(6);
    TaskOptions options{.rules = DrawRules({"machine-1", "machine-9"}, &rng_)};
    if (rng_.Chance(1, 3)) options.owner = {"ReplicaSet", "a"};
    if (state_.FindTask({uid}) == nullptr) {
      state_.Apply(Submitted(uid, options), 0);
    } else if (rng_.Chance(1, 2)) {
      state_.Apply(Updated(uid, options), 0);
    } else {
      state_.Apply(Removed(uid), 0);
    }
  }

  void Compare() {
    for (const auto& [key, tasks] : state_.pending()) {
      std::map<KindId, Cost> allowed;
      for (const auto& [kind, cost] : eligibility_.KindsFor(*key.rules)) {
        allowed[kind] = cost;
      }
      for (const auto& [id, machine] : state_.machines()) {
        std::vector<Taint> taints;
        for (const MachineTaint& taint : machine->taints) {
          taints.push_back(taint.taint);
        }
        const KindId kind = eligibility_.KindOf(*machine);
        const bool should =
            ShouldAllow(*key.rules, {machine->name, machine->labels, taints});
        ASSERT_EQ(allowed.contains(kind), should)
            << "task " << tasks.begin()->second->id << ", " << machine->uuid;
        if (should) {
          ASSERT_EQ(allowed[kind],
                    policies_.PreferenceCost(*key.rules, *machine));
        }
        ++comparisons_;
      }
    }
  }

  Rng rng_;
  ClusterState state_;
  const ConstraintSet constraints_;
  const PolicySet policies_ =
      *PolicySet::FromNames("avoid_pods,node_affinity,taint");
  Eligibility eligibility_{constraints_, policies_};
  int64_t comparisons_ = 0;
};

TEST(EligibilityProperty, AnswersAsAskingAnewDoes) {
  int64_t comparisons = 0;
  EligibilityCounters sum;
  for (uint64_t seed = 1; seed <= SeedCount(3000); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    EligibilityTrial trial(seed);
    trial.Go();
    if (HasFailure()) return;
    comparisons += trial.comparisons();
    sum.hits += trial.eligibility().counters().hits;
    sum.evaluations += trial.eligibility().counters().evaluations;
  }
  EXPECT_GT(comparisons, static_cast<int64_t>(300 * SeedCount(3000)));
  EXPECT_GT(sum.hits, 0);
  EXPECT_LT(sum.evaluations, comparisons) << "nothing was kept";
}

// A label that is compared as a number tells every value apart, so that the
// kinds of the past pile up until all begins anew.
TEST(EligibilityProperty, BeginsAnewWhenMostOfWhatItKnowsIsGone) {
  ClusterState state;
  const ConstraintSet constraints;
  const PolicySet policies = *PolicySet::FromNames("node_affinity");
  Eligibility eligibility(constraints, policies);
  state.Apply(Added("m", {.cpu = 1000}), 0);
  state.Apply(
      Submitted(1, {.rules = {.selectors = {LabelAbove("load", 1000)}}}), 0);
  KindId most = 0;
  for (int load = 0; load < 5000; ++load) {
    state.Apply(Updated("m", {.cpu = 1000, .labels = {{"load", StrCat(load)}}}),
                0);
    eligibility.StartRound(&state);
    eligibility.Refresh(&state);
    most = std::max(most, eligibility.kind_count());
    const ClassKey& key = state.pending().begin()->first;
    ASSERT_EQ(eligibility.KindsFor(*key.rules).empty() ||
                  eligibility.KindsFor(*key.rules).back().id !=
                      eligibility.KindOf(*state.FindMachine("m")),
              load <= 1000);
  }
  EXPECT_LT(most, 2000);
  EXPECT_GE(eligibility.counters().evaluations, 5000)
      << "counts from the beginning";
}

}  // namespace
}  // namespace sluice
