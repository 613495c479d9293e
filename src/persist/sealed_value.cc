#include "persist/sealed_value.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "base/hash.h"

namespace sluice {
namespace {

// A checksum is one long chain of multiplications.  Those of several records
// are computed in step, since a processor works on several chains at once.
constexpr size_t kInStep = 4;

uint64_t Checksum(std::string_view key, std::string_view bytes) {
  return Fnv1a64(bytes, Fnv1a64(key));
}

std::string_view BytesOf(const Unsealed& record) {
  return std::string_view(*record.value).substr(kSealBytes);
}

void PutChecksum(uint64_t checksum, std::string* value) {
  for (size_t i = 0; i < kSealBytes; ++i) {
    (*value)[i] = static_cast<char>(checksum >> (56 - 8 * i));
  }
}

void SealInStep(std::span<const Unsealed, kInStep> records) {
  std::array<std::string_view, kInStep> bytes;
  std::array<uint64_t, kInStep> sums;
  size_t common = std::numeric_limits<size_t>::max();
  for (size_t i = 0; i < kInStep; ++i) {
    bytes[i] = BytesOf(records[i]);
    sums[i] = Fnv1a64(records[i].key);
    common = std::min(common, bytes[i].size());
  }
  for (size_t at = 0; at < common; ++at) {
    for (size_t i = 0; i < kInStep; ++i) {
      sums[i] = Fnv1a64({bytes[i].data() + at, 1}, sums[i]);
    }
  }
  for (size_t i = 0; i < kInStep; ++i) {
    PutChecksum(Fnv1a64(bytes[i].substr(common), sums[i]), records[i].value);
  }
}

}  // namespace

std::string Seal(std::string_view key, std::string_view bytes) {
  std::string value(kSealBytes, '\0');
  value += bytes;
  SealInPlace(std::array{Unsealed{key, &value}});
  return value;
}

void SealInPlace(std::span<const Unsealed> records) {
  for (const Unsealed& record : records) {
    CHECK(record.value->size() >= kSealBytes);
  }
  for (; records.size() >= kInStep; records = records.subspan(kInStep)) {
    SealInStep(records.first<kInStep>());
  }
  for (const Unsealed& record : records) {
    PutChecksum(Checksum(record.key, BytesOf(record)), record.value);
  }
}

absl::StatusOr<std::string_view> Unseal(std::string_view key,
                                        std::string_view value) {
  if (value.size() < kSealBytes) {
    return absl::DataLossError("too short for its checksum");
  }
  uint64_t checksum = 0;
  for (const char byte : value.substr(0, kSealBytes)) {
    checksum = checksum << 8 | static_cast<unsigned char>(byte);
  }
  const std::string_view bytes = value.substr(kSealBytes);
  if (checksum != Checksum(key, bytes)) {
    return absl::DataLossError("its checksum does not match");
  }
  return bytes;
}

}  // namespace sluice
