// A packing as it is being made: what stands where, and how many wait.
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
  // Nothing is placed yet of `rest`.  `problem` must outlive this, and so must
  // `seating`, who gets the places: none where there are no gangs.
  PackingDraft(const PackingProblem& problem, PackingRest rest,
               Seating* seating = nullptr);
  // Of the same problem, with nothing placed yet of `rest`.
  PackingDraft MakeEmpty(PackingRest rest) const {
    return {*problem_, std::move(rest), seating_};
  }

  // Puts the tasks on so many machines of a group, as far as there are
  // machines and tasks.  Returns whether any was put anywhere.
  // REQUIRES: they fit together.
  bool Put(const Pattern& pattern);
  // Takes out what caps do not let in that have not risen far enough, and what
  // is left of gangs that cannot be made whole, and puts what waits then beside
  // what stands already, the most urgent first, where it costs the least.
  void FillUp();
  // Moves tasks one by one to where they cost less, beside what stands there,
  // until none could or there were too many.  Returns how many patterns it
  // looked at.
  int64_t MoveUp();
  // Takes one machine of the pattern out, as if nothing stood there, and adds
  // it to `rest`.  PutBack() undoes that.  REQUIRES: it has a machine.
  void TakeOut(size_t pattern, PackingRest* rest);
  void PutBack(size_t pattern);
  // Puts in what was made of the rest that was taken out and of all that
  // waited.  Patterns may get other indices.
  void PutIn(const PackingDraft& made);

  // Also those of machines on which nothing stands, once it has been filled up.
  const std::vector<Pattern>& patterns() const { return patterns_; }
  const PackingRest& rest() const { return rest_; }
  // As if what caps do not let in that have not risen far enough waited.
  PackingCost Cost() const;
  // REQUIRES: there is a seating.
  bool HasStarted(size_t gang) const {
    return seating_->HasStarted(gang, rest_.tasks);
  }
  int64_t placed_cost() const { return placed_cost_; }
  // What filling up took since the last call, in patterns looked at, with the
  // work of the seating for all drafts that share it.
  int64_t TakeWork() {
    return std::exchange(looks_, 0) +
           (seating_ == nullptr ? 0 : seating_->TakeWork());
  }

  int64_t CostOn(size_t group, size_t task_class) const {
    return problem_->costs[problem_->groups[group].kind][task_class];
  }
  // What the last task of the class on each machine of the pattern is charged.
  // REQUIRES: there is one.
  int64_t CostOfLast(size_t pattern, size_t task_class) const {
    return CostOfLast(patterns_[pattern], task_class);
  }
  int64_t CostOfLast(const Pattern& pattern, size_t task_class) const {
    return CostOfMore(pattern, task_class, -1) * -1;
  }

 private:
  // Caps and how many more stand under them than they let in.
  std::vector<std::pair<size_t, int64_t>> FindExcess() const;
  void DropExcess();
  // How many tasks count for the cap that do not run already.
  int64_t CountNew(size_t cap) const;
  // The classes that count for the cap, those first that are the least urgent;
  // or, where none of them runs, the last.
  std::vector<size_t> DropOrder(size_t cap) const;
  // Takes so many tasks out that count for the cap, if there are as many, and
  // those that have no company then.  What runs stays, if so wanted.
  void Drop(size_t cap, int64_t count, bool keeps_running = false);
  // The same of these classes, ascending.  Returns how many are left to take.
  int64_t DropUnder(size_t cap, const std::vector<size_t>& classes,
                    int64_t count);
  // Takes out those of the pattern that have no company.
  void DropLone(size_t pattern);
  // From each machine of the pattern.
  void TakeAway(size_t pattern, size_t task_class, int64_t each);
  // Makes gangs whole for which there are some places, where there is room, and
  // takes out what is not to stay.
  void Settle();
  // Takes out what caps do not let in, and places that nobody takes.
  void DropUnsettled();
  bool DropEmpty();
  // Takes so many tasks of the class out where they cost the most.  Returns how
  // many there were.
  int64_t DropOf(size_t task_class, int64_t count, std::vector<int64_t>* caps);
  // Puts as many more of the gang, by its rank, as must run where there is
  // room, if there is enough.  Returns whether it starts.
  bool StartGang(size_t gang, std::vector<int64_t>* caps);
  // As many of a class with tasks of gangs as have room and are of use there,
  // of this level or of more urgent ones.
  void FillWithGangs(size_t task_class, size_t level, int64_t count,
                     std::set<size_t>* failed, std::vector<int64_t>* caps);
  // What the caps let in, less what they could only once they have risen.
  std::vector<int64_t> CapsNow() const;
  // Puts what waits where the caps let it in, and takes it from them.
  void FillWithin(std::vector<int64_t> caps);
  void FillInOrder(std::vector<int64_t>* caps);
  // The same, and again as long as that lets caps rise.
  void FillUpSteadily();
  // How many of the class, at most, have to be placed for budgets of the level.
  int64_t BeyondBudgets(size_t task_class, size_t level) const;
  void FillClass(size_t task_class, int64_t count, std::vector<int64_t>* caps);
  int64_t FillOne(size_t pattern, size_t task_class, int64_t each_max,
                  int64_t count_max, std::vector<int64_t>* caps);
  // How many of the class may move from group to group.
  int64_t RoomToMove(size_t task_class, size_t from, size_t to) const;
  // A pattern like that one with so many of its machines.
  size_t Split(size_t pattern, int64_t machines);
  bool MoveUpClass(size_t task_class, std::vector<size_t> holders,
                   int64_t* moves_left);
  int64_t CostOfPattern(const Pattern& pattern) const;
  // What so many more of the class, or fewer, are charged on each machine.
  int64_t CostOfMore(const Pattern& pattern, size_t task_class,
                     int64_t count) const;
  // How many more of the class cost the same as the next one on each machine of
  // the pattern, and how many of those there cost the same as the last one.
  int64_t AlikeMore(size_t pattern, size_t task_class) const;
  int64_t AlikeThere(size_t pattern, size_t task_class) const;

  const PackingProblem* problem_;
  Seating* seating_;
  PackingRest rest_;
  std::vector<Pattern> patterns_;
  int64_t placed_cost_ = 0;
  int64_t looks_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_PACKING_DRAFT_H_
