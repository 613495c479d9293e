// How fast kinds of work run on types of machines, so that policies can send
// tasks where their kind runs faster.
//
// Machines with the same label node.kubernetes.io/instance-type are of one
// type.  Machines without it are of one type if they have the same processors,
// memory (in whole GiB) and extended resources
// (docs/decisions/0034-speeds-by-machine-type.md).
//
// A history holds the smoothed mean time per instruction.  When there is no
// room for another pair, the least recently updated one is forgotten
// (state/recent_histories.h).
//
// Threads: confined to the core thread.  Units: femtoseconds, since a task on
// many processors takes a few picoseconds per instruction.  Nothing is stored.
// Determinism: the same runs in the same order give the same histories.

#ifndef SLUICE_STATE_SPEED_HISTORIES_H_
#define SLUICE_STATE_SPEED_HISTORIES_H_

#include <compare>
#include <cstddef>
#include <cstdint>

#include "absl/container/btree_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/label_requirement.h"
#include "sluice/state/resources.h"
#include "state/recent_histories.h"

namespace sluice {

// Never the type with value 0.  Memory is in millibytes.
MachineTypeId MachineTypeOf(const LabelPairs& labels,
                            const NamedAmounts& capacity);

class SpeedHistories {
 public:
  // Some 100 bytes each.
  static constexpr size_t kPairsMax = 16384;
  // One second; slower means are capped at this.
  static constexpr int64_t kFsMax = 1'000'000'000'000'000;

  struct Pair {
    WorkKindId kind;
    MachineTypeId type;
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };
  struct History {
    int64_t mean_fs = 0;  // Per instruction, 1 to kFsMax.
    int64_t samples = 0;
    uint64_t last_use = 0;  // Rises from one sample to the next.
  };

  // `pairs_max` is at least 1.
  explicit SpeedHistories(size_t pairs_max = kPairsMax) : pairs_(pairs_max) {}

  // A task of this kind completed on a machine of this type.  No-op if it took
  // no time or retired no instructions.
  void Note(const Pair& pair, int64_t run_ms, uint64_t instructions);

  // By kind, and then by type.
  const absl::btree_map<Pair, History>& pairs() const { return pairs_.all(); }
  // Rises with each sample.
  uint64_t version() const { return pairs_.uses(); }

 private:
  RecentHistories<Pair, History> pairs_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_SPEED_HISTORIES_H_
