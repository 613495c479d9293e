// A cluster with running tasks, and classes that look at them.

#ifndef SLUICE_TESTS_UNIT_CONSTRAINTS_PEERS_FIXTURE_H_
#define SLUICE_TESTS_UNIT_CONSTRAINTS_PEERS_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/constraint_set.h"
#include "state/cluster_state.h"
#include "util/peer_builder.h"

namespace sluice {

inline const PeerTerm kWebInZone = {App("web"), "zone"};
inline const PeerTerm kDbInZone = {App("db"), "zone"};

inline PlacementRules Near(std::vector<PeerTerm> terms) {
  return {.affinity = std::move(terms)};
}
inline PlacementRules AwayFrom(std::vector<PeerTerm> terms) {
  return {.anti_affinity = std::move(terms)};
}
inline PlacementRules SpreadOut(const SpreadConstraint& constraint) {
  return {.spread = {constraint}};
}

class PeerWorld {
 public:
  // Machines a1 and a2 in zone a, b1 in zone b, x1 in none.
  void AddZones() {
    AddMachine("a1", {{"zone", "a"}});
    AddMachine("a2", {{"zone", "a"}});
    AddMachine("b1", {{"zone", "b"}});
    AddMachine("x1", {});
  }
  void AddMachine(std::string_view uuid, const LabelPairs& labels,
                  const std::vector<Taint>& taints = {}) {
    state_.Apply(Added(uuid, {.labels = labels, .taints = taints}), 0);
  }
  const Machine& MachineOf(std::string_view uuid) const {
    return *state_.FindMachine(uuid);
  }
  MachineId IdOf(std::string_view uuid) const { return MachineOf(uuid).id; }

  // Submits a task with this "app" and syncs.
  uint64_t Submit(const std::string& app, const PlacementRules& rules = {}) {
    state_.Apply(
        Submitted(++last_uid_, {.labels = {{"app", app}}, .rules = rules},
                  PeerOptions()),
        0);
    state_.SyncPeers();
    return last_uid_;
  }
  // Its class, which does not change as others come.
  const ClassKey& KeyOf(uint64_t uid) const {
    return state_.FindTask({uid})->class_key;
  }
  // The class of a task that waits.
  const ClassKey& ClassOf(const std::string& app, const PlacementRules& rules) {
    return KeyOf(Submit(app, rules));
  }
  void Place(uint64_t uid, std::string_view uuid) {
    state_.Place({uid}, IdOf(uuid), 0);
  }
  // A task that runs there; its client knows.
  uint64_t RunOn(std::string_view uuid, const std::string& app,
                 const PlacementRules& rules = {}) {
    const uint64_t uid = Submit(app, rules);
    Place(uid, uuid);
    const uint64_t sequence = state_.outbox().begin()->first;
    state_.BeginDelivery(sequence);
    state_.EndDelivery(sequence, /*is_delivered=*/true);
    return uid;
  }

  const ClusterState& state() const { return state_; }
  const ConstraintSet& constraints() const { return constraints_; }

 protected:
  ClusterState state_;
  const ConstraintSet constraints_;

 private:
  uint64_t last_uid_ = 0;
};

class PeersTest : public testing::Test, protected PeerWorld {};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_CONSTRAINTS_PEERS_FIXTURE_H_
