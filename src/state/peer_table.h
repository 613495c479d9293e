// How running tasks relate to the terms that tasks state about each other
// (sluice/state/peer_terms.h).  For each term and domain, the table counts the
// tasks that the term means, and the tasks that have the term themselves.
//
// A term is split into a *selector*, which says which tasks, and a topology
// key, which says where.  Each is kept once, however many rules share it.  All
// counts are updated as tasks come and go and machines are described anew, so a
// verdict costs a few look-ups.
//
// A new selector means no task until Sync(), which compares all new ones with
// all tasks at once.  Terms and selectors that no rules have any more are kept
// until Collect(), so that a round may outlive the tasks it was about.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_STATE_PEER_TABLE_H_
#define SLUICE_STATE_PEER_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "sluice/base/ids.h"
#include "sluice/state/machine.h"
#include "sluice/state/policy_needs.h"
#include "sluice/state/task.h"
#include "state/task_selector.h"
#include "state/topology.h"

namespace sluice {

class ClusterState;

struct CountedTerm {
  uint32_t selector = 0;
  Topology* topology = nullptr;
  int64_t uses = 0;  // By rules.
  // Running tasks that the selector means, and those of them told to leave.
  Tally meant;
  Tally leaving;
  // Tasks with this term as required anti-affinity, running or expected.
  Tally keeping_away;
  // What running tasks with this term are worth to one that the selector means.
  Tally worth;
  // Tasks that the selector means and that do not run yet, but have room kept.
  Tally expected;
};

inline bool IsMeantBy(const CountedTerm& term, const ClassKey& key) {
  return std::ranges::binary_search(*key.meant_by, term.selector);
}

struct WeightedTerm {
  CountedTerm* term = nullptr;
  int64_t weight = 0;
};

// What rules say about peers, as counted terms.
struct PeerTerms {
  // A peer counts for required affinity if all terms mean it.
  std::vector<CountedTerm*> affinity;       // One selector, all topology keys.
  std::vector<CountedTerm*> anti_affinity;  // As in the rules, and so below.
  std::vector<WeightedTerm> preferred;
  std::vector<CountedTerm*> spread;
  std::vector<CountedTerm*> spread_by_machine;  // The same selectors.
  std::vector<CountedTerm*> minimums;
  // What a task with these rules is worth to those it means.
  std::vector<WeightedTerm> given;
};

class PeerTable {
 public:
  // `state` must outlive the table, which looks up tasks and machines there.
  explicit PeerTable(const ClusterState& state) : state_(state) {}
  PeerTable(const PeerTable&) = delete;
  PeerTable& operator=(const PeerTable&) = delete;

  // What policies need.  Call before any rules are learned.
  void SetNeeds(const PolicyNeeds& needs) { needs_ = needs; }
  const PolicyNeeds& needs() const { return needs_; }
  // Learns rules that a task has.  No-op if their id is known.
  void Learn(const PlacementRules& rules);
  // Empty for rules that say nothing about peers.  REQUIRES: learned.
  const PeerTerms& TermsOf(const PlacementRules& rules) const;
  // The parts of the selector, which means a task if they all do.  REQUIRES: it
  // is in use.
  const std::vector<TaskSelector>& SelectorsOf(uint32_t selector) const;
  // The terms about tasks that the selector means.  REQUIRES: it is in use.
  const std::vector<CountedTerm*>& TermsAbout(uint32_t selector) const;
  // True if one of the two keeps away from the other by a term that counts.
  // REQUIRES: their rules are learned.
  bool KeepApart(const ClassKey& a, const ClassKey& b,
                 absl::FunctionRef<bool(const CountedTerm&)> counts) const;
  bool KeepApart(const ClassKey& a, const ClassKey& b) const {
    return KeepApart(a, b, [](const CountedTerm&) { return true; });
  }
  // True if there are no terms at all.
  bool empty() const { return terms_.empty(); }

  // Sets the identity of the task and returns the selectors that mean it.
  // REQUIRES: the task is not added.
  const SelectorSet* Identify(TaskId task, const TaskIdentity& identity);
  // The selectors that mean it now.  REQUIRES: it was identified.
  const SelectorSet* MeaningOf(TaskId task) const;
  // The identity of the task; null if it was not identified.  Tasks that are
  // described alike share one.
  const TaskIdentity* FindIdentity(TaskId task) const {
    const auto it = identity_of_.find(task);
    return it == identity_of_.end() ? nullptr : &it->second->first;
  }
  // REQUIRES: the task is not added.
  void Erase(TaskId task);

  // Counts a running task as it is in the state.  Nothing about it may change
  // until Remove().
  void Add(const Task& task) { Count(task, 1); }
  void Remove(const Task& task) { Count(task, -1); }

  // Counts a task that does not run yet, but has room kept on the machine
  // (state/nominations.h).  Required anti-affinity holds as if it ran; affinity
  // does not count it.  Returns the argument for EndExpecting().
  // REQUIRES: the rules are learned, and kept until then.
  uint64_t Expect(const TaskIdentity& identity, const PlacementRules& rules,
                  MachineId machine);
  void EndExpecting(uint64_t expected);

  // Call when the machine was added or described anew.
  void Describe(const Machine& machine);
  void Drop(const Machine& machine);

  // Puts new selectors into effect.  Returns the tasks that are meant by other
  // selectors than before, ascending.
  std::vector<TaskId> Sync();
  // Forgets the rules with these ids, and what nobody uses.  Returns as Sync().
  std::vector<TaskId> Collect(const std::vector<uint32_t>& rules);

 private:
  struct Selector {
    std::vector<TaskSelector> all;  // Each must mean the task.
    std::vector<CountedTerm*> terms;
    bool is_new = true;
  };
  struct Identity {
    absl::btree_set<TaskId> tasks;
    absl::btree_set<uint64_t> expected;
    const SelectorSet* meant_by = &NoSelectors();
  };
  using Identities = std::map<TaskIdentity, Identity>;
  struct Expected {
    Identities::iterator identity;
    const PlacementRules* rules;
    MachineId machine;
  };
  // Selectors, ascending, by what a task must have to be meant: one of several
  // labels, or the job's name.
  struct Index {
    std::map<std::pair<std::string, std::string>, std::set<uint32_t>> by_label;
    std::map<std::string, std::set<uint32_t>> by_job;
    std::set<uint32_t> others;

    // Adds (or removes) the selector.
    void Update(const std::vector<TaskSelector>& all, uint32_t selector,
                bool is_added);
  };

  CountedTerm* Acquire(const std::vector<TaskSelector>& selectors,
                       const std::string& topology_key);
  void Release(CountedTerm* term);
  Topology* TopologyOf(const std::string& key);
  uint32_t SelectorOf(const std::vector<TaskSelector>& selectors);
  void Count(const Task& task, int64_t sign);
  void Count(const Expected& expected, int64_t sign);
  Identities::iterator FindOrAdd(const TaskIdentity& identity);
  void EraseIfIdle(Identities::iterator identity);
  // Counts the running tasks that a new term of a known selector means.
  void CountMeant(CountedTerm* term);
  const SelectorSet* Keep(SelectorSet set);
  // The selectors of the index that mean it, without new ones.
  SelectorSet Match(const TaskIdentity& identity, const Index& index) const;
  // Sets the selectors that mean the identity, and recounts its tasks.
  void SetMeaning(Identity* identity, SelectorSet set,
                  std::vector<TaskId>* changed);

  PolicyNeeds needs_;
  const ClusterState& state_;
  std::map<std::string, std::unique_ptr<Topology>> topologies_;
  std::map<std::vector<TaskSelector>, uint32_t> selector_ids_;
  std::map<uint32_t, Selector> selectors_;
  uint32_t next_selector_ = 1;
  bool has_new_selectors_ = false;
  bool has_idle_terms_ = false;
  Index index_;
  // By selector and topology key.
  std::map<std::pair<uint32_t, std::string>, std::unique_ptr<CountedTerm>>
      terms_;
  absl::flat_hash_map<uint32_t, PeerTerms> terms_of_rules_;
  Identities identities_;
  absl::flat_hash_map<TaskId, Identities::iterator> identity_of_;
  absl::btree_map<uint64_t, Expected> expected_;
  uint64_t next_expected_ = 1;
  std::set<SelectorSet> sets_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_PEER_TABLE_H_
