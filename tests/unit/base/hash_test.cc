#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice {
namespace {

TEST(Fnv1a64, MatchesThePublishedVectors) {
  EXPECT_EQ(Fnv1a64(""), 0xcbf29ce484222325u);
  EXPECT_EQ(Fnv1a64("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(Fnv1a64("foobar"), 0x85944171f73967e8u);
}

TEST(Fnv1a64, ContinuesFromAnEarlierHash) {
  EXPECT_EQ(Fnv1a64("bar", Fnv1a64("foo")), Fnv1a64("foobar"));
}

TEST(Fnv1a64, ReadsBytesAboveAsciiAsUnsigned) {
  EXPECT_EQ(Fnv1a64("\xff"), (kFnvBasis ^ 0xff) * 0x100000001b3u);
}

TEST(BoundedId, KeepsAnIdThatIsShortEnough) {
  const std::string id(128, '\xff');
  EXPECT_EQ(BoundedId(id, 128), id);
  EXPECT_EQ(BoundedId("", 128), "");
}

TEST(BoundedId, FoldsALongIdToAFixedSize) {
  const std::string id = "pod-\n" + std::string(1 << 20, 'x');
  const std::string folded = BoundedId(id, 128);
  EXPECT_EQ(folded.size(), kBoundedIdBytes);
  EXPECT_TRUE(folded.starts_with("pod-?xxx")) << folded;
  EXPECT_EQ(folded[64], '~');
  EXPECT_EQ(folded.substr(65).find_first_not_of("0123456789abcdef"),
            std::string::npos);
}

TEST(BoundedId, TellsLongIdsApartWhereverTheyDiffer) {
  const std::string id(1000, 'x');
  for (const size_t at : {size_t{0}, size_t{64}, size_t{500}, size_t{999}}) {
    std::string other = id;
    other[at] = '\x01';
    EXPECT_NE(BoundedId(other, 128), BoundedId(id, 128)) << at;
  }
  EXPECT_NE(BoundedId(id + "x", 128), BoundedId(id, 128));
}

TEST(BoundedId, UsesBothFingerprints) {
  const std::string folded = BoundedId(std::string(1000, 'x'), 128);
  EXPECT_NE(folded.substr(65, 16), folded.substr(81, 16));
}

TEST(BoundedId, IsUnchangedWhenFoldedAgain) {
  const std::string folded = BoundedId(std::string(1000, 'x'), 97);
  EXPECT_EQ(BoundedId(folded, 97), folded);
}

TEST(BoundedIdDeathTest, RefusesALimitThatItCannotKeep) {
  EXPECT_DEATH(BoundedId("id", kBoundedIdBytes - 1), "max_bytes");
}

}  // namespace
}  // namespace sluice
