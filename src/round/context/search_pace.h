// How much a round of a large cluster of mostly unlike machines spends on
// looking for better places, and on a proof that there are none.
//
// A search there does not end by itself, and the next round would repeat what
// one tried in vain.  So a round looks for as long as the changes since the
// last one are worth, and each round looks elsewhere.  The quality of rounds
// changes little from one to the next, so only some of them prove it.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_CONTEXT_SEARCH_PACE_H_
#define SLUICE_ROUND_CONTEXT_SEARCH_PACE_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

#include "state/cluster_state.h"

namespace sluice {

class SearchPace {
 public:
  // Clusters of at most this many machines are searched in full each time.
  static constexpr int64_t kMachinesMax = 400;
  // In units of work (round/context/work_budget.h), even without any change:
  // some 10 ms.
  static constexpr int64_t kBase = 1'000'000;
  // For each change of the state's version.
  static constexpr int64_t kPerChange = 500;
  // If tasks move, too: a packing of all machines together finds what no search
  // machine by machine does, and may take this many times as much.
  static constexpr int64_t kTogether = 5;
  // After each round with a proof, this many go without one.
  static constexpr int kUnproved = 7;

  // For a search machine by machine.
  int64_t WorkFor(const ClusterState& state) const {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    if (!last_.has_value() || std::ssize(state.machines()) <= kMachinesMax) {
      return kMost;
    }
    const uint64_t changes = state.version() - *last_;
    if (changes > static_cast<uint64_t>(kMost / kPerChange / kTogether / 2)) {
      return kMost;
    }
    return kBase + kPerChange * static_cast<int64_t>(changes);
  }
  // For a packing of all machines together, given the work machine by machine.
  static int64_t WorkTogether(int64_t work) {
    return std::min(work, std::numeric_limits<int64_t>::max() / kTogether) *
           kTogether;
  }
  // A round has ended.
  void Note(uint64_t version) { last_ = version; }

  // True if a round that needs a proof is to look for one.
  bool IsProofDue(const ClusterState& state) const {
    return unproved_ >= kUnproved ||
           std::ssize(state.machines()) <= kMachinesMax;
  }
  void NoteProof(bool has_one) { unproved_ = has_one ? 0 : unproved_ + 1; }

 private:
  std::optional<uint64_t> last_;
  int unproved_ = kUnproved;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_SEARCH_PACE_H_
