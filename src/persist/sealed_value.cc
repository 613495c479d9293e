#include "persist/sealed_value.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "base/hash.h"

namespace sluice {
namespace {

constexpr size_t kChecksumBytes = 8;

uint64_t Checksum(std::string_view key, std::string_view bytes) {
  return Fnv1a64(bytes, Fnv1a64(key));
}

}  // namespace

std::string Seal(std::string_view key, std::string_view bytes) {
  const uint64_t checksum = Checksum(key, bytes);
  std::string value;
  value.reserve(kChecksumBytes + bytes.size());
  for (int shift = 56; shift >= 0; shift -= 8) {
    value += static_cast<char>(checksum >> shift);
  }
  value += bytes;
  return value;
}

absl::StatusOr<std::string_view> Unseal(std::string_view key,
                                        std::string_view value) {
  if (value.size() < kChecksumBytes) {
    return absl::DataLossError("too short for its checksum");
  }
  uint64_t checksum = 0;
  for (const char byte : value.substr(0, kChecksumBytes)) {
    checksum = checksum << 8 | static_cast<unsigned char>(byte);
  }
  const std::string_view bytes = value.substr(kChecksumBytes);
  if (checksum != Checksum(key, bytes)) {
    return absl::DataLossError("its checksum does not match");
  }
  return bytes;
}

}  // namespace sluice
