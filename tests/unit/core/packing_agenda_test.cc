#include "core/packing_agenda.h"

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

TEST(PackingAgenda, SharesBudgetsOutOnlyOnceTheyWereExceeded) {
  PackingAgenda agenda;
  agenda.Begin();
  agenda.NoteHeldBack(9);
  EXPECT_FALSE(agenda.MustPack());
  EXPECT_EQ(agenda.turn(), 0);
  agenda.NoteExceeded();
  agenda.NoteHeldBack(9);
  EXPECT_EQ(agenda.turn(), 1) << "that is one reason to go on, not two";
}

TEST(PackingAgenda, EndsAfterFourTurnsOrWhereTheyRepeat) {
  for (const auto& [turns, expected] : {std::pair(9, 4), std::pair(2, 2)}) {
    PackingAgenda agenda;
    agenda.Begin();
    agenda.NoteExceeded();
    int packings = 0;
    while (agenda.MustPack()) {
      agenda.Begin();
      agenda.NoteHeldBack(static_cast<size_t>(turns));
      ++packings;
    }
    EXPECT_EQ(packings, expected);
    EXPECT_EQ(agenda.turn(), expected);
  }
}

}  // namespace
}  // namespace sluice
