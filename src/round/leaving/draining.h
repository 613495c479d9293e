// Which tasks may leave a machine that an operator wants emptied, and what
// holds the others.
//
// A task is told to leave only if somebody would make its successor, and if a
// place elsewhere is free now and no more urgent waiting task wants it.  The
// place counts as taken once a successor is to come there, for host ports and
// for rules about other tasks, too.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_LEAVING_DRAINING_H_
#define SLUICE_ROUND_LEAVING_DRAINING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "round/together/disruptions.h"
#include "state/cluster_state.h"

namespace sluice {

enum class DrainHold {
  kForeign,     // Another scheduler placed it.
  kNoOwner,     // Nobody would make a successor.
  kOfGang,      // Its gang runs whole, or not at all.
  kNotReached,  // Its client cannot be told, or would not know it.
  kBudget,
  kNoMachine,  // No other machine may take it and has room.
};

// True if no wait ends the hold: it lasts as long as the task does not change.
bool IsForGood(DrainHold hold);

class Draining {
 public:
  // Looks at each task if there is any budget.  What is passed must outlive
  // this.  REQUIRES: the state's peers are in sync.
  Draining(const ClusterState& state, const ConstraintSet& constraints);

  // The tasks on the machine that were not told to leave yet, in the order in
  // which they are to go: the most urgent first; of equally urgent ones, the
  // largest.
  std::vector<const Task*> TasksToMove(const Machine& machine) const;

  // Why a task may not be told to move, whatever the target.
  std::optional<DrainHold> HoldOf(const Task& task);
  // The name of a budget of the task that lets no more tasks go; null if there
  // is none.  It lives as long as this.
  const std::string* FindExhaustedBudget(const Task& task);

  // The lower the better; nullopt excludes the machine.
  using Rank = std::optional<std::pair<Cost, Cost>>;
  // The machine with the lowest rank that may take the task; null if there is
  // none.  Looks at each machine.
  const Machine* FindTarget(const Task& task,
                            absl::FunctionRef<Rank(const Machine&)> rank) const;
  // The task was told to move: budgets count it as gone.  REQUIRES: HoldOf()
  // returned nothing.
  void NoteMove(const Task& task);
  // The same for a move that is only planned: the task's place on the target
  // counts as taken, too.
  void NoteMoveToCome(const Task& task, MachineId target);

 private:
  Resources RoomOn(const Machine& machine) const;
  // True if a more urgent waiting task might take the room.
  bool IsWanted(const ClassKey& key, const Machine& machine) const;
  // True if tasks planned to come there conflict with it.
  bool IsBarred(const ClassKey& key, const Machine& target) const;

  // A task that would be told to go there.
  struct Promise {
    const ClassKey* key = nullptr;
    MachineId machine;
  };

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  Disruptions disruptions_;
  std::vector<int64_t> allowances_;
  std::vector<Promise> promises_;
  absl::flat_hash_map<MachineId, Resources> taken_;  // By those to come.
};

}  // namespace sluice

#endif  // SLUICE_ROUND_LEAVING_DRAINING_H_
