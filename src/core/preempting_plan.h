// What a packing that counts on running tasks to leave comes to: what of it can
// be placed at once, who is stopped or moved, and who waits for that.
//
// On a machine where something leaves, the most urgent tasks are placed as far
// as there is room already, and the others are *nominated*: their room is kept
// until it is free (ClusterState::Nominate).  Of a gang that nobody knows of
// yet all tasks are nominated as soon as one is.
//
// Of a class that runs, as many tasks move as machines are to have more of it.
// Room is kept for their successors (ClusterState::Migrate).  What is not
// carried out leaves everything as it is: a machine that gives up keeps what
// runs there, and what was to come in its place does without.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_PREEMPTING_PLAN_H_
#define SLUICE_CORE_PREEMPTING_PLAN_H_

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
#include "core/domain_conflicts.h"
#include "core/packing_plan.h"
#include "core/planned_spreads.h"
#include "core/round_context.h"
#include "core/round_packing.h"
#include "core/slack.h"
#include "core/yielded_room.h"

namespace sluice {

class PreemptingPlan {
 public:
  // Both must outlive this.  REQUIRES: what the packing takes as placed is
  // still there.
  PreemptingPlan(const RoundPacking& packing, RoundContext* context);

  // What the machines are to hold at once.  Keeps what is left to `yielded`.
  MachinePatterns Split(std::vector<Pattern> solution, YieldedRoom* yielded);

  struct Move {
    TaskId task;
    MachineId from;
    MachineId to;
    // By the preferences of the task and its wishes about others, less what the
    // move costs; whatever it makes room for.
    int64_t gain = 0;
  };
  struct Decided {
    std::vector<TaskId> stopped;
    std::vector<Move> moves;
    std::vector<std::pair<TaskId, MachineId>> nominated;
    // Of these, those for whom tasks move, with the rest of their gangs.
    std::set<TaskId> depending;
  };
  // Who leaves and who is nominated, as far as the state has not changed too
  // much meanwhile: nobody leaves for nothing.  `patterns` are those of
  // Split(). REQUIRES: what the packing takes as placed is withdrawn.  Call it
  // once.
  Decided Decide(const MachinePatterns& patterns);
  // Does what was decided.  REQUIRES: nothing has changed since.
  static void CarryOut(const Decided& decided, RoundContext* context);

 private:
  // A machine that not all of its tasks have room on yet, or whose tasks move.
  struct Awaited {
    std::map<ClassKey, int64_t> nominees;
    std::vector<TaskId> victims;     // The most urgent first.
    std::vector<const Task*> tasks;  // That are nominated.
    std::vector<size_t> leaving;     // Indices of moves from here,
    std::vector<size_t> arriving;    // and of moves to here.

    uint32_t Highest() const;  // Priority of the nominated tasks.
  };
  // The most urgent of those that a machine makes room for, and one of the
  // gangs among these.
  struct Served {
    std::optional<uint32_t> priority;  // Unless there is nobody.
    std::optional<JobId> gang;

    friend auto operator<=>(const Served&, const Served&) = default;
  };
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
  // What the machine has besides the running tasks that the pattern keeps, and
  // those that take no part.
  Resources RoomBeside(MachineId id, Resources free,
                       const Pattern& pattern) const;
  // Nobody is stopped for a task that is no more urgent, however well that was
  // packed: such newcomers wait where a victim fits instead.  `left`: what
  // there is for both.
  void SpareForNoHigher(Resources left, std::vector<TaskId>* victims,
                        std::map<ClassKey, int64_t>* newcomers);
  // Those of the pattern that are to be placed, but for tasks of gangs that
  // leave: these wait for the others.
  std::map<ClassKey, int64_t> NewcomersOf(const Pattern& pattern) const;
  // Whether tasks may leave a machine to which nobody comes.
  bool MayLeaveForOthers() const {
    return !leaving_gangs_.empty() || !conflicts_.empty() || !spreads_.empty();
  }
  // Stops those of these tasks that leave for newcomers on other machines, or
  // because their gangs do.
  void StopForOthersOn(MachineId machine, std::vector<TaskId> tasks);
  // Those that keep fewer tasks than they need, and so keep none.
  std::set<JobId> FindLeavingGangs(const std::vector<Pattern>& solution) const;
  bool NominateGangs(MachinePatterns* patterns);
  // Whom its spread does not let in before those come that are nominated.
  bool NominateBeyondSpreads(MachinePatterns* patterns);
  // Those of which too few come to start.
  void LeaveOutBrokenGangs(MachinePatterns* patterns);
  // What the machine has at once, but for what the packing takes as placed.
  Resources FreeOn(const Machine& machine) const;
  void FindTasks(const MachinePatterns& patterns);
  // Of what is placed at once, what is spread.  `patterns` must outlive this.
  void FindPlacedAtOnce(const MachinePatterns& patterns);
  // Makes the plan one that can be carried out.
  void Settle();
  // Drops the victims that cannot be stopped any more, and the tasks that have
  // no room or may not go there even without these.  Returns whether a task is
  // dropped, or a move.
  bool Validate(MachineId id, Awaited* awaited);
  bool ValidateMoves(MachineId id, Awaited* awaited);
  // Beside what stays: nobody is stopped for one whose company is still to
  // come.
  bool IsAllowedByPeers(const ClassKey& key, const Machine& machine,
                        const std::vector<TaskId>& victims);
  // The same as all leave that are to, on other machines, too.  A spread is
  // looked at for the task alone that takes part alone: as the packing has it
  // the others may rise together.
  bool IsAllowedAsAllLeave(const ClassKey& key, const Machine& machine,
                           const std::vector<TaskId>& victims);
  // Whether the rules still let the lone newcomer be wherever it is planned if
  // these stay after all.
  bool IsLoneAllowedBeside(const std::set<TaskId>& staying);
  // Finds who leaves, as long as no victim is spared.
  void FindLeavers();
  const ClassPeers& PeersOf(const ClassKey& key);
  bool IsInTheWay(TaskId victim) const;  // Of the task that is alone.
  bool IsLone(const ClassKey& key) const { return packing_.lone == key; }
  // Whether what leaves may be on other machines than the newcomer: not for one
  // with affinity that takes part with others.
  bool LooksFurther(const ClassKey& key) const;
  // Whether others have to leave first, or company to come besides these.
  bool MustAwaitOthers(const ClassKey& key, const Machine& machine,
                       const std::map<ClassKey, int64_t>& beside);
  // Tasks that were told to leave and have rules, or are meant by some.
  void FindEvicted();
  // Who waits for tasks on other machines to leave.
  void FindConflicts(const std::vector<Pattern>& solution);
  void FindConflicts();  // Of the nominated tasks.
  // Finds who comes and leaves, for spreads.
  void FindSpreads(const std::vector<Pattern>& solution);
  void WatchSpreads();
  void FindSpreads();  // Of the nominated tasks, and what is placed at once.
  // The least urgent newcomers that their spreads do not let in, once all have
  // come and left.  Returns whether there were any.
  bool DropBeyondSpreads();
  // The most urgent newcomer in a domain with the victim's machine that waits
  // for it to leave.
  std::optional<uint32_t> HighestServedBy(TaskId victim) const;
  // Whether there is one that is more urgent than the victim.
  bool Serves(TaskId victim) const;
  // The victim stays.
  void NoteSpared(TaskId victim);
  bool IsForNothing(const Awaited& awaited) const;
  // Gangs of which only a part has room.  Returns whether there were any.
  bool DropBrokenGangs();
  // The running gang that the victim is of.
  std::optional<JobId> GangOfVictim(TaskId victim) const;
  // Whether the victim goes because its gang does.
  bool GoesWithGang(TaskId victim) const;
  // Gangs that would go on with fewer tasks than they need.  Finds those that
  // leave.  Returns whether there were any of the first.
  bool SpareTornGangs();
  // Gangs that need not leave, as `served` says for whom each machine makes
  // room.  Returns whether there were any.
  bool SpareGangs(const std::map<MachineId, Served>& served);
  // For whom each machine makes room, by moves to it, too.
  std::map<MachineId, Served> FindServed() const;
  // Who leaves though that makes room for nobody, or nobody more urgent than
  // who is stopped, nor gains anything.  `highest`: whom it makes room for.
  // Returns whether there was anybody.
  bool SpareNeedless(MachineId id, uint32_t highest, Awaited* awaited);
  // Moves that make room for each other, and for nobody who waits, but do not
  // gain anything together.  Returns whether there were any.
  bool DropLosses();
  // Of one of the tasks that are nominated there.
  static std::optional<JobId> GangOf(const Awaited& awaited);
  // Tells that the gang waits for its moves, if an hour does not allow them.
  void NoteMovesFor(JobId gang, const std::map<MachineId, Served>& served,
                    const MoveBudget::Left& left);
  // In the order in which machines may use up budgets: those for the most
  // urgent first, gang by gang, of these those that stop the least urgent, and
  // those last that only move tasks to where they cost less, by what they gain.
  std::vector<MachineId> ByUrgency() const;
  // Gives up machines whose victims and moves are together too many for a
  // budget, or whose moves are more than the round may make, the least urgent
  // first.  Tells the agenda, so that all is packed again with fewer moves.
  void KeepToBudgets();
  void GiveUp(Awaited* awaited);
  Slack SlackOn(const Machine& machine, const Awaited& awaited) const;
  // Of the machine, without its planned tasks; more than it has where some of
  // them leave.
  Resources RoomOn(const Machine& machine) const;

  const RoundPacking& packing_;
  RoundContext& context_;
  absl::flat_hash_map<MachineId, Resources> placed_;  // By the packing.
  absl::flat_hash_map<MachineId, Resources> planned_;
  absl::btree_map<MachineId, Awaited> awaited_;
  std::set<JobId> leaving_gangs_;  // As a whole.
  DomainConflicts conflicts_;      // With those that are to come.
  PlannedSpreads spreads_;         // Of those.
  // What is placed at once and is spread.
  std::vector<std::pair<const ClassKey*, MachineId>> placed_at_once_;
  std::vector<const Task*> evicted_;
  std::vector<const Task*> leavers_;  // These, and the victims, with rules.
  // Of these, those that others could be kept from domains by.
  std::vector<const Task*> wide_leavers_;
  // While it splits: what the packing takes as placed, with rules.
  std::vector<const Task*> placed_peers_;
  std::vector<const Task*> taken_back_;  // Of these, rather than placed anew.
  // As of Split(), and later as of Decide().
  std::map<ClassKey, ClassPeers> peers_of_;
  std::vector<Move> moves_;
  absl::flat_hash_set<TaskId>
      moving_;  // Those of `moves_` without the dropped.
};

}  // namespace sluice

#endif  // SLUICE_CORE_PREEMPTING_PLAN_H_
