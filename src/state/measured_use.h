// Placement by measured use: what running tasks asked for but measurably do not
// need is *reclaimed* and given to others, separately for cpu and memory
// (Borg's resource reclamation, EuroSys'15, section 5.5).
//
// The use of a machine is the larger of its newest sample and the mean of the
// newest `samples`, so a rise counts at once and a fall gradually.  Tasks
// placed since the oldest of these samples count with all that they asked for.
// The others together count with the measured use, but with at least
// `floor_percent` of what they asked for.  A machine that uses more than all of
// them asked for has that much less to give.
//
// So two bounds hold for placements on a measured machine: requests never
// exceed `overcommit_percent` of what it offers, and the measured use plus the
// requests of newer tasks never exceeds what it offers.  When a task leaves,
// the use is assumed to fall in proportion.
//
// Requests count again if there are fewer than `samples` samples, or if there
// was no new one for `stale_ms`.  The latter also holds for policies, whether
// this is on or off: they read UsageHistory::Current().
//
// Threads: confined to the core thread.  Units: as in Resources.  Nothing is
// stored.

#ifndef SLUICE_STATE_MEASURED_USE_H_
#define SLUICE_STATE_MEASURED_USE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "sluice/base/ids.h"
#include "sluice/state/machine.h"
#include "sluice/state/resources.h"

namespace sluice {

class ClusterState;

struct MeasuredUseOptions {
  size_t kept_samples = 32;  // Per machine, whether this is on or off.
  bool is_on = false;
  int64_t samples = 5;               // At least 1; of those that are kept.
  int64_t floor_percent = 50;        // 0 to 100.
  int64_t overcommit_percent = 150;  // At least 100.
  int64_t stale_ms = 300'000;
};

// What the newest samples of a machine say about one resource, ...
struct ResourceSaid {
  int64_t asked = 0;     // By the older tasks.
  int64_t unneeded = 0;  // Of that.
  int64_t excess = 0;    // Use beyond all requests.
};
// ... and about both.
struct SamplesSaid {
  int64_t since_ms = 0;  // Tasks placed since then count in full.
  ResourceSaid cpu;
  ResourceSaid memory;
};

class MeasuredUse {
 public:
  // The state must outlive this.
  explicit MeasuredUse(const ClusterState& state) : state_(state) {}

  void SetOptions(const MeasuredUseOptions& options) { options_ = options; }

  // Each returns true if the machine's `reclaimed` or `is_measured` changed.
  //
  // Adds a sample.
  bool Add(const MachineUsage& sample, Machine* machine);
  // Call when something left the machine, or it was described anew.  Foreign
  // pods count as measured, whenever they came.
  bool NoteLoad(Machine* machine);
  // Stops using its samples.
  bool Drop(Machine* machine);

  // The machines to Drop().  Takes time linear in their number.
  std::vector<MachineId> FindStale(int64_t now_ms) const;

 private:
  ResourceSaid Measure(const Machine& machine, ResourceIndex resource,
                       const Resources& older) const;
  // Expires its newest sample.
  void NoteExpired(Machine* machine);
  // The requests of tasks placed before `since_ms` and of all foreign pods.
  Resources RequestsBefore(int64_t since_ms, const Machine& machine) const;
  bool SetReclaimed(const Resources& reclaimed, bool is_measured,
                    Machine* machine) const;

  const ClusterState& state_;
  MeasuredUseOptions options_;
  absl::btree_map<MachineId, SamplesSaid> measured_;
  // Machines by the times of their newest samples, while these are current.
  absl::btree_set<std::pair<int64_t, MachineId>> current_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_MEASURED_USE_H_
