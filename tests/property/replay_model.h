// The cluster as a client of the scheduler sees it: its own commands, and the
// replies, whose deltas it carries out one by one in their order.  Says what is
// wrong with a delta at the moment at which it is carried out.
//
// For clients that use no uid twice and get every reply.  Machines have no
// processing units and are sound.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_PROPERTY_REPLAY_MODEL_H_
#define SLUICE_TESTS_PROPERTY_REPLAY_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "clients/replies.h"
#include "property/peer_oracle.h"
#include "round/scheduler.h"
#include "state/command.h"

namespace sluice {

class ReplayModel {
 public:
  using Amounts = std::map<std::string, int64_t>;

  void Apply(const Command& command);

  // Carries out the deltas up to the first that is wrong, and returns what is
  // wrong with it, or with what the reply says waits; "" where nothing is.
  std::string Replay(const ScheduleReply& reply);

  // Why the task, which waits, may not run there now, by all rules and what is
  // free; "" where it may.
  std::string WhyNot(uint64_t uid, const std::string& machine) const;
  bool FitsSomewhere(uint64_t uid) const;

  // For trying out what could be.
  void Place(uint64_t uid, const std::string& machine) {
    cluster_.tasks.at(uid).machine = machine;
  }
  void Unplace(uint64_t uid) { cluster_.tasks.at(uid).machine.clear(); }

  const PeerCluster& cluster() const { return cluster_; }
  bool IsWaiting(uint64_t uid) const {
    return cluster_.tasks.at(uid).machine.empty();
  }
  std::vector<uint64_t> Waiting() const;
  std::vector<uint64_t> Running() const;

 private:
  // Of a task placed before those that it must be near: what is wrong about
  // that.  It may be where these must be near others that wait, as it is.
  std::string WhyNoCompanions(uint64_t uid, const ScheduleReply& reply);
  void End(TaskUid id);
  // What was told to leave has, and the others are to run again.
  void LoseTasksOf(const std::string& machine);
  void Describe(const MachineSpec& spec);

  PeerCluster cluster_;
  std::map<uint64_t, Amounts> requests_;
  std::map<std::string, Amounts> allocatable_;  // By machine.
};

}  // namespace sluice

#endif  // SLUICE_TESTS_PROPERTY_REPLAY_MODEL_H_
