#include "base/hash.h"

#include <glog/logging.h>

namespace sluice {
namespace {

void AppendHex(uint64_t value, std::string* out) {
  for (int shift = 60; shift >= 0; shift -= 4) {
    *out += "0123456789abcdef"[(value >> shift) & 15];
  }
}

}  // namespace

std::string BoundedId(std::string_view id, size_t max_bytes) {
  CHECK_GE(max_bytes, kBoundedIdBytes);
  if (id.size() <= max_bytes) return std::string(id);

  std::string result;
  result.reserve(kBoundedIdBytes);
  for (const char c : id.substr(0, 64)) {
    result += c >= 0x20 && c <= 0x7e ? c : '?';
  }
  result += '~';
  // Two passes from different states: texts rarely collide in both.
  const uint64_t first = Fnv1a64(id);
  const uint64_t second = Fnv1a64(id, ~kFnvBasis);
  AppendHex(first, &result);
  AppendHex(second, &result);
  return result;
}

}  // namespace sluice
