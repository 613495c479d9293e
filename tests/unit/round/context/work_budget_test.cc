#include "round/context/work_budget.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

WorkBudget Budget() { return WorkBudget({.improvements = 1000}); }

TEST(AllowanceTest, HasTheLimitOfItsPiece) {
  WorkBudget budget = Budget();
  Allowance work(Piece::kTurns, &budget);
  const int64_t limit = WorkBudget::LimitOf(Piece::kTurns);
  EXPECT_TRUE(work.Spend(limit));
  EXPECT_TRUE(work.IsSpent());
  EXPECT_FALSE(work.IsExceeded());
  EXPECT_FALSE(work.Spend(1));
  EXPECT_TRUE(work.IsExceeded());
  EXPECT_EQ(Allowance(Piece::kTurns, &budget).left(), limit)
      << "anew each time";
}

TEST(AllowanceTest, CountsForTheStepAtOnce) {
  WorkBudget budget = Budget();
  budget.BeginStep();
  Allowance work(Piece::kArrangement, &budget);
  work.Spend(kWorkPerStep);
  EXPECT_FALSE(budget.IsStepOver());
  work.Spend(1);
  EXPECT_EQ(budget.in_step(), kWorkPerStep + 1);
  EXPECT_TRUE(budget.IsStepOver());
}

TEST(AllowanceTest, ChargesItsEffortAndMayTakeNoMoreOfIt) {
  WorkBudget budget = Budget();
  budget.BeginStep();
  const int64_t all = budget.Left(Effort::kSearches);
  budget.Spend(Effort::kSearches, all - 10);
  Allowance work(Piece::kNeighborhoodSearch, Effort::kSearches, &budget);
  EXPECT_EQ(work.left(), 10);
  EXPECT_FALSE(work.Spend(11));
  EXPECT_TRUE(budget.IsSpent(Effort::kSearches));
  EXPECT_EQ(budget.in_step(), all + 1) << "counted once";
}

TEST(AllowanceTest, NeedsNoBudget) {
  Allowance work(Piece::kReservations, nullptr);
  EXPECT_TRUE(work.Spend(WorkBudget::LimitOf(Piece::kReservations)));
  EXPECT_FALSE(Allowance(5).Spend(6));
}

}  // namespace
}  // namespace sluice
