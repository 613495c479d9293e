// Commands about machines and the foreign pods on them.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_STATE_MACHINE_COMMANDS_H_
#define SLUICE_STATE_MACHINE_COMMANDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/base/ids.h"
#include "state/cluster_state.h"
#include "state/command.h"

namespace sluice {

class MachineCommands {
 public:
  MachineCommands(int64_t now_ms, ClusterState* state)
      : now_ms_(now_ms), state_(*state) {}

  Ack Apply(const AddMachine& command);
  Ack Apply(const UpdateMachine& command);
  Ack Apply(const RemoveMachine& command);
  Ack Apply(const AddForeignPod& command);
  Ack Apply(const RemoveForeignPod& command);
  Ack Apply(const ReportMachineUsage& command);
  Ack Apply(const SetDraining& command);

  // Adds the machine for `feed`, or replaces its description and its tree.
  // Puts the tasks of `running` there, and those that wait for it.  Returns
  // null and changes nothing if another machine has a uuid of its tree.
  Machine* Put(const MachineSpec& spec, FeedId feed,
               const std::vector<TaskUid>& running = {});
  // REQUIRES: it is present.
  void Remove(MachineId id);

 private:
  // The machine of that uuid, if clients of the contract may change it.
  const Machine* FindMachineOfClient(const std::string& uuid) const;
  // Call when a machine that is present is announced again.
  void AnnounceAgain(MachineId id);
  void RemoveForeign(const std::string& name);
  // Gives up the room that is kept there for tasks to come.
  void EndRoomKeptOn(const Machine& machine);
  // Forgets it.  REQUIRES: it is empty.
  void DropMachine(MachineId id);

  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_MACHINE_COMMANDS_H_
