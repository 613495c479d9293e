// Whether the required spreads of a class will allow one of its tasks where
// room is reserved for it, once all tasks with reserved room have come: these
// may make its domains rise.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_TOGETHER_PROMISED_SPREADS_H_
#define SLUICE_ROUND_TOGETHER_PROMISED_SPREADS_H_

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
  // A snapshot.  REQUIRES: the state's peers are in sync.
  PromisedSpreads(const ClusterState& state, const ConstraintSet& constraints,
                  const ClassKey& key);

  // True if one task of the class may be there, ignoring the others that are to
  // come: any of them may come first.
  bool Allow(MachineId machine) const;
  // True if all of the class that run there or are to come may.
  bool AllowAll(MachineId machine) const;

 private:
  struct Spread {
    TopologySpread all;
    TopologySpread others;  // Without the class's tasks to come.
    int64_t minimum;        // With them.
  };

  std::vector<Spread> spreads_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_TOGETHER_PROMISED_SPREADS_H_
