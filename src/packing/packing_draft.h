// A packing under construction: what is placed where, and how many wait.
//
// Threads: values.

#ifndef SLUICE_PACKING_PACKING_DRAFT_H_
#define SLUICE_PACKING_PACKING_DRAFT_H_

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "packing/packing_problem.h"
#include "packing/packing_rest.h"
#include "packing/seating.h"

namespace sluice {

class PackingDraft {
 public:
  // Nothing of `rest` is placed yet.  `problem` must outlive this, and so must
  // `seating`, which decides who gets the places; null if there are no gangs.
  PackingDraft(const PackingProblem& problem, PackingRest rest,
               Seating* seating = nullptr);
  // A draft of the same problem, with nothing of `rest` placed yet.
  PackingDraft MakeEmpty(PackingRest rest) const {
    return {*problem_, std::move(rest), seating_};
  }

  // Puts the tasks on `pattern.machines` machines of its group, as far as there
  // are machines and tasks.  Returns whether any was put.  REQUIRES: they fit
  // together.
  bool Put(const Pattern& pattern);
  // Removes tasks that exceed the caps as they are now, and what is left of
  // gangs that cannot be made whole.  Then places waiting tasks beside what is
  // there already, the most urgent first, where they cost least.
  void FillUp();
  // Moves tasks one by one to cheaper places beside what is there, until no
  // move gains or the limit is reached.  Returns how many patterns it looked
  // at.
  int64_t MoveUp();
  // Removes one machine of the pattern with all it holds, and adds it to
  // `rest`.  PutBack() undoes that.  REQUIRES: it has a machine.
  void TakeOut(size_t pattern, PackingRest* rest);
  void PutBack(size_t pattern);
  // Adds the solution of the rest that was taken out and of all that waited.
  // Patterns may get other indices.
  void PutIn(const PackingDraft& made);

  // Includes empty machines once it has been filled up.
  const std::vector<Pattern>& patterns() const { return patterns_; }
  const PackingRest& rest() const { return rest_; }
  // Tasks not allowed by caps that have not risen far enough count as waiting.
  PackingCost Cost() const;
  // REQUIRES: there is a seating.
  bool HasStarted(size_t gang) const {
    return seating_->HasStarted(gang, rest_.tasks);
  }
  int64_t placed_cost() const { return placed_cost_; }
  // The work of filling up since the last call, in patterns looked at, plus the
  // work of the seating for all drafts that share it.
  int64_t TakeWork() {
    return std::exchange(work_, 0) +
           (seating_ == nullptr ? 0 : seating_->TakeWork());
  }

  int64_t CostOn(size_t group, size_t task_class) const {
    return problem_->costs[problem_->groups[group].kind][task_class];
  }
  // The charge for the last task of the class on each machine of the pattern.
  // REQUIRES: there is one.
  int64_t CostOfLast(size_t pattern, size_t task_class) const {
    return CostOfLast(patterns_[pattern], task_class);
  }
  int64_t CostOfLast(const Pattern& pattern, size_t task_class) const {
    return CostOfMore(pattern, task_class, -1) * -1;
  }

 private:
  // Caps and by how many tasks each is exceeded.
  std::vector<std::pair<size_t, int64_t>> FindExcess() const;
  void DropExcess();
  // How many tasks that do not run already count for the cap.
  int64_t CountNew(size_t cap) const;
  // The classes that count for the cap, the least urgent first; by descending
  // index if none of them runs.
  std::vector<size_t> DropOrder(size_t cap) const;
  // Removes `count` tasks that count for the cap, if there are as many, and
  // those left without company.  Running tasks stay if `keeps_running`.
  void Drop(size_t cap, int64_t count, bool keeps_running = false);
  // The same for these classes, ascending.  Returns how many are left to
  // remove.
  int64_t DropUnder(size_t cap, const std::vector<size_t>& classes,
                    int64_t count);
  // Removes the tasks of the pattern that lack company.
  void DropLone(size_t pattern);
  // Takes `each` from each machine of the pattern.
  void TakeAway(size_t pattern, size_t task_class, int64_t each);
  // Makes gangs that have some places whole if there is room, and removes what
  // must not stay.
  void Settle();
  // Removes what caps do not allow, and places that nobody takes.
  void DropUnsettled();
  bool DropEmpty();
  // Removes up to `count` tasks of the class where they cost the most.  Returns
  // how many.
  int64_t DropOf(size_t task_class, int64_t count, std::vector<int64_t>* caps);
  // Places enough tasks for the minimum of the gang, given by its rank, if
  // there is room.  Returns whether it starts.
  bool StartGang(size_t gang, std::vector<int64_t>* caps);
  // Places as many of a class with tasks of gangs as have room and are useful
  // there, of this level or of more urgent ones.
  void FillWithGangs(size_t task_class, size_t level, int64_t count,
                     std::set<size_t>* failed, std::vector<int64_t>* caps);
  // What the caps allow now, without what needs a rise.
  std::vector<int64_t> CapsNow() const;
  // Places waiting tasks where the caps allow, and subtracts them from `caps`.
  void FillWithin(std::vector<int64_t> caps);
  void FillInOrder(std::vector<int64_t>* caps);
  // The same, repeated as long as that lets caps rise.
  void FillUpSteadily();
  // How many of the class, at most, must be placed to meet budgets of the
  // level.
  int64_t BeyondBudgets(size_t task_class, size_t level) const;
  void FillClass(size_t task_class, int64_t count, std::vector<int64_t>* caps);
  int64_t FillOne(size_t pattern, size_t task_class, int64_t each_max,
                  int64_t count_max, std::vector<int64_t>* caps);
  // How many of the class may move from one group to the other.
  int64_t RoomToMove(size_t task_class, size_t from, size_t to) const;
  // A pattern like that one with `machines` of its machines.
  size_t Split(size_t pattern, int64_t machines);
  bool MoveUpClass(size_t task_class, std::vector<size_t> holders,
                   int64_t* moves_left);
  int64_t CostOfPattern(const Pattern& pattern) const;
  // The charge for `count` more of the class, or fewer, on each machine.
  int64_t CostOfMore(const Pattern& pattern, size_t task_class,
                     int64_t count) const;
  // AlikeMore(): how many more of the class cost the same as the next one on
  // each machine of the pattern.  AlikeThere(): how many of those there cost
  // the same as the last one.
  int64_t AlikeMore(size_t pattern, size_t task_class) const;
  int64_t AlikeThere(size_t pattern, size_t task_class) const;

  const PackingProblem* problem_;
  Seating* seating_;
  PackingRest rest_;
  std::vector<Pattern> patterns_;
  int64_t placed_cost_ = 0;
  int64_t work_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_PACKING_DRAFT_H_
