#include "state/interner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"

namespace sluice {
namespace {

TEST(Interner, GivesEqualTextsOneId) {
  Interner interner;
  const uint32_t id = interner.Acquire("zone");
  EXPECT_EQ(interner.Acquire("zone"), id);
  EXPECT_NE(interner.Acquire("rack"), id);
  EXPECT_EQ(interner.Text(id), "zone");
  EXPECT_EQ(interner.size(), 2u);
}

TEST(Interner, KeepsATextAsLongAsAnyoneUsesIt) {
  Interner interner;
  const uint32_t id = interner.Acquire("zone");
  interner.Acquire("zone");
  interner.Release(id);
  EXPECT_EQ(interner.Text(id), "zone");
  EXPECT_EQ(interner.size(), 1u);
  interner.Release(id);
  EXPECT_EQ(interner.size(), 0u);
}

TEST(Interner, UsesIdsAgain) {
  Interner interner;
  const uint32_t first = interner.Acquire("first");
  const uint32_t second = interner.Acquire("second");
  interner.Release(first);
  EXPECT_EQ(interner.Acquire("third"), first);
  EXPECT_EQ(interner.Text(first), "third");
  EXPECT_EQ(interner.Text(second), "second");
}

TEST(Interner, TakesAnyBytes) {
  Interner interner;
  const std::string with_zero("a\0b", 3);
  const uint32_t empty = interner.Acquire("");
  const uint32_t zero = interner.Acquire(with_zero);
  EXPECT_NE(empty, zero);
  EXPECT_EQ(interner.Text(empty), "");
  EXPECT_EQ(interner.Text(zero), with_zero);
}

TEST(Interner, FindsTextsAgainAfterItGrew) {
  Interner interner;
  std::vector<uint32_t> ids;
  for (int i = 0; i < 10000; ++i) ids.push_back(interner.Acquire(StrCat(i)));
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(interner.Text(ids[i]), StrCat(i));
    interner.Release(ids[i]);
  }
  EXPECT_EQ(interner.size(), 0u);
}

TEST(InternerDeathTest, RefusesToReleaseWhatNobodyHas) {
  Interner interner;
  EXPECT_DEATH(interner.Release(0), "Check failed");
  const uint32_t id = interner.Acquire("zone");
  interner.Release(id);
  EXPECT_DEATH(interner.Release(id), "Check failed");
}

}  // namespace
}  // namespace sluice
