// What a task says about other tasks, its peers: which ones it must or would
// rather run near, which ones it avoids, and among which it is spread.
//
// The terms are Kubernetes' (pod affinity and anti-affinity, topology spread
// constraints), with everything filled in that depends on the task itself: its
// own namespace if a term names none, its own labels for matchLabelKeys.  A
// term can also select peers by their job's name, as Fleet does for units.
//
// A *domain* is the set of machines with one value of a label, the topology
// key.  With an empty topology key, every machine is a domain of its own.
//
// Threads: values.

#ifndef SLUICE_STATE_PEER_TERMS_H_
#define SLUICE_STATE_PEER_TERMS_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sluice/state/label_requirement.h"

namespace sluice {

// Selects tasks.  Default constructed: none.
struct TaskSelector {
  // All must hold for the task's labels.  Absent: selects no task; empty: any.
  std::optional<std::vector<LabelRequirement>> labels = {};
  // Its namespace is one of these (ascending, without duplicates) ...
  std::vector<std::string> namespaces = {};
  // ... or its namespace's labels meet all of these, if present.
  std::optional<std::vector<LabelRequirement>> namespace_labels = {};
  // A pattern that its job's name matches, with *, ? and \ as in file names;
  // empty: any job.
  std::string job = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("labels", self.labels);
    visit("namespaces", self.namespaces);
    visit("namespace_labels", self.namespace_labels);
    visit("job", self.job);
  }

  friend auto operator<=>(const TaskSelector&, const TaskSelector&) = default;
};

struct PeerTerm {
  TaskSelector tasks = {};
  std::string topology_key = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("tasks", self.tasks);
    visit("topology_key", self.topology_key);
  }

  friend auto operator<=>(const PeerTerm&, const PeerTerm&) = default;
};

// Worth its weight for each selected task that runs in the domain.
struct WeightedPeerTerm {
  int32_t weight = 0;  // 1 to 100; negative to keep away.
  PeerTerm term = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("weight", self.weight, -100, 100);
    visit("term", self.term);
  }
  std::string Fault() const { return weight == 0 ? "weight: is 0" : ""; }

  friend auto operator<=>(const WeightedPeerTerm&,
                          const WeightedPeerTerm&) = default;
};

struct SpreadConstraint {
  PeerTerm term = {};
  // By how many selected tasks a domain may exceed the emptiest one.
  int32_t max_skew = 1;
  // True: DoNotSchedule.  False: ScheduleAnyway, emptier domains are preferred.
  bool is_required = true;
  // With fewer domains than this, the emptiest one counts as empty.  With
  // kFromEmpty it always does, so `max_skew` is the maximum of any domain.
  static constexpr int32_t kFromEmpty = std::numeric_limits<int32_t>::max();
  int32_t min_domains = 1;
  // True if machines that the node selector and affinity (or the taints) keep
  // the task from form no domains.
  bool honors_node_affinity = true;
  bool honors_taints = false;

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("term", self.term);
    visit("max_skew", self.max_skew, 1);
    visit("is_required", self.is_required);
    visit("min_domains", self.min_domains, 1);
    visit("honors_node_affinity", self.honors_node_affinity);
    visit("honors_taints", self.honors_taints);
  }

  friend auto operator<=>(const SpreadConstraint&,
                          const SpreadConstraint&) = default;
};

// How many selected tasks each domain should have before any other task of the
// same priority takes the room.
struct DomainMinimum {
  PeerTerm term = {};
  int32_t at_least = 1;

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("term", self.term);
    visit("at_least", self.at_least, 1);
  }

  friend auto operator<=>(const DomainMinimum&, const DomainMinimum&) = default;
};

// The minimum, as in DomainMinimum, and the maximum of tasks of one job in each
// domain. 0: no bound.
struct JobBounds {
  std::string topology_key = {};
  int32_t at_least = 0;
  int32_t at_most = 0;
};

}  // namespace sluice

#endif  // SLUICE_STATE_PEER_TERMS_H_
