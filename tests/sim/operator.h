// Somebody who drains machines, and ends that again.
//
// It finds wrong: a placement on a machine after its draining was acknowledged,
// and such a draining that is not known after a crash.
//
// Threads: one.

#ifndef SLUICE_TESTS_SIM_OPERATOR_H_
#define SLUICE_TESTS_SIM_OPERATOR_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/faults.h"
#include "sim/real_cluster.h"
#include "sim/sim_daemon.h"
#include "sim/timeline.h"

namespace sluice::sim {

class Operator {
 public:
  // All must outlive it.
  Operator(const Faults& faults, Timeline* timeline, Rng* rng,
           SimDaemon* daemon, RealCluster* cluster);

  // Drains one of the machines, or takes it into use again.
  void Act(const std::vector<std::string>& machines);
  // Takes all of them into use again.
  void CalmDown();
  // The daemon begins with nothing.
  void NoteStoreLoss() { draining_.clear(); }
  bool is_waiting_for_answers() const { return !wishes_.empty(); }

 private:
  struct Wish {
    bool is_draining = false;
    uint64_t number = 0;
  };

  void Ask(const std::string& uuid, bool is_draining);
  // Until it is answered.
  void Transmit(const std::string& uuid, uint64_t number);
  void TakeAnswer(const std::string& uuid, uint64_t number, Ack ack);
  bool IsOpen(const std::string& uuid, uint64_t number) const;
  void CheckRecovered(const ClusterState& state);
  void CheckPlacements(const ClusterState& state);

  const Faults faults_;
  Timeline& timeline_;
  Rng& rng_;
  SimDaemon& daemon_;
  RealCluster& cluster_;

  std::map<std::string, Wish> wishes_;  // Those that were not answered yet.
  uint64_t next_wish_ = 1;
  // What was acknowledged, with the first delta after that.
  std::map<std::string, uint64_t> draining_;
  std::set<std::string> touched_;  // That ever were to be drained.
};

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_OPERATOR_H_
