#include "base/glob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/rng.h"

namespace sluice {
namespace {

TEST(GlobMatches, ComparesAllOfTheText) {
  EXPECT_TRUE(GlobMatches("", ""));
  EXPECT_TRUE(GlobMatches("web", "web"));
  for (const char* other : {"", "we", "web1", "xweb", "Web"}) {
    EXPECT_FALSE(GlobMatches("web", other)) << other;
  }
  EXPECT_FALSE(GlobMatches("", "web"));
  EXPECT_TRUE(GlobMatches("[a]{b}", "[a]{b}"));
}

TEST(GlobMatches, KnowsStarAndQuestionMark) {
  EXPECT_TRUE(GlobMatches("?", "a"));
  EXPECT_FALSE(GlobMatches("?", ""));
  EXPECT_FALSE(GlobMatches("?", "ab"));
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("web-*", "web-"));
  EXPECT_TRUE(GlobMatches("web-?*.service", "web-17.service"));
  EXPECT_FALSE(GlobMatches("web-?*.service", "web-.service"));
  EXPECT_TRUE(GlobMatches("*.service", "a.service.service"));
  EXPECT_TRUE(GlobMatches("a*b*c", "a-b-c-b-c"));
  EXPECT_FALSE(GlobMatches("a*b*c", "a-c-b"));
  EXPECT_TRUE(GlobMatches("**?**", "x"));
  EXPECT_TRUE(GlobMatches("*\xff?", std::string_view("a\xff\0", 3)));
}

TEST(GlobMatches, TakesWhatABackslashPrecedesAsItIs) {
  EXPECT_TRUE(GlobMatches("\\*", "*"));
  EXPECT_FALSE(GlobMatches("\\*", "a"));
  EXPECT_TRUE(GlobMatches("*\\?*", "a?b"));
  EXPECT_FALSE(GlobMatches("*\\?*", "ab"));
  EXPECT_TRUE(GlobMatches("\\\\", "\\"));
  EXPECT_TRUE(GlobMatches("\\web", "web"));
  EXPECT_TRUE(GlobMatches("web\\", "web\\"));
}

// Matches by recursion: a glob begins with a star, or with one byte.
bool TwinMatches(std::string_view glob, std::string_view text) {
  if (glob.empty()) return text.empty();
  if (glob[0] == '*') {
    return TwinMatches(glob.substr(1), text) ||
           (!text.empty() && TwinMatches(glob, text.substr(1)));
  }
  const bool is_any = glob[0] == '?';
  if (glob[0] == '\\' && glob.size() > 1) glob.remove_prefix(1);
  return !text.empty() && (is_any || glob[0] == text[0]) &&
         TwinMatches(glob.substr(1), text.substr(1));
}

std::string Draw(std::string_view alphabet, Rng* rng) {
  std::string text;
  for (uint64_t size = rng->Below(9); size > 0; --size) {
    text += alphabet[rng->Below(alphabet.size())];
  }
  return text;
}

TEST(GlobMatches, AgreesWithItsTwin) {
  Rng rng(1);
  int match_count = 0;
  for (int round = 0; round < 100'000; ++round) {
    const std::string glob = Draw("aab**?\\", &rng);
    const std::string text = Draw("aab*?\\", &rng);
    const bool matches = GlobMatches(glob, text);
    ASSERT_EQ(matches, TwinMatches(glob, text)) << glob << " " << text;
    ASSERT_EQ(matches, GlobMatches(Normalized(glob), text)) << glob;
    match_count += matches ? 1 : 0;
  }
  EXPECT_GT(match_count, 1000);
}

TEST(GlobMatches, HasABoundedSize) {
  std::string glob = "*";
  for (size_t i = 0; i < kGlobSymbolsMax; ++i) glob += "?*";
  EXPECT_TRUE(GlobMatches(glob, std::string(kGlobSymbolsMax, 'a')));
  EXPECT_FALSE(GlobMatches(glob, std::string(kGlobSymbolsMax - 1, 'a')));
  EXPECT_FALSE(GlobMatches(glob + "?", std::string(4096, 'a')));
  EXPECT_TRUE(GlobMatches(std::string(4096, 'a'), std::string(4096, 'a')));
}

TEST(GlobOf, MatchesItsTextOnly) {
  Rng rng(2);
  for (int round = 0; round < 10'000; ++round) {
    const std::string text = Draw("ab*?\\", &rng);
    const std::string other = Draw("ab*?\\", &rng);
    EXPECT_TRUE(GlobMatches(GlobOf(text), text)) << text;
    EXPECT_EQ(GlobMatches(GlobOf(text), other), text == other) << text;
    EXPECT_EQ(LiteralOf(GlobOf(text)), text);
  }
  EXPECT_EQ(LiteralOf("a*"), std::nullopt);
  EXPECT_EQ(LiteralOf("a\\*?"), std::nullopt);
}

TEST(Normalized, HasOneFormForTheSameTexts) {
  EXPECT_EQ(Normalized("**?*?a**"),
            "?"
            "?*a*");
  EXPECT_EQ(Normalized("\\a\\*b\\"), "a\\*b\\\\");
  EXPECT_EQ(Normalized(""), "");
}

}  // namespace
}  // namespace sluice
