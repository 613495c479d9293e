#include "persist/sealed_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// Some are computed in step, and the rest one by one.
TEST(SealedValue, SealsManyAsItSealsOne) {
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (size_t i = 0; i < 11; ++i) {
    keys.push_back("key" + std::string(i % 3, 'x'));
    values.push_back(std::string(kSealBytes, '?') +
                     std::string(i * 7 % 5, static_cast<char>('a' + i)));
  }
  const std::vector<std::string> unsealed = values;
  std::vector<Unsealed> records;
  for (size_t i = 0; i < keys.size(); ++i) {
    records.push_back({keys[i], &values[i]});
  }
  SealInPlace(records);
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(values[i], Seal(keys[i], unsealed[i].substr(kSealBytes))) << i;
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
