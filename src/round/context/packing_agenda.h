// What the packings of a round are about, in order:
//
// First come the tasks that displace nobody, if there are any, without running
// tasks.  In a large cluster, a part of the machines is next, for moves alone
// (round/packing/packing_part.h).  Then all waiting tasks are packed, together
// with running ones, and once more if gangs were started since.  All is packed
// again if the result cannot be carried out: with fewer or no moves of tasks
// with budgets if moves and stops together exceeded one; without moves if there
// were more than a round may make; and without gangs that take more than that.
//
// Threads: values.

#ifndef SLUICE_ROUND_CONTEXT_PACKING_AGENDA_H_
#define SLUICE_ROUND_CONTEXT_PACKING_AGENDA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "round/context/known_plan.h"
#include "round/together/disruptions.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"

namespace sluice {

// The class that takes part in a round with a single task, or the gang that
// takes part alone.
struct PackingTurn {
  bool is_any = false;  // True if there are such classes or gangs.
  // Whose turn it is, if any.
  std::optional<ClassKey> key;
  std::optional<JobId> gang;
  uint64_t cycle = 0;   // How often each has had its turn.
  bool is_last = true;  // Of its cycle.
};

class PackingAgenda {
 public:
  // Set once it is chosen.
  std::optional<PackingTurn> turn;
  // The result of the packings before the next one, which that one may undo,
  // and what was nominated before the round and gave way to tasks that displace
  // nobody.
  KnownPlan known;

  bool MustPack() const {
    return must_go_on_ || (has_new_gangs_ && packings_ < kPackingsMax);
  }
  // Call it when the next packing begins.
  void Begin() {
    ++packings_;
    has_new_gangs_ = false;
    must_go_on_ = false;
  }
  // True if this packing is about the tasks that displace nobody.  If so,
  // another one follows.
  bool IsForMeek(bool are_any) {
    if (std::exchange(had_meek_, true) || !are_any) return false;
    must_go_on_ = true;
    return true;
  }
  // True if this packing is about moves in a part of the machines.  If so,
  // another one follows.
  bool IsForPart(bool are_parts) {
    if (std::exchange(had_part_, true) || !are_parts) return false;
    must_go_on_ = true;
    return true;
  }
  // True if another one follows, as far as that is known.
  bool must_go_on() const { return must_go_on_; }
  BudgetedMoves budgeted_moves() const { return budgeted_moves_; }

  void NoteNewGangs() { has_new_gangs_ = true; }
  // Moves and stops together exceeded a budget.
  void NoteExceeded() {
    if (budgeted_moves_ == BudgetedMoves::kNone) return;
    budgeted_moves_ = budgeted_moves_ == BudgetedMoves::kAll
                          ? BudgetedMoves::kAsAllowed
                          : BudgetedMoves::kNone;
    must_go_on_ = true;
  }
  // The gang takes more moves than a round may make: the others are packed
  // without it.
  void NoteTooManyMoves(JobId gang) {
    if (without_.size() < kWithoutMax && without_.insert(gang).second) {
      must_go_on_ = true;
    }
  }
  const std::set<JobId>& without() const { return without_; }
  // A packing planned more moves than a round may make: tasks that wait for
  // those may stop others instead.
  void NoteMovesExceeded() {
    if (!std::exchange(is_without_moves_, true)) must_go_on_ = true;
  }
  // True if the next packings move nothing.
  bool is_without_moves() const { return is_without_moves_; }

 private:
  static constexpr int kPackingsMax = 2;  // For gangs.
  static constexpr size_t kWithoutMax = 4;

  int packings_ = 0;
  bool has_new_gangs_ = true;  // Since the newest packing.
  bool had_meek_ = false;
  bool had_part_ = false;
  bool is_without_moves_ = false;
  bool must_go_on_ = false;
  BudgetedMoves budgeted_moves_ = BudgetedMoves::kAll;
  std::set<JobId> without_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_PACKING_AGENDA_H_
