#include "persist/sealed_value.h"

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "base/hash.h"

namespace sluice {
namespace {

uint64_t Checksum(std::string_view key, std::string_view bytes) {
  return Fnv1a64(bytes, Fnv1a64(key));
}

}  // namespace

std::string Seal(std::string_view key, std::string_view bytes) {
  std::string value(kSealBytes, '\0');
  value += bytes;
  SealInPlace(key, &value);
  return value;
}

void SealInPlace(std::string_view key, std::string* value) {
  CHECK(value->size() >= kSealBytes);
  const uint64_t checksum =
      Checksum(key, std::string_view(*value).substr(kSealBytes));
  for (size_t i = 0; i < kSealBytes; ++i) {
    (*value)[i] = static_cast<char>(checksum >> (56 - 8 * i));
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
