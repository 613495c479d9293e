// Room that was kept before a round, and that a packing may give to what is
// more urgent: of tasks whose class takes no part in it, and of those that
// yield to tasks that displace nobody.
//
// A packing knows nothing of them.  So what it places is looked at once more:
// what is no more urgent has to fit beside them.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_YIELDED_ROOM_H_
#define SLUICE_CORE_YIELDED_ROOM_H_

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/packing_plan.h"
#include "core/round_context.h"

namespace sluice {

class YieldedRoom {
 public:
  // `tasks`, with their machines, wait; `placed` are what the packing takes as
  // placed, which is still there.  The context must outlive this.
  YieldedRoom(std::span<const std::pair<TaskId, MachineId>> tasks,
              std::span<const TaskId> placed, RoundContext* context);

  bool Concerns(MachineId machine) const { return tasks_.contains(machine); }
  // Keeps room again for those of the machine that fit beside the newcomers
  // that are more urgent.  Of the other newcomers it takes out as many as do
  // not fit beside these, the least urgent first.  `room`: for all of them,
  // once those are gone whom the packing stops.  Returns what is kept.
  Resources KeepOn(const Machine& machine, const Resources& room,
                   std::map<ClassKey, int64_t>* newcomers);
  // The same for all machines, where nobody is stopped.
  void KeepBeside(MachinePatterns* patterns);
  // On the other machines, to which nobody comes.
  void KeepElsewhere();

 private:
  // Once those are gone that were told to leave, and what is placed anew.
  Resources RoomOn(const Machine& machine) const;

  RoundContext& context_;
  // The most urgent first.
  std::map<MachineId, std::vector<const Task*>> tasks_;
  std::map<MachineId, Resources> placed_;  // Of these machines.
};

}  // namespace sluice

#endif  // SLUICE_CORE_YIELDED_ROOM_H_
