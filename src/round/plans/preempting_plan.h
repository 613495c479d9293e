// The result of a packing that counts on running tasks to leave: which tasks
// are placed at once, which are stopped or moved, and which wait for that.
//
// On a machine where something leaves, the most urgent tasks are placed as far
// as there is room already.  The others are *nominated*: their room is reserved
// until it is free (ClusterState::Nominate).  If one task of a gang unknown to
// clients is nominated, all its tasks are.
//
// As many running tasks of a class move as machines are to gain of it.  Room is
// reserved for their successors (ClusterState::Migrate).  Whatever is not
// carried out leaves everything as it is: a machine that gives up keeps what
// runs there, and its newcomers get no place.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_PLANS_PREEMPTING_PLAN_H_
#define SLUICE_ROUND_PLANS_PREEMPTING_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "constraints/class_peers.h"
#include "round/context/packing_plan.h"
#include "round/context/round_context.h"
#include "round/packing/round_packing.h"
#include "round/plans/slack.h"
#include "round/plans/yielded_room.h"
#include "round/together/domain_conflicts.h"
#include "round/together/planned_spreads.h"

namespace sluice {

class PreemptingPlan {
 public:
  // Both must outlive this.  REQUIRES: what the packing takes as placed is
  // still there.
  PreemptingPlan(const RoundPacking& packing, RoundContext* context);

  // What the machines are to hold at once.  Stores the rest in `yielded`.
  MachinePatterns Split(std::vector<Pattern> solution, YieldedRoom* yielded);

  struct Move {
    TaskId task;
    MachineId from;
    MachineId to;
    // The lower preference and peer costs of the task, less the cost of the
    // move.  What the move makes room for does not count.
    int64_t gain = 0;
  };
  struct Decided {
    std::vector<TaskId> stopped;
    std::vector<Move> moves;
    std::vector<std::pair<TaskId, MachineId>> nominated;
    // The nominated tasks that depend on moves, with the rest of their gangs.
    std::set<TaskId> depending;
  };
  // Who leaves and who is nominated, as far as the state still allows it: no
  // task leaves in vain.  `patterns` are those of Split().  REQUIRES: what the
  // packing takes as placed is withdrawn.  Call it once.
  Decided Decide(const MachinePatterns& patterns);
  // Does what was decided.  REQUIRES: nothing has changed since.
  static void CarryOut(const Decided& decided, RoundContext* context);

 private:
  // A machine without room yet for all of its tasks, or whose tasks move.
  struct Awaited {
    std::map<ClassKey, int64_t> nominees;
    std::vector<TaskId> victims;     // The most urgent first.
    std::vector<const Task*> tasks;  // Those nominated.
    std::vector<size_t> leaving;     // Indices of moves from here.
    std::vector<size_t> arriving;    // Indices of moves to here.

    uint32_t Highest() const;  // Priority of the nominated tasks.
  };
  // The most urgent task that a machine makes room for, and one of the gangs
  // among such tasks.
  struct Served {
    std::optional<uint32_t> priority;  // Nullopt if there is none.
    std::optional<JobId> gang;

    friend auto operator<=>(const Served&, const Served&) = default;
  };
  void UseFreeRoom(std::vector<Pattern>* solution) const;
  void FindMoves(const std::vector<Pattern>& solution);
  const ClassKey& KeyOf(const Move& move) const {
    return context_.state.FindTask(move.task)->class_key;
  }
  Resources RequestsOf(const std::vector<size_t>& moves) const;
  void DropMove(size_t move);  // The task stays where it is.
  // Commands may have come since the packing was described.
  bool IsStillOn(MachineId machine, TaskId task) const;
  // Running tasks that the pattern has no place for and that do not move.
  std::vector<TaskId> VictimsOn(MachineId machine,
                                const Pattern& pattern) const;
  // The machine's room beside the running tasks that the pattern keeps, and
  // those that take no part.
  Resources RoomBeside(MachineId id, Resources free,
                       const Pattern& pattern) const;
  // Spares victims for newcomers that are no more urgent, however well the
  // packing fits: those wait if a victim fits instead.  `left`: the room for
  // both.
  void SpareForNoHigher(Resources left, std::vector<TaskId>* victims,
                        std::map<ClassKey, int64_t>* newcomers);
  // The pattern's tasks to be placed; those of gangs that leave wait.
  std::map<ClassKey, int64_t> NewcomersOf(const Pattern& pattern) const;
  // True if tasks may leave a machine to which none comes.
  bool MayLeaveForOthers() const {
    return !leaving_gangs_.empty() || !conflicts_.empty() || !spreads_.empty();
  }
  // Stops those of these tasks that leave for newcomers on other machines, or
  // because their gangs leave.
  void StopForOthersOn(MachineId machine, std::vector<TaskId> tasks);
  // Gangs that keep fewer tasks than they need, and so keep none.
  std::set<JobId> FindLeavingGangs(const std::vector<Pattern>& solution) const;
  bool NominateGangs(MachinePatterns* patterns);
  // Nominates tasks whose spreads let them in only after nominated ones come.
  bool NominateBeyondSpreads(MachinePatterns* patterns);
  // Leaves out gangs with too few tasks coming to start.
  void LeaveOutBrokenGangs(MachinePatterns* patterns);
  // The room of the machine now, without what the packing takes as placed.
  Resources FreeOn(const Machine& machine) const;
  void FindTasks(const MachinePatterns& patterns);
  // Notes the spread tasks that are placed at once.  `patterns` must outlive
  // this.
  void FindPlacedAtOnce(const MachinePatterns& patterns);
  // Reduces the plan to one that can be carried out.
  void Settle();
  // Drops victims that cannot be stopped any more, and tasks that have no room
  // or may not go there even without the victims.  Returns whether a task or a
  // move is dropped.
  bool Validate(MachineId id, Awaited* awaited);
  bool ValidateMoves(MachineId id, Awaited* awaited);
  // Considers only what stays: no task is stopped for one whose company has yet
  // to come.
  bool IsAllowedByPeers(const ClassKey& key, const Machine& machine,
                        const std::vector<TaskId>& victims);
  // The same once all planned leavers have left, on other machines, too.
  // Spreads are checked only for the task that takes part alone: in the
  // packing, the others may rise together.
  bool IsAllowedAsAllLeave(const ClassKey& key, const Machine& machine,
                           const std::vector<TaskId>& victims);
  // True if the lone newcomer may still be wherever it is planned if these stay
  // after all.
  bool IsLoneAllowedBeside(const std::set<TaskId>& staying);
  // Finds who leaves, provided no victim is spared.
  void FindLeavers();
  const ClassPeers& PeersOf(const ClassKey& key);
  bool IsInTheWay(TaskId victim) const;  // Of the lone task.
  bool IsLone(const ClassKey& key) const { return packing_.lone == key; }
  // True if leavers may be on other machines than the newcomer.  False for one
  // with affinity that takes part with others.
  bool LooksFurther(const ClassKey& key) const;
  // True if others must leave first, or company besides these must come.
  bool MustAwaitOthers(const ClassKey& key, const Machine& machine,
                       const std::map<ClassKey, int64_t>& beside);
  // Finds tasks told to leave that have rules, or are selected by some.
  void FindEvicted();
  // Finds who waits for tasks on other machines to leave.
  void FindConflicts(const std::vector<Pattern>& solution);
  void FindConflicts();  // Of the nominated tasks.
  // Finds who comes and leaves, for spreads.
  void FindSpreads(const std::vector<Pattern>& solution);
  void WatchSpreads();
  void FindSpreads();  // Of the nominated tasks, and what is placed at once.
  // Drops the least urgent newcomers that their spreads do not let in once all
  // have come and left.  Returns whether there were any.
  bool DropBeyondSpreads();
  // The highest priority of the newcomers in a domain of the victim's machine
  // that wait for it to leave.
  std::optional<uint32_t> HighestServedBy(TaskId victim) const;
  // True if one of them is more urgent than the victim.
  bool Serves(TaskId victim) const;
  // Notes that the victim stays.
  void NoteSpared(TaskId victim);
  bool IsForNothing(const Awaited& awaited) const;
  // Drops gangs only part of which has room.  Returns whether there were any.
  bool DropBrokenGangs();
  // The running gang that the victim belongs to.
  std::optional<JobId> GangOfVictim(TaskId victim) const;
  // True if the victim leaves because its gang does.
  bool GoesWithGang(TaskId victim) const;
  // Spares gangs that would go on with too few tasks, and finds those that
  // leave.  Returns whether any was spared.
  bool SpareTornGangs();
  // Spares gangs that need not leave, given for whom each machine makes room
  // (`served`).  Returns whether there were any.
  bool SpareGangs(const std::map<MachineId, Served>& served);
  // For whom each machine makes room, also by moves to it.
  std::map<MachineId, Served> FindServed() const;
  // Spares leavers that make room for nobody more urgent, and that gain
  // nothing.  `highest`: the priority it makes room for.  Returns whether there
  // were any.
  bool SpareNeedless(MachineId id, uint32_t highest, Awaited* awaited);
  // Drops moves that make room only for each other and gain nothing together.
  // Returns whether there were any.
  bool DropLosses();
  // The gang of one of the tasks nominated there.
  static std::optional<JobId> GangOf(const Awaited& awaited);
  // Reports that the gang waits for its moves, if the hour does not allow them.
  void NoteMovesFor(JobId gang, const std::map<MachineId, Served>& served,
                    const MoveBudget::Left& left);
  // The order in which machines may use up budgets: those for the most urgent
  // tasks first, gang by gang; among these, those that stop the least urgent;
  // last, those that only move tasks to cheaper places, by gain.
  std::vector<MachineId> ByUrgency() const;
  // Gives up machines, the least urgent first, if stops and moves together
  // exceed a budget, or if moves exceed what the round may make.  Tells the
  // agenda, so that all is packed again with fewer moves.
  void KeepToBudgets();
  void GiveUp(Awaited* awaited);
  Slack SlackOn(const Machine& machine, const Awaited& awaited) const;
  // Of the machine, without its planned tasks; more than it has if some of them
  // leave.
  Resources RoomOn(const Machine& machine) const;

  const RoundPacking& packing_;
  RoundContext& context_;
  absl::flat_hash_map<MachineId, Resources> placed_;  // By the packing.
  absl::flat_hash_map<MachineId, Resources> planned_;
  absl::btree_map<MachineId, Awaited> awaited_;
  std::set<JobId> leaving_gangs_;  // As a whole.
  DomainConflicts conflicts_;      // With those to come.
  PlannedSpreads spreads_;         // Of those to come.
  // Spread tasks that are placed at once.
  std::vector<std::pair<const ClassKey*, MachineId>> placed_at_once_;
  std::vector<const Task*> evicted_;
  std::vector<const Task*> leavers_;  // With rules; and the victims with rules.
  // Those of them that may keep others out of wide domains.
  std::vector<const Task*> wide_leavers_;
  // During Split(): what the packing takes as placed, with rules.
  std::vector<const Task*> placed_peers_;
  std::vector<const Task*> taken_back_;  // Of these, those not placed anew.
  // As of Split(), later as of Decide().
  std::map<ClassKey, ClassPeers> peers_of_;
  std::vector<Move> moves_;
  absl::flat_hash_set<TaskId>
      moving_;  // Those of `moves_` that are not dropped.
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PLANS_PREEMPTING_PLAN_H_
