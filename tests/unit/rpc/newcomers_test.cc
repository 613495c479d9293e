#include "rpc/newcomers.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "base/strings.h"

namespace sluice {
namespace {

TEST(Newcomers, AreThoseThatHaveAskedAndNothingElse) {
  Newcomers newcomers;
  EXPECT_TRUE(newcomers.empty());
  newcomers.Add("ipv4:10.0.0.1:1");
  newcomers.Add("ipv6:[::1]:2");
  EXPECT_FALSE(newcomers.empty());
  EXPECT_FALSE(newcomers.Remove("ipv4:10.0.0.1:3"));
  EXPECT_TRUE(newcomers.Remove("ipv4:10.0.0.1:1"));
  EXPECT_FALSE(newcomers.Remove("ipv4:10.0.0.1:1")) << "it has called since";
  EXPECT_TRUE(newcomers.Remove("ipv6:[::1]:2"));
  EXPECT_TRUE(newcomers.empty());
}

TEST(Newcomers, AreNoneWhereAllPeersHaveOneName) {
  Newcomers newcomers;
  newcomers.Add("unix:");
  EXPECT_TRUE(newcomers.empty());
}

TEST(Newcomers, AreBounded) {
  Newcomers newcomers;
  const auto peer = [](size_t i) { return StrCat("ipv4:10.0.0.1:", i); };
  for (size_t i = 0; i < 2 * Newcomers::kCountMax; ++i) newcomers.Add(peer(i));
  size_t known = 0;
  for (size_t i = 0; i < 2 * Newcomers::kCountMax; ++i) {
    known += newcomers.Remove(peer(i)) ? 1 : 0;
  }
  EXPECT_EQ(known, Newcomers::kCountMax);
}

}  // namespace
}  // namespace sluice
