#include "clients/newcomers.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace sluice {
namespace {

using enum Newcomers::Standing;

TEST(Newcomers, AreThoseThatCalledCheckAndThenNothingButSchedule) {
  Newcomers newcomers;
  EXPECT_EQ(newcomers.NoteSchedule({1}), kOther);
  newcomers.NoteCheck({1});
  newcomers.NoteCheck({2});
  EXPECT_EQ(newcomers.NoteSchedule({3}), kOther);
  EXPECT_EQ(newcomers.NoteSchedule({1}), kFirst);
  EXPECT_EQ(newcomers.NoteSchedule({1}), kRepeated);
  newcomers.NoteCheck({1});
  EXPECT_EQ(newcomers.NoteSchedule({1}), kRepeated)
      << "whoever asks again has not begun again";
  newcomers.NoteOther({1});
  EXPECT_EQ(newcomers.NoteSchedule({1}), kOther);
  newcomers.NoteCheck({1});
  EXPECT_EQ(newcomers.NoteSchedule({1}), kOther)
      << "it looks from time to time whether the daemon serves";
  EXPECT_EQ(newcomers.NoteSchedule({2}), kFirst);
}

TEST(Newcomers, AreNoneWhereConnectionsCannotBeToldApart) {
  Newcomers newcomers;
  newcomers.NoteCheck(ConnectionId());
  EXPECT_EQ(newcomers.NoteSchedule(ConnectionId()), kOther);
}

TEST(Newcomers, AreBounded) {
  Newcomers newcomers;
  for (size_t i = 1; i <= 2 * Newcomers::kCountMax; ++i) {
    newcomers.NoteCheck({i});
  }
  size_t count = 0;
  for (size_t i = 1; i <= 2 * Newcomers::kCountMax; ++i) {
    if (newcomers.NoteSchedule({i}) == kFirst) ++count;
  }
  EXPECT_EQ(count, Newcomers::kCountMax);
}

}  // namespace
}  // namespace sluice
