#include "persist/sealed_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

// Printed, so that nobody changes what is on disk by accident.
TEST(SealedValue, PutsTheChecksumBeforeTheBytes) {
  EXPECT_EQ(Seal("k", "bytes"),
            std::string("\xcb\x2b\xd0\x05\x3d\x60\x95\xe9") + "bytes");
}

TEST(SealedValue, OpensWhatWasSealed) {
  for (const std::string bytes : {"", "x", "some bytes"}) {
    const std::string value = Seal("key", bytes);
    ASSERT_THAT(Unseal("key", value), IsOk());
    EXPECT_EQ(*Unseal("key", value), bytes);
  }
}

TEST(SealedValue, DetectsEveryFlippedBit) {
  const std::string value = Seal("key", "some bytes");
  for (size_t bit = 0; bit < value.size() * 8; ++bit) {
    std::string flipped = value;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_THAT(Unseal("key", flipped),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("checksum")))
        << bit;
  }
}

TEST(SealedValue, DetectsEveryTruncation) {
  const std::string value = Seal("key", "some bytes");
  for (size_t size = 0; size < value.size(); ++size) {
    EXPECT_THAT(Unseal("key", value.substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("checksum")))
        << size;
  }
}

TEST(SealedValue, DoesNotOpenUnderAnotherKey) {
  EXPECT_THAT(Unseal("kez", Seal("key", "some bytes")),
              StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace sluice
