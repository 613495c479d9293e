// Values that tell whether they are whole: the checksum of a record's key and
// its bytes, then the bytes.
//
// Stores have checksums of their own.  This one holds from the moment the
// record leaves the state until it is back in it: through memory, other stores,
// and copies made by hand; and a value under the wrong key does not pass.  It
// finds every single changed byte, and others but for one in 2^64.
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

// The same without a copy: `value` holds the bytes already, behind kSealBytes
// that are free for the checksum.
struct Unsealed {
  std::string_view key;
  std::string* value;
};
// REQUIRES: the values have kSealBytes.
void SealInPlace(std::span<const Unsealed> records);

// The bytes in `value`, of which they are a part.
// Errors: kDataLoss if `value` is not what Seal made for `key`.
absl::StatusOr<std::string_view> Unseal(std::string_view key,
                                        std::string_view value);

}  // namespace sluice

#endif  // SLUICE_PERSIST_SEALED_VALUE_H_
