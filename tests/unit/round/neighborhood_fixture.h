// A cluster of which neighborhoods are placed anew.

#ifndef SLUICE_TESTS_UNIT_ROUND_NEIGHBORHOOD_FIXTURE_H_
#define SLUICE_TESTS_UNIT_ROUND_NEIGHBORHOOD_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "round/search/neighborhood.h"
#include "round/search/neighborhood_search.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {

class NeighborhoodTest : public testing::Test {
 protected:
  static constexpr int64_t kNowMs = 3'600'000;

  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  void Submit(uint64_t uid, const TaskOptions& options,
              int64_t submitted_ms = kNowMs, uint64_t gang_minimum = 0) {
    cluster_.Apply(Submitted(uid, options, {.gang = {.minimum = gang_minimum}}),
                   submitted_ms);
  }
  void Place(uint64_t uid, std::string_view uuid) {
    cluster_.mutable_state().Place(
        {uid}, cluster_.state().FindMachine(uuid)->id, kNowMs);
  }
  std::string On(uint64_t uid) { return cluster_.MachineOf(uid); }

  RoundContext::Subject Subject() {
    return {cluster_.mutable_state(), cluster_.policies(),
            cluster_.constraints(), cluster_.eligibility()};
  }
  // From here on tasks are the next round's.
  void BeginRound() { context_.emplace(Subject(), RoundOptions(), kNowMs); }

  // Places anew what was placed by the deltas from `delta_begin_` on.
  Transaction::Outcome Search() {
    return InRound([&](RoundContext* context, Transaction* transaction) {
      const auto one = TakeBackTier(tier(), context, transaction);
      return one.has_value() && PlaceBetter(*one, context, transaction);
    });
  }

  Tier tier() const { return {.delta_begin = delta_begin_}; }

  // Keeps what `decide` does if it says so.
  template <class Decide>
  Transaction::Outcome InRound(Decide decide) {
    if (!context_.has_value()) BeginRound();
    WorkBudget& work = context_->budget;
    work.Spend(Effort::kSearches, work.Left(Effort::kSearches) - budget_);
    Transaction transaction(kNowMs, &context_->state);
    const bool is_better = decide(&*context_, &transaction);
    budget_ = context_->budget.Left(Effort::kSearches);
    context_.reset();
    return is_better ? transaction.Keep() : Transaction::Outcome();
  }

  TestScheduler cluster_;
  uint64_t delta_begin_ = 0;
  int64_t budget_ = 1'000'000;

 private:
  std::optional<RoundContext> context_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_ROUND_NEIGHBORHOOD_FIXTURE_H_
