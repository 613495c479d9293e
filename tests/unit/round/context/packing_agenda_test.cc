#include "round/context/packing_agenda.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(PackingAgenda, HasOnePackingAndOneMoreForNewGangs) {
  PackingAgenda agenda;
  EXPECT_TRUE(agenda.MustPack());
  agenda.Begin();
  EXPECT_FALSE(agenda.IsForMeek(/*are_any=*/false));
  EXPECT_FALSE(agenda.MustPack());
  agenda.NoteNewGangs();
  EXPECT_TRUE(agenda.MustPack());
  agenda.Begin();
  agenda.NoteNewGangs();
  EXPECT_FALSE(agenda.MustPack()) << "they had their chance";
}

TEST(PackingAgenda, BeginsWithThoseThatDisplaceNobodyOnce) {
  PackingAgenda agenda;
  agenda.Begin();
  EXPECT_TRUE(agenda.IsForMeek(/*are_any=*/true));
  EXPECT_TRUE(agenda.MustPack());
  agenda.Begin();
  EXPECT_FALSE(agenda.IsForMeek(/*are_any=*/true));
  EXPECT_FALSE(agenda.MustPack());
}

TEST(PackingAgenda, OffersFewerMovesEachTimeThatABudgetIsExceeded) {
  PackingAgenda agenda;
  for (const BudgetedMoves expected :
       {BudgetedMoves::kAll, BudgetedMoves::kAsAllowed, BudgetedMoves::kNone}) {
    ASSERT_TRUE(agenda.MustPack());
    agenda.Begin();
    EXPECT_EQ(agenda.budgeted_moves(), expected);
    agenda.NoteExceeded();
  }
  EXPECT_FALSE(agenda.MustPack()) << "there is nothing left to try";
}

}  // namespace
}  // namespace sluice
