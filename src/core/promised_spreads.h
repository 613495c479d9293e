// Whether the required spreads of a class will let a task of it be where room
// is kept for it, once all have come that room is kept for: these may make its
// domains rise.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_PROMISED_SPREADS_H_
#define SLUICE_CORE_PROMISED_SPREADS_H_

#include <cstdint>
#include <vector>

#include "constraints/constraint_set.h"
#include "constraints/topology_spread.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

class PromisedSpreads {
 public:
  // As of now.  REQUIRES: the state's peers are in sync.
  PromisedSpreads(const ClusterState& state, const ConstraintSet& constraints,
                  const ClassKey& key);

  // One task of the class, ignoring the others that are to come: any of them
  // may come first.
  bool Allow(MachineId machine) const;
  // All of the class that run there or are to come.
  bool AllowAll(MachineId machine) const;

 private:
  struct Spread {
    TopologySpread all;
    TopologySpread others;  // Without what is to come of the class.
    int64_t minimum;        // With that.
  };

  std::vector<Spread> spreads_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_PROMISED_SPREADS_H_
