// Fingerprints that are the same in every process, unlike those of absl::Hash,
// which are salted.  Not cryptographic: whoever wants two texts to collide can
// make them.
//
// Threads: free functions without state.

#ifndef SLUICE_BASE_HASH_H_
#define SLUICE_BASE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

inline constexpr uint64_t kFnvBasis = 0xcbf29ce484222325;

// FNV-1a of `bytes`.  Fnv1a64(b, Fnv1a64(a)) is that of a followed by b.
constexpr uint64_t Fnv1a64(std::string_view bytes, uint64_t basis = kFnvBasis) {
  uint64_t hash = basis;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

// The size of BoundedId()'s result for a long id.
inline constexpr size_t kBoundedIdBytes = 64 + 1 + 32;

// `id` itself if it has at most `max_bytes`.  Otherwise its first 64 bytes with
// '?' for what is not printable ASCII, a '~' and a fingerprint of the whole in
// 32 hexadecimal digits.  So a name of any length from a client stays distinct,
// while what we keep, log and compare is bounded.  BoundedId() of the result is
// the result.
// REQUIRES: max_bytes >= kBoundedIdBytes.
std::string BoundedId(std::string_view id, size_t max_bytes);

}  // namespace sluice

#endif  // SLUICE_BASE_HASH_H_
