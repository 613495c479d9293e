// Room that was reserved before a round, and that a packing may give to more
// urgent tasks: that of tasks whose class takes no part in the packing, and of
// tasks that yield to ones that displace nobody.
//
// A packing knows nothing of them.  So its result is checked once more: what is
// no more urgent must fit beside them.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_PLANS_YIELDED_ROOM_H_
#define SLUICE_ROUND_PLANS_YIELDED_ROOM_H_

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "round/context/packing_plan.h"
#include "round/context/round_context.h"

namespace sluice {

class YieldedRoom {
 public:
  // `tasks` wait for their machines; `placed` are what the packing takes as
  // placed, which is still there.  The context must outlive this.
  YieldedRoom(std::span<const std::pair<TaskId, MachineId>> tasks,
              std::span<const TaskId> placed, RoundContext* context);

  bool Concerns(MachineId machine) const { return tasks_.contains(machine); }
  // Reserves room again for those tasks of the machine that fit beside the more
  // urgent newcomers.  Removes as many of the other newcomers as do not fit
  // beside these, the least urgent first.  `room`: for all of them, once those
  // that the packing stops are gone.  Returns what is reserved.
  Resources KeepOn(const Machine& machine, const Resources& room,
                   std::map<ClassKey, int64_t>* newcomers);
  // The same for all machines, if no task is stopped.
  void KeepBeside(MachinePatterns* patterns);
  // Reserves room on the other machines, to which no newcomer comes.
  void KeepElsewhere();

 private:
  // Once tasks told to leave, and those placed anew, are gone.
  Resources RoomOn(const Machine& machine) const;

  RoundContext& context_;
  // The most urgent first.
  std::map<MachineId, std::vector<const Task*>> tasks_;
  std::map<MachineId, Resources> placed_;  // Of these machines.
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PLANS_YIELDED_ROOM_H_
