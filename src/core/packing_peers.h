// What tasks say about other tasks, as a packing problem can say it: which
// classes share no machine, how many of them a domain takes, and where those
// that stay keep a class away.
//
// Anti-affinity is heeded where a term tells each machine from all others,
// means nobody who waits, or where all whom it means have it themselves: then a
// domain takes one of them.  What runs and may leave counts there as what waits
// does; but as one that stays for a class with affinity.  A spread constraint
// is heeded where all whom it counts have the same rules, or there are none, of
// those that are to be placed.  What runs and may leave counts for it, too, in
// a domain that does not hold too many already.  Affinity is heeded where a
// class has one term, the term tells each machine from all others, and the
// classes that it means have no affinity, or one that is heeded.  A circle of
// such terms is not.  A class with other required terms, or with tasks that
// others must follow or count, stays out of packings, but for one task of one
// class at a time, or one gang; and where a packing may stop what runs, unless
// its followers wait and are less urgent.  A bound leaves such terms out: they
// only forbid placements.  Wishes keep no class out; tasks are arranged by them
// later (core/arrangement.h).
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_PACKING_PEERS_H_
#define SLUICE_CORE_PACKING_PEERS_H_

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
#include "core/capped_classes.h"
#include "core/lone_newcomer.h"
#include "core/placements.h"
#include "packing/packing_problem.h"
#include "state/cluster_state.h"

namespace sluice {

class PackingPeers {
 public:
  struct Scope {
    bool heeds_terms = true;     // Else only of classes that have but wishes.
    bool is_preempting = false;  // What displaces nobody stays, as its company.
    // Its terms alone are heeded then, of those that wait.
    std::optional<JobId> gang = {};
  };
  // Learns what the tasks that wait, or have these placements, say about each
  // other.  What is passed must outlive this, and must not change meanwhile.
  // REQUIRES: the state's peers are in sync.
  PackingPeers(const ClusterState& state, const ConstraintSet& constraints,
               std::span<const Placement> placements, const Scope& scope);

  // Whether a packing heeds what the class and others say about each other.
  bool IsHeeded(const ClassKey& key);
  // Whether what keeps it from wide domains is heeded of what runs, too.
  bool HeedsWhatRuns(const ClassKey& key);
  // Who waits is company for nobody.  Call it before Relate().
  void LeaveOutWaitingCompany() { leaves_out_waiting_company_ = true; }
  // Whether nothing required keeps the class, or others because of it, away.
  bool IsFree(const ClassKey& key) const;

  // Whether the term tells each usable machine from all others.
  bool IsOfOneMachine(const CountedTerm& term);
  // Whom a heeded class counts with its own tasks over several machines.
  std::vector<uint32_t> CountedFor(const ClassKey& key);

  // Lets a task of the class take part though its terms are not heeded: where
  // it may go as things are, or without what may be stopped for it.  Those that
  // it needs must stay.  If its terms are heeded, those of the others are not
  // whom it counts with its own tasks.  `key` must outlive this.  Call it once
  // at most, and before the following.
  void TakeOneOf(const ClassKey& key);
  bool IsTakenAlone(const ClassKey& key) const {
    return lone_.has_value() && lone_->key() == key;
  }
  const LoneNewcomer* lone() const { return lone_ ? &*lone_ : nullptr; }
  // Opens the machine to it, if it is kept away from there, and would not be
  // without these that leave or may.  Returns who has to, as FindInTheWay().
  std::vector<const Task*> OpenToLone(const Machine& machine,
                                      std::span<const Task* const> leavers,
                                      const GangVictims& gangs);
  // A task of the class is to leave it.  `key` must outlive this.
  void NoteFreed(const ClassKey& key, MachineId machine);
  // Whether a task that runs keeps one of the classes away from its machine, by
  // a host port, too, or is company for it, by terms that tell each machine
  // from all others; or keeps them away from its domain by a term that is
  // counted there.
  bool Concerns(const ClassKey& running);
  // Whether a spread that is heeded means it.
  bool IsCounted(const ClassKey& running) const;
  // Such a task may leave its machine, or does: by these terms it does not
  // stay.  Of several that keep the same classes from the same domain each has
  // a turn of its own, from 1 on.  They must be of different classes: each is
  // kept apart by itself.  0: of none.
  size_t NoteLeaving(const Task& running);
  // Says which of the classes share no machine, which stand only beside others,
  // and how many of them a domain takes, and finds where those that stay keep
  // them away or company.
  void Relate(std::span<const ClassKey> keys, PackingProblem* problem);
  // The same for what runs and may be stopped, which are the problem's classes
  // from `keys.size()` on: who shares no machine with them, and whose company
  // they are.  `in_the_way`: those that must be gone where the task that is
  // taken alone goes, by index.  REQUIRES: Relate() has related the others.
  void RelateRunning(std::span<const ClassKey> keys,
                     std::span<const ClassKey> running,
                     std::span<const size_t> in_the_way,
                     PackingProblem* problem);
  // The same for what keeps classes from domains.  `class_of` a running task.
  void CapRunning(
      absl::FunctionRef<std::optional<size_t>(MachineId, TaskId)> class_of,
      PackingProblem* problem);
  // Classes that those that stay keep away, or are company for; ascending.
  std::span<const size_t> KeptAwayFrom(MachineId machine) const;
  std::span<const size_t> AccompaniedOn(MachineId machine) const;
  // The caps that tasks on the machine count for, ascending.
  std::vector<size_t> CapsOn(MachineId machine) const;
  // Whether a rule was left out because there was too much to look at.
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

  void FindInPlay(std::span<const Placement> placements);
  // Whether all whom it means have it, and the other way round.
  bool IsMutual(const CountedTerm& term);
  // Whether all whom the spread counts have the class's rules; or nobody in
  // play counts, so that it says where the class may go.
  bool IsSharedSpread(const ClassKey& key, size_t index);
  bool IsFixedSpread(const ClassKey& key, size_t index);
  void HeedSpreads(const ClassKey& key, size_t task_class);
  // Whether it stands only beside whom its one term means, by machine.
  bool NeedsCompany(const ClassKey& key);
  bool AreTermsHeeded(const ClassKey& key);
  // Whether no domain holds more than the required spreads of the class let.
  bool DoSpreadsHold(const ClassKey& key) const;
  // The class follows or counts whom the selector means, and is not heeded.
  // Returns whether that is news.
  bool NoteFollowed(uint32_t selector, const ClassKey& by);
  // Whether nobody must follow or count its tasks in a way that is not heeded,
  // but, where it is preempting, who waits and is less urgent.
  bool IsOnItsOwn(const ClassKey& key) const;
  // The terms by which a running task of the class keeps classes out of domains
  // of several machines.
  std::vector<const CountedTerm*> WideTermsOf(const ClassKey& running) const;
  bool IsKnownMutual(const CountedTerm* term) const;
  // The most urgent that it keeps away, of those that wait or were placed.
  uint32_t HighestKeptBy(const CountedTerm* term);
  // Of a task that takes part alone, or of a gang.
  void FindTermsOfLone(const ClassKey& key);
  void FindTermsOfGang();
  bool IsOfLone(const CountedTerm* term) const;
  bool KeepApart(const ClassKey& a, const ClassKey& b);  // On one machine.
  // Whether `a` needs what `b` is on its machine.
  bool NeedsBeside(const ClassKey& a, const ClassKey& b);
  void FollowCompany();  // Where those who need company stay, so does it.
  // The term's classes, and machines where such tasks stay.
  void AddCompany(size_t task_class, const CountedTerm& term,
                  const std::vector<size_t>& meant, PackingProblem* problem);
  // From where any stay; also those that may leave, if it `waits_for_none`.
  void KeepAway(size_t task_class, const Topology& topology, const Tally& tally,
                bool waits_for_none);
  // Of the task that is taken alone, or of the gang.
  void NoteOfLone(const ClassKey& key, size_t task_class);
  // From where the task that is taken alone may not go.
  void RelateAlone(size_t task_class);
  void AddCapped(const CountedTerm& term, std::optional<size_t> spread,
                 size_t task_class);
  void AddCaps(std::span<const ClassKey> keys, PackingProblem* problem);
  void AddSpread(CappedClasses* capped, PackingProblem* problem);
  // What runs counts for the caps of the spreads that mean it.
  void CountInSpreads(const ClassKey& running, size_t task_class,
                      PackingProblem* problem);

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const std::optional<JobId> gang_;  // It, and what is placed, is in play.
  std::optional<LoneNewcomer> lone_;
  // Of it, or of the gang: terms about domains of several machines, without
  // those of which a domain takes one anyway.  Its own, and those that mean it.
  std::vector<const CountedTerm*> terms_of_lone_;
  std::vector<const CountedTerm*> terms_about_lone_;
  // Whom these keep away, and who leaves; by machine the others.
  std::vector<const Task*> leavers_for_lone_;
  absl::flat_hash_map<MachineId, std::vector<const Task*>> leavers_on_;
  // Its class, or those of the gang with these terms.
  absl::flat_hash_map<const CountedTerm*, std::vector<size_t>> classes_of_lone_;
  uint32_t priority_of_lone_ = 0;
  // One for each pair of rules and selectors.
  std::vector<const ClassKey*> in_play_;
  // The rules of those that listen on ports of their hosts.
  absl::flat_hash_set<const PlacementRules*> with_ports_;
  absl::flat_hash_map<std::pair<const PlacementRules*, const SelectorSet*>,
                      bool>
      is_heeded_;
  absl::flat_hash_map<const CountedTerm*, bool> is_mutual_;
  absl::flat_hash_map<const CountedTerm*, bool> is_company_;
  absl::flat_hash_map<std::pair<const PlacementRules*, const SelectorSet*>,
                      bool>
      concerns_;
  // By rules and the constraint's index there.
  absl::flat_hash_map<std::pair<const PlacementRules*, size_t>, bool>
      is_shared_;
  int64_t cap_rows_left_;
  int64_t looks_left_;
  int64_t lone_looks_left_;  // Without these it gets fewer machines.
  bool is_exhausted_ = false;
  const bool heeds_terms_;
  const bool is_preempting_;
  bool leaves_out_waiting_company_ = false;
  absl::flat_hash_map<const Topology*, bool> is_of_one_machine_;
  // Selectors of terms that are required, and the highest priority of who has
  // those that are not heeded.
  absl::flat_hash_set<uint32_t> required_;
  absl::flat_hash_map<uint32_t, uint32_t> followed_;
  absl::flat_hash_set<uint32_t> spread_;  // Of spreads that are heeded.
  absl::flat_hash_map<const Tally*, Tally> freed_;  // Of who is to leave.
  // The same of what runs and may leave, of terms about domains.
  absl::flat_hash_map<const Tally*, Tally> leaving_;
  std::vector<DomainKeeper> keepers_;
  // Their caps, by term and domain.
  std::map<std::pair<const CountedTerm*, DomainIndex>, std::vector<size_t>>
      caps_beside_;
  absl::flat_hash_map<const PlacementRules*, Urgency> urgency_of_;
  absl::flat_hash_map<const CountedTerm*, uint32_t> highest_kept_;
  absl::flat_hash_map<std::pair<const CountedTerm*, DomainIndex>, size_t>
      turns_;  // The last that were given.
  std::vector<std::pair<const ClassKey*, MachineId>> freed_tasks_;
  absl::flat_hash_map<MachineId, std::vector<size_t>> kept_away_;
  absl::flat_hash_map<MachineId, std::vector<size_t>> accompanied_;
  std::vector<CappedClasses> capped_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_PACKING_PEERS_H_
