// How long a round looks for better places where nearly every machine of a
// large cluster is unlike the others.  There such a search has no end of its
// own, and what one round has tried in vain the next would try again: so a
// round looks for as long as what has changed since the last one is worth, and
// each one looks elsewhere.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_SEARCH_PACE_H_
#define SLUICE_CORE_SEARCH_PACE_H_

#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

#include "state/cluster_state.h"

namespace sluice {

class SearchPace {
 public:
  // Clusters of at most so many machines are searched in full each time.
  static constexpr int64_t kMachinesMax = 400;
  // In looks, whatever has changed: some 10 ms.
  static constexpr int64_t kBase = 1'000'000;
  // For each change of the state's version.
  static constexpr int64_t kPerChange = 500;

  int64_t WorkFor(const ClusterState& state) const {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    if (!last_.has_value() || std::ssize(state.machines()) <= kMachinesMax) {
      return kMost;
    }
    const uint64_t changes = state.version() - *last_;
    if (changes > static_cast<uint64_t>(kMost / kPerChange / 2)) return kMost;
    return kBase + kPerChange * static_cast<int64_t>(changes);
  }
  // A round has ended.
  void Note(uint64_t version) { last_ = version; }

 private:
  std::optional<uint64_t> last_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_SEARCH_PACE_H_
