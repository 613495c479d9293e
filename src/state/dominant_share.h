// The dominant share: how much of a whole some amounts take of the resource of
// which they take the most.
//
// Threads: free functions without state.

#ifndef SLUICE_STATE_DOMINANT_SHARE_H_
#define SLUICE_STATE_DOMINANT_SHARE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/int128.h"

namespace sluice {

// A fraction that is not negative.
struct Share {
  int64_t amount = 0;
  int64_t whole = 1;  // More than 0.

  double ratio() const {
    return static_cast<double>(amount) / static_cast<double>(whole);
  }
  // In parts of which the whole has `parts`, rounded down; `most` at most.
  // REQUIRES: parts >= 0.
  int64_t In(int64_t parts,
             int64_t most = std::numeric_limits<int64_t>::max()) const {
    return static_cast<int64_t>(
        std::min<Int128>(static_cast<Int128>(amount) * parts / whole, most));
  }
};

// The largest amounts[i] / whole[i]; 0 if no amount is positive.  Leaves out
// resources of which the whole has none.  `Amounts` are indexed by resource, as
// Resources are; other containers must have the same size.
template <class Amounts>
Share DominantShare(const Amounts& amounts, const Amounts& whole) {
  Share share;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] <= 0) continue;
    if (static_cast<Int128>(amounts[i]) * share.whole >
        static_cast<Int128>(share.amount) * whole[i]) {
      share = {.amount = amounts[i], .whole = whole[i]};
    }
  }
  return share;
}

}  // namespace sluice

#endif  // SLUICE_STATE_DOMINANT_SHARE_H_
