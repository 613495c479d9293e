// What a packing that counts on running tasks to be stopped comes to: what of
// it can be placed at once, who is stopped, and who waits for that.
//
// On a machine where something leaves, the most urgent tasks are placed as far
// as there is room already, and the others are *nominated*: their room is kept
// until it is free (ClusterState::Nominate).  Of a gang that nobody knows of
// yet all tasks are nominated as soon as one is.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_PREEMPTING_PLAN_H_
#define SLUICE_CORE_PREEMPTING_PLAN_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/container/btree_map.h"
#include "core/packing_plan.h"
#include "core/round_context.h"
#include "core/round_packing.h"

namespace sluice {

class PreemptingPlan {
 public:
  // Both must outlive this.  REQUIRES: what the packing takes as placed is
  // still there.
  PreemptingPlan(const RoundPacking& packing, RoundContext* context);

  // What the machines are to hold at once.
  MachinePatterns Split(const std::vector<Pattern>& solution);

  // Tells tasks to leave and nominates others, as far as the state has not
  // changed too much meanwhile: nobody is stopped for nothing.  `patterns` are
  // those of Split().  REQUIRES: what the packing takes as placed is withdrawn.
  void CarryOut(const MachinePatterns& patterns);

 private:
  // A machine that not all of its tasks have room on yet.
  struct Awaited {
    std::map<ClassKey, int64_t> nominees;
    std::vector<TaskId> victims;     // The most urgent first.
    std::vector<const Task*> tasks;  // That are nominated.
    uint32_t Highest() const;        // Priority of these.
  };
  // Commands may have come since the packing was described.
  bool IsStillOn(MachineId machine, TaskId task) const;
  // Running tasks that the pattern has no place for.
  std::vector<TaskId> VictimsOn(MachineId machine,
                                const Pattern& pattern) const;
  // What the machine has besides the running tasks that the pattern keeps, and
  // those that take no part.
  Resources RoomBeside(MachineId id, Resources free,
                       const Pattern& pattern) const;
  // Nobody is stopped for a task that is no more urgent, however well that was
  // packed: such newcomers wait where a victim fits instead.  `left`: what
  // there is for both.
  void SpareForNoHigher(Resources left, std::vector<TaskId>* victims,
                        std::map<ClassKey, int64_t>* newcomers) const;
  bool NominateGangs(MachinePatterns* patterns);
  void FindTasks(const MachinePatterns& patterns);
  // Drops the victims that cannot be stopped any more, and the tasks that have
  // no room or may not go there even without these.
  void Validate(MachineId id, Awaited* awaited) const;
  // Beside what stays: nobody is stopped for one whose company is still to
  // come.
  bool IsAllowedByPeers(const ClassKey& key, const Machine& machine,
                        const std::vector<TaskId>& victims) const;
  // Gangs of which only a part has room.
  void DropBrokenGangs();
  void SpareNeedless(MachineId id, Awaited* awaited) const;
  // Gives up machines whose victims are together too many for a budget, the
  // least urgent first; then all is packed again with the budgets shared out.
  void KeepToBudgets();
  // Of the machine, without its planned tasks; more than it has where some of
  // them leave.
  Resources RoomOn(const Machine& machine) const;

  const RoundPacking& packing_;
  RoundContext& context_;
  absl::flat_hash_map<MachineId, Resources> placed_;  // By the packing.
  absl::flat_hash_map<MachineId, Resources> planned_;
  absl::btree_map<MachineId, Awaited> awaited_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_PREEMPTING_PLAN_H_
