#include "etcd/etcd_compression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";

std::string Compressed(const std::string& bytes) {
  return EtcdCompressor().Compress(bytes);
}

TEST(EtcdCompression, ShortensWhatRepeatsAndGivesItBack) {
  const EtcdCompressor compressor;
  for (const size_t size : {64, 1000, 1'000'000}) {
    const std::string bytes(size, 'x');
    const std::string stored = compressor.Compress(bytes);
    EXPECT_LT(stored.size(), size);
    const auto found = Decompress("k", stored);
    ASSERT_THAT(found, IsOk());
    EXPECT_EQ(*found, bytes);
  }
}

TEST(EtcdCompression, LeavesWhatIsShortOrDoesNotShrink) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(255 - i);
  for (const std::string& bytes : {std::string(), std::string(63, 'x'), all}) {
    EXPECT_EQ(Compressed(bytes), bytes);
    EXPECT_EQ(*Decompress("k", bytes), bytes);
  }
}

TEST(EtcdCompression, FramesWhatLooksLikeAFrame) {
  for (const std::string& bytes :
       {std::string(kMagic), std::string(kMagic) + "abc",
        Compressed(std::string(1000, 'x'))}) {
    const std::string stored = Compressed(bytes);
    EXPECT_NE(stored, bytes);
    EXPECT_EQ(*Decompress("k", stored), bytes);
  }
}

TEST(EtcdCompression, RefusesADamagedFrameAndNamesTheKey) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "task-" + std::to_string(i * i);
  const std::string stored = Compressed(text);
  ASSERT_TRUE(stored.starts_with(kMagic));
  for (size_t at = kMagic.size(); at < stored.size(); ++at) {
    std::string damaged = stored;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto found = Decompress("/sluice/data/t1", damaged);
    // A bit of the header may mean nothing.
    if (found.ok()) {
      EXPECT_EQ(*found, text) << at;
      continue;
    }
    EXPECT_THAT(found, StatusIs(absl::StatusCode::kDataLoss,
                                AllOf(HasSubstr("'/sluice/data/t1'"),
                                      HasSubstr("is damaged"))));
  }
  for (size_t size = kMagic.size(); size < stored.size(); ++size) {
    EXPECT_THAT(Decompress("k", stored.substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST(EtcdCompression, RefusesASizeThatIsTooLargeBeforeItMakesRoom) {
  // One segment, with a size of eight bytes: 2^60.
  const std::string huge =
      std::string(kMagic) + "\xe0" + std::string(7, '\0') + "\x10";
  EXPECT_THAT(Decompress("k", huge),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("is said to hold 1152921504606846976 bytes")));
}

}  // namespace
}  // namespace sluice
