// Rules between tasks, in the terms of a packing problem: which classes share
// no machine, how many of them a domain takes, and where the tasks that stay
// keep a class away.
//
// Anti-affinity is heeded if its term tells each machine from all others, if it
// selects no waiting task, or if all that it selects have it themselves: then a
// domain takes one of them.  Running tasks that may leave count there like
// waiting ones, but like staying ones for a class with affinity.  A spread
// constraint is heeded if, of the tasks to be placed, all that it counts have
// the same rules, or it counts none.  Running tasks that may leave count for
// it, too, in a domain that does not hold too many already.  Affinity is heeded
// if a class has one term, the term tells each machine from all others, and the
// classes that it selects have no affinity, or a heeded one.  A circle of such
// terms is not heeded.  A class with other required terms, or whose tasks
// others must follow or count, stays out of packings, except for one task of
// one class at a time, or one gang; but not out of a preempting packing if its
// followers wait and are less urgent.  A bound ignores such terms: they only
// forbid placements.  Preferences keep no class out; tasks are arranged by them
// later (round/search/arrangement.h).
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_PACKING_PEERS_H_
#define SLUICE_ROUND_PACKING_PACKING_PEERS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "constraints/constraint_set.h"
#include "packing/packing_problem.h"
#include "round/context/placements.h"
#include "round/context/work_budget.h"
#include "round/packing/capped_classes.h"
#include "round/together/lone_newcomer.h"
#include "state/cluster_state.h"

namespace sluice {

class PackingPeers {
 public:
  struct Scope {
    bool heeds_terms = true;     // If false, only classes without them are.
    bool is_preempting = false;  // What displaces nobody stays, as its company.
    // If set, of the waiting classes only this gang's terms are heeded.
    std::optional<JobId> gang = {};
    WorkBudget* budget = nullptr;  // Null: its work counts for no step.
  };
  // Learns the rules between the tasks that wait or have these placements.
  // What is passed must outlive this and not change meanwhile.  REQUIRES: the
  // state's peers are in sync.
  PackingPeers(const ClusterState& state, const ConstraintSet& constraints,
               std::span<const Placement> placements, const Scope& scope);

  // True if a packing heeds the rules between the class and others.
  bool IsHeeded(const ClassKey& key);
  // True if running tasks that keep it out of wide domains are heeded, too.
  bool HeedsWhatRuns(const ClassKey& key);
  // Waiting tasks are company for nobody.  Call it before Relate().
  void LeaveOutWaitingCompany() { leaves_out_waiting_company_ = true; }
  // True if no required rule keeps the class, or others because of it, away.
  bool IsFree(const ClassKey& key) const;

  // True if the term tells each usable machine from all others.
  bool IsOfOneMachine(const CountedTerm& term);
  // The selectors of what a heeded class counts together with its own tasks, in
  // domains of several machines.
  std::vector<uint32_t> CountedFor(const ClassKey& key);

  // Lets a task of the class take part although its terms are not heeded: where
  // it may go as things are, or without the tasks that may be stopped for it.
  // The tasks it needs must stay.  If the class's own terms are heeded, those
  // of the tasks that it counts with its own no longer are.  `key` must outlive
  // this.  Call it at most once, and before what follows.
  void TakeOneOf(const ClassKey& key);
  bool IsTakenAlone(const ClassKey& key) const {
    return lone_.has_value() && lone_->key() == key;
  }
  const LoneNewcomer* lone() const { return lone_ ? &*lone_ : nullptr; }
  // Opens the machine to it, if it is kept away from there, but would not be
  // without these tasks that leave or may leave.  Returns those that must
  // leave, as FindInTheWay() does.
  std::vector<const Task*> OpenToLone(const Machine& machine,
                                      std::span<const Task* const> leavers,
                                      const GangVictims& gangs);
  // A task of the class is to leave the machine.  `key` must outlive this.
  void NoteFreed(const ClassKey& key, MachineId machine);
  // True if a running task keeps one of the classes away from its machine (also
  // by a host port), or is its company, by terms that tell each machine from
  // all others; or keeps one from its domain by a term that is counted there.
  bool Concerns(const ClassKey& running);
  // True if a heeded spread selects it.
  bool IsCounted(const ClassKey& running) const;
  // Notes that the task may leave its machine, or does: it no longer stays for
  // these terms.  Tasks that keep the same classes from the same domain get
  // turns, counted from 1.  They must be of different classes: each is kept
  // apart by itself.  Returns the turn, or 0 if the task keeps none out.
  size_t NoteLeaving(const Task& running);
  // States which of the classes share no machine, which stand only beside
  // others, and how many of them a domain takes.  Finds where the tasks that
  // stay keep them away or are company for them.
  void Relate(std::span<const ClassKey> keys, PackingProblem* problem);
  // The same for running tasks that may be stopped, the problem's classes from
  // `keys.size()` on: who shares no machine with them or needs their company.
  // `in_the_way`: indices of those that must leave where the lone task goes.
  // REQUIRES: Relate() was called for the others.
  void RelateRunning(std::span<const ClassKey> keys,
                     std::span<const ClassKey> running,
                     std::span<const size_t> in_the_way,
                     PackingProblem* problem);
  // The same for what keeps classes from domains; `class_of` a running task.
  void CapRunning(
      absl::FunctionRef<std::optional<size_t>(MachineId, TaskId)> class_of,
      PackingProblem* problem);
  // Classes that the staying tasks keep away, or are company for; ascending.
  std::span<const size_t> KeptAwayFrom(MachineId machine) const;
  std::span<const size_t> AccompaniedOn(MachineId machine) const;
  // The caps that tasks on the machine count for, ascending.
  std::vector<size_t> CapsOn(MachineId machine) const;
  // True if a rule was left out because there was too much to look at.
  bool is_exhausted() const { return is_exhausted_; }
  bool TellsMachinesApart() const {  // By what stays on them.
    return !kept_away_.empty() || !accompanied_.empty();
  }

 private:
  struct Urgency {  // Of tasks with the same rules that wait or were placed.
    uint32_t highest = 0;
    uint32_t lowest = std::numeric_limits<uint32_t>::max();
    bool is_any_placed = false;
  };

  // Of classes that nothing about peers tells apart.
  using Kind = std::pair<const PlacementRules*, const SelectorSet*>;

  void FindInPlay(std::span<const Placement> placements);
  // True if it selects exactly the tasks that have it.
  bool IsMutual(const CountedTerm& term);
  // Shared: all tasks that the spread counts have the class's rules.  Fixed: no
  // task in play counts, so the spread alone decides where the class may go.
  bool IsSharedSpread(const ClassKey& key, size_t index);
  bool IsFixedSpread(const ClassKey& key, size_t index);
  void HeedSpreads(const ClassKey& key, size_t task_class);
  // True if its only term demands a selected task on the same machine.
  bool NeedsCompany(const ClassKey& key);
  bool AreTermsHeeded(const ClassKey& key);
  // True if no domain exceeds what the required spreads of the class allow.
  bool DoSpreadsHold(const ClassKey& key) const;
  // The class follows or counts what the selector selects, and is not heeded.
  // Returns whether that is news.
  bool NoteFollowed(uint32_t selector, const ClassKey& by);
  // True if nobody must follow or count its tasks in a way that is not heeded;
  // in a preempting packing, less urgent waiting tasks may.
  bool IsOnItsOwn(const ClassKey& key) const;
  // Terms by which a running task of the class keeps classes from wide domains.
  std::vector<const CountedTerm*> WideTermsOf(const ClassKey& running) const;
  bool IsKnownMutual(const CountedTerm* term) const;
  // The highest priority it keeps away, of tasks that wait or were placed.
  uint32_t HighestKeptBy(const CountedTerm* term);
  // Finds the terms of the task that takes part alone, or of the gang.
  void FindTermsOfLone(const ClassKey& key);
  void FindTermsOfGang();
  bool IsOfLone(const CountedTerm* term) const;
  bool KeepApart(const ClassKey& a, const ClassKey& b);  // On one machine.
  // True if `a` needs a task like `b` on its machine.
  bool NeedsBeside(const ClassKey& a, const ClassKey& b);
  void FollowCompany();  // Where those who need company stay, so does it.
  // The term's classes, and machines where such tasks stay.
  void AddCompany(size_t task_class, const CountedTerm& term,
                  const std::vector<size_t>& meant, PackingProblem* problem);
  // From where any stay; also from those that may leave if it `waits_for_none`.
  void KeepAway(size_t task_class, const Topology& topology, const Tally& tally,
                bool waits_for_none);
  // Of the task that is taken alone, or of the gang.
  void NoteOfLone(const ClassKey& key, size_t task_class);
  // Keeps the class away from where the task that is taken alone may not go.
  void RelateAlone(size_t task_class);
  void AddCapped(const CountedTerm& term, std::optional<size_t> spread,
                 size_t task_class);
  void AddCaps(std::span<const ClassKey> keys, PackingProblem* problem);
  void AddSpread(CappedClasses* capped, PackingProblem* problem);
  // Counts running tasks for the caps of the spreads that select them.
  void CountInSpreads(const ClassKey& running, size_t task_class,
                      PackingProblem* problem);

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const std::optional<JobId> gang_;  // It and the placements are in play.
  std::optional<LoneNewcomer> lone_;
  // Its terms, or the gang's, about domains of several machines, without those
  // of which a domain takes one anyway.  Own terms, and terms that select it.
  std::vector<const CountedTerm*> terms_of_lone_;
  std::vector<const CountedTerm*> terms_about_lone_;
  // Tasks that these keep away or that leave; the others by machine.
  std::vector<const Task*> leavers_for_lone_;
  absl::flat_hash_map<MachineId, std::vector<const Task*>> leavers_on_;
  // Its class, or those of the gang with these terms.
  absl::flat_hash_map<const CountedTerm*, std::vector<size_t>> classes_of_lone_;
  uint32_t priority_of_lone_ = 0;
  // One for each pair of rules and selectors.
  std::vector<const ClassKey*> in_play_;
  // The rules of the tasks that listen on host ports.
  absl::flat_hash_set<const PlacementRules*> with_ports_;
  absl::flat_hash_map<Kind, bool> is_heeded_;
  absl::flat_hash_map<const CountedTerm*, bool> is_mutual_;
  absl::flat_hash_map<const CountedTerm*, bool> is_company_;
  absl::flat_hash_map<Kind, bool> concerns_;
  // By rules and the constraint's index there.
  absl::flat_hash_map<std::pair<const PlacementRules*, size_t>, bool>
      is_shared_;
  int64_t cap_rows_left_;
  Allowance work_;       // Terms beyond it are not heeded.
  Allowance lone_work_;  // Once exceeded, a lone newcomer gets fewer machines.
  bool is_exhausted_ = false;
  const bool heeds_terms_;
  const bool is_preempting_;
  bool leaves_out_waiting_company_ = false;
  absl::flat_hash_map<const Topology*, bool> is_of_one_machine_;
  absl::flat_hash_set<uint32_t> required_;  // Selectors of required terms.
  // The highest priority of classes with unheeded ones.
  absl::flat_hash_map<uint32_t, uint32_t> followed_;
  absl::flat_hash_set<uint32_t> spread_;            // Of heeded spreads.
  absl::flat_hash_map<const Tally*, Tally> freed_;  // To leave.
  // The same of running tasks that may leave, for terms about domains.
  absl::flat_hash_map<const Tally*, Tally> leaving_;
  std::vector<DomainKeeper> keepers_;
  // Their caps, by term and domain.
  std::map<std::pair<const CountedTerm*, DomainIndex>, std::vector<size_t>>
      caps_beside_;
  absl::flat_hash_map<const PlacementRules*, Urgency> urgency_of_;
  absl::flat_hash_map<const CountedTerm*, uint32_t> highest_kept_;
  absl::flat_hash_map<std::pair<const CountedTerm*, DomainIndex>, size_t>
      turns_;  // The latest ones given.
  std::vector<std::pair<const ClassKey*, MachineId>> freed_tasks_;
  absl::flat_hash_map<MachineId, std::vector<size_t>> kept_away_;
  absl::flat_hash_map<MachineId, std::vector<size_t>> accompanied_;
  std::vector<CappedClasses> capped_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_PACKING_PEERS_H_
