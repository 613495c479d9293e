#include "rpc/newcomers.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "base/strings.h"

namespace sluice {
namespace {

using enum Newcomers::Standing;

TEST(Newcomers, AreThoseThatCalledCheckAndThenNothingButSchedule) {
  Newcomers newcomers;
  EXPECT_EQ(newcomers.NoteSchedule("ipv4:10.0.0.1:1"), kOther);
  newcomers.NoteCheck("ipv4:10.0.0.1:1");
  newcomers.NoteCheck("ipv6:[::1]:2");
  EXPECT_EQ(newcomers.NoteSchedule("ipv4:10.0.0.1:3"), kOther);
  EXPECT_EQ(newcomers.NoteSchedule("ipv4:10.0.0.1:1"), kFirst);
  EXPECT_EQ(newcomers.NoteSchedule("ipv4:10.0.0.1:1"), kRepeated);
  newcomers.NoteCheck("ipv4:10.0.0.1:1");
  EXPECT_EQ(newcomers.NoteSchedule("ipv4:10.0.0.1:1"), kRepeated)
      << "whoever asks again has not begun again";
  newcomers.NoteOther("ipv4:10.0.0.1:1");
  EXPECT_EQ(newcomers.NoteSchedule("ipv4:10.0.0.1:1"), kOther);
  newcomers.NoteCheck("ipv4:10.0.0.1:1");
  EXPECT_EQ(newcomers.NoteSchedule("ipv4:10.0.0.1:1"), kOther)
      << "it looks from time to time whether the daemon serves";
  EXPECT_EQ(newcomers.NoteSchedule("ipv6:[::1]:2"), kFirst);
}

TEST(Newcomers, AreNoneWhereAllPeersHaveOneName) {
  Newcomers newcomers;
  newcomers.NoteCheck("unix:");
  EXPECT_EQ(newcomers.NoteSchedule("unix:"), kOther);
}

TEST(Newcomers, AreBounded) {
  Newcomers newcomers;
  const auto peer = [](size_t i) { return StrCat("ipv4:10.0.0.1:", i); };
  for (size_t i = 0; i < 2 * Newcomers::kCountMax; ++i) {
    newcomers.NoteCheck(peer(i));
  }
  size_t count = 0;
  for (size_t i = 0; i < 2 * Newcomers::kCountMax; ++i) {
    if (newcomers.NoteSchedule(peer(i)) == kFirst) ++count;
  }
  EXPECT_EQ(count, Newcomers::kCountMax);
}

}  // namespace
}  // namespace sluice
