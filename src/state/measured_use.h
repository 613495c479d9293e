// Placement by measured use: what running tasks asked for and, as measured, do
// not need is *reclaimed* and given to others, cpu and memory each by itself
// (Borg's resource reclamation, EuroSys'15, section 5.5).
//
// A machine counts as using the larger of its newest sample and the mean of the
// newest `samples`, so that a rise counts at once and a fall in time.  Tasks
// that were placed since the oldest of these samples count with all that they
// asked for.  The others count with what is used, together, but with no less
// than `floor_percent` of what they asked for.  A machine that uses more than
// all of them asked for has so much less to give.
//
// So two bounds hold for whatever is placed on a machine that was measured:
// requests never exceed `overcommit_percent` of what it offers, and what it
// was measured to use never exceeds that together with what tasks asked for
// that came since.  When one of its tasks leaves, its use is taken to fall in
// proportion.
//
// Without `samples` samples, or a new one for `stale_ms`, requests count again.
// The latter holds for policies, too, whether this is on or not: they read
// UsageHistory::Current().
//
// Threads: confined to the core thread.  Units: as in Resources.  Nothing of it
// is stored.

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
  size_t kept_samples = 32;  // Of each machine, whether it is on or not.
  bool is_on = false;
  int64_t samples = 5;               // At least 1; of those that are kept.
  int64_t floor_percent = 50;        // 0 to 100.
  int64_t overcommit_percent = 150;  // At least 100.
  int64_t stale_ms = 300'000;
};

// What the newest samples of a machine say of one resource, ...
struct ResourceSaid {
  int64_t asked = 0;     // By the older tasks.
  int64_t unneeded = 0;  // Of that.
  int64_t excess = 0;    // Of use beyond all requests.
};
// ... and of both.
struct SamplesSaid {
  int64_t since_ms = 0;  // Tasks that were placed later count in full.
  ResourceSaid cpu;
  ResourceSaid memory;
};

class MeasuredUse {
 public:
  // The state must outlive this.
  explicit MeasuredUse(const ClusterState& state) : state_(state) {}

  void SetOptions(const MeasuredUseOptions& options) { options_ = options; }

  // Each returns whether Machine::reclaimed changed.
  //
  // A sample has come.
  bool Add(const MachineUsage& sample, Machine* machine);
  // Something left the machine, or it is described anew.  Foreign pods count as
  // measured, whenever they came.
  bool NoteLoad(Machine* machine);
  // Nothing follows from its samples any more.
  bool Drop(Machine* machine);

  // Those for which that is due.  Takes as long as there are such.
  std::vector<MachineId> FindStale(int64_t now_ms) const;

 private:
  ResourceSaid Measure(const Machine& machine, ResourceIndex resource,
                       const Resources& older) const;
  // Of its newest sample.
  void NoteExpired(Machine* machine);
  // What the tasks that were placed before, and all foreign pods, ask for.
  Resources RequestsBefore(int64_t since_ms, const Machine& machine) const;
  bool SetReclaimed(const Resources& reclaimed, bool is_measured,
                    Machine* machine) const;

  const ClusterState& state_;
  MeasuredUseOptions options_;
  absl::btree_map<MachineId, SamplesSaid> measured_;
  // Machines by the times of their newest samples, as long as these hold.
  absl::btree_set<std::pair<int64_t, MachineId>> current_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_MEASURED_USE_H_
