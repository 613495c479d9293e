// Values with a checksum: first that of a record's key and its bytes, then the
// bytes.
//
// Stores have their own checksums.  This one protects a record from the moment
// it leaves the state until it is back: in memory, in other stores, and in
// copies made by hand.  It also rejects a value under the wrong key.  It
// detects every single changed byte, and all but one in 2^64 of other changes.
//
// Threads: free functions without state.

#ifndef SLUICE_PERSIST_SEALED_VALUE_H_
#define SLUICE_PERSIST_SEALED_VALUE_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sluice {

inline constexpr size_t kSealBytes = 8;

// The value to store for `bytes` under `key`.
std::string Seal(std::string_view key, std::string_view bytes);

// The same without a copy: `value` already holds the bytes, after kSealBytes
// that are free for the checksum.
struct Unsealed {
  std::string_view key;
  std::string* value;
};
// REQUIRES: each value has at least kSealBytes.
void SealInPlace(std::span<const Unsealed> records);

// The bytes in `value`, as a view into it.
// Errors: kDataLoss if `value` is not what Seal made for `key`.
absl::StatusOr<std::string_view> Unseal(std::string_view key,
                                        std::string_view value);

}  // namespace sluice

#endif  // SLUICE_PERSIST_SEALED_VALUE_H_
