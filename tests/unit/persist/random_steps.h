// Random but reproducible lives of a cluster, from few names, so that uids are
// used again, machines return and everything meets everything.

#ifndef SLUICE_TESTS_UNIT_PERSIST_RANDOM_STEPS_H_
#define SLUICE_TESTS_UNIT_PERSIST_RANDOM_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "state/cluster_state.h"

namespace sluice {

struct PlaceStep {
  TaskId task;
  MachineId machine;
};
struct PreemptStep {
  TaskId task;
  // To move there, where room is kept for a moment only: that is not stored.
  std::optional<MachineId> target = {};
};
struct BeginDeliveryStep {
  uint64_t sequence = 0;
};
struct EndDeliveryStep {
  uint64_t sequence = 0;
  bool is_delivered = false;
};
using Step = std::variant<Command, PlaceStep, PreemptStep, BeginDeliveryStep,
                          EndDeliveryStep>;

class RandomSteps {
 public:
  explicit RandomSteps(uint64_t seed);

  // A step that is legal in `state`.
  Step Next(const ClusterState& state);

 private:
  std::optional<Step> Placement(const ClusterState& state);
  std::optional<Step> Preemption(const ClusterState& state);
  std::optional<Step> Delivery(const ClusterState& state);
  Command AnyCommand();
  Command TaskCommand();
  Command MachineCommand();
  TaskSpec AnyTaskSpec();
  DisruptionBudget AnyBudget();
  MachineSpec AnyMachineSpec();
  NamedAmounts Amounts(int64_t scale);
  LabelPairs Labels();
  PlacementRules Rules();
  void AddPeerTerms(PlacementRules* rules);
  PeerTerm AnyPeerTerm();
  std::vector<LabelRequirement> Requirements();
  NodeTerm Term();
  Toleration AnyToleration();
  Taint AnyTaint();
  Gang AnyGang();
  Owner AnyOwner();
  std::string Quarantine();
  TaskUid AnyTask();
  std::string AnyMachine();
  std::string Name(const char* prefix, uint64_t count);

  Rng rng_;
  Rng adoptions_;  // Of its own: the other steps stay as they are.
  // Whether this life goes on with few losses, so that clusters also grow.
  const bool is_calm_;
};

// As if so much time had passed that no successor comes any more.
void EndAllSuccessions(int64_t now_ms, ClusterState* state);

// Returns what the step said, for comparing.
Ack Take(const Step& step, int64_t now_ms, ClusterState* state);

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_PERSIST_RANDOM_STEPS_H_
