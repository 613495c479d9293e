// What is kept of verdicts and preferences, against asking anew: after any
// sequence of events the kinds of machines that rules allow are those of the
// machines that they allow, at what was known of speeds when the round began.

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
  explicit EligibilityTrial(uint64_t seed) : rng_(seed) {
    state_.SetNeeds(policies_.Needs());
  }

  void Go() {
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(StrCat("step ", step));
      if (rng_.Chance(1, 3)) {
        DoTask();
      } else if (rng_.Chance(1, 2)) {
        DoMachine();
      } else {
        RunTask();
      }
      if (rng_.Chance(1, 3)) {
        eligibility_.StartRound(&state_);
        speeds_.Update(state_.histories());
      }
      eligibility_.Refresh(&state_);
      Compare();
      if (testing::Test::HasFailure()) return;
    }
  }
  int64_t comparisons() const { return comparisons_; }
  int64_t charges() const { return charges_; }
  const Eligibility& eligibility() const { return eligibility_; }

 private:
  MachineOptions DrawMachine() {
    MachineOptions options{.cpu = rng_.Between(1, 3) * 1000};
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
    options.binary = DrawBinary();
    if (state_.FindTask({uid}) == nullptr) {
      state_.Apply(Submitted(uid, options), 0);
    } else if (rng_.Chance(1, 2)) {
      state_.Apply(Updated(uid, options), 0);
    } else {
      state_.Apply(Removed(uid), 0);
    }
  }

  std::string DrawBinary() { return rng_.Chance(1, 2) ? "/bin/a" : "/bin/b"; }

  // One that teaches how fast its kind runs there.
  void RunTask() {
    const Machine* machine =
        state_.FindMachine(StrCat("machine-", rng_.Below(kMachines)));
    if (machine == nullptr || !machine->IsUsable()) return;
    constexpr uint64_t kTeacher = 100;
    state_.Apply(Submitted(kTeacher, {.binary = DrawBinary()}), 0);
    state_.Place({kTeacher}, machine->id, 0);
    const uint64_t sequence = state_.outbox().begin()->first;
    state_.BeginDelivery(sequence);
    state_.EndDelivery(sequence, /*is_delivered=*/true);
    state_.Apply(
        CompleteTask{{kTeacher}, rng_.Between(100, 400), 1'000'000'000}, 0);
    state_.Apply(Removed(kTeacher), 0);
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
          const Cost by_speed = speeds_.Of(*key.rules, *machine);
          ASSERT_EQ(allowed[kind],
                    policies_.PreferenceCost(*key.rules, *machine) + by_speed);
          if (by_speed > 0) ++charges_;
        }
        ++comparisons_;
      }
    }
  }

  Rng rng_;
  ClusterState state_;
  const ConstraintSet constraints_;
  const PolicySet policies_ = *PolicySet::FromNames(
      "avoid_pods,node_affinity,taint,"
      "whare_map:samples=2");
  Eligibility eligibility_{constraints_, policies_};
  SpeedPrices speeds_{policies_};
  int64_t comparisons_ = 0;
  int64_t charges_ = 0;  // By speed.
};

TEST(EligibilityProperty, AnswersAsAskingAnewDoes) {
  int64_t comparisons = 0;
  int64_t charges = 0;
  EligibilityCounters sum;
  for (uint64_t seed = 1; seed <= SeedCount(3000); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    EligibilityTrial trial(seed);
    trial.Go();
    if (HasFailure()) return;
    comparisons += trial.comparisons();
    charges += trial.charges();
    sum.hits += trial.eligibility().counters().hits;
    sum.evaluations += trial.eligibility().counters().evaluations;
  }
  EXPECT_GT(comparisons, static_cast<int64_t>(300 * SeedCount(3000)));
  EXPECT_GT(charges, comparisons / 100);
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
