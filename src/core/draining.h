// What of a machine that an operator wants emptied may move, and what holds the
// rest.
//
// Nobody is told to leave whom nobody would make a successor of, or whose place
// is not known to be free elsewhere: now, and for nobody more urgent who waits.
// A place counts as taken once a successor is to come there, for rules about
// other tasks and host ports, too.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_DRAINING_H_
#define SLUICE_CORE_DRAINING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "constraints/constraint_set.h"
#include "core/disruptions.h"
#include "cost/policy_set.h"
#include "state/cluster_state.h"

namespace sluice {

enum class DrainHold {
  kForeign,     // Another scheduler placed it.
  kNoOwner,     // Nobody would make a successor.
  kOfGang,      // Its gang runs with all that it needs, or not at all.
  kNotReached,  // Its client could not be told, or would not know whom.
  kBudget,
  kNoMachine,  // No other machine may take it and has room.
};

// Whether it stays for as long as it is what it is.
bool IsForGood(DrainHold hold);

class Draining {
 public:
  // A look at each task, if there is any budget.  What is passed must outlive
  // this.  REQUIRES: the state's peers are in sync.
  Draining(const ClusterState& state, const ConstraintSet& constraints);

  // Those on the machine that were not told to leave yet, in the order in which
  // they are to go: the most urgent first, then those that ask for most.
  std::vector<const Task*> TasksToMove(const Machine& machine) const;

  // Why a task may not be told to move, wherever that would be to.
  std::optional<DrainHold> HoldOf(const Task& task);
  // For people; `hold` is why it stays.
  std::string HoldText(const Task& task, DrainHold hold);

  // The lower the better; nothing: not there.
  using Rank = std::optional<std::pair<Cost, Cost>>;
  // The machine of the least rank that may take the task, null where none may.
  // A look at each machine.
  const Machine* FindTarget(const Task& task,
                            absl::FunctionRef<Rank(const Machine&)> rank) const;
  // It was told to move: budgets count it as gone.  REQUIRES: HoldOf()
  // says nothing.
  void NoteMove(const Task& task);
  // The same for one that would be: its place on the target counts as taken.
  void NoteMoveToCome(const Task& task, MachineId target);

 private:
  // The budget that lets no more go; its index.
  std::optional<size_t> ExhaustedBudget(const Task& task);
  Resources RoomOn(const Machine& machine) const;
  // Whether somebody more urgent waits who might take the room.
  bool IsWanted(const ClassKey& key, const Machine& machine) const;
  // Whether those that would come there get in its way.
  bool IsBarred(const ClassKey& key, const Machine& target) const;

  // Somebody would be told to go there.
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

// What becomes of the tasks on a machine, as things are: for people.
struct DrainReport {
  int64_t leaving = 0;  // Told to leave, and still there.
  int64_t movable = 0;  // A round may tell them to move, if the machine drains.
  struct Held {
    DrainHold hold = DrainHold::kNoMachine;
    std::string text = {};
    std::vector<const Task*> tasks = {};
  };
  std::vector<Held> held;  // Those of whom most are first.
};
DrainReport ReportDrain(const Machine& machine, const ClusterState& state,
                        const ConstraintSet& constraints);

}  // namespace sluice

#endif  // SLUICE_CORE_DRAINING_H_
