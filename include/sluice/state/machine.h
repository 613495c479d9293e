// A machine: what it offers, and how much of it is used.
//
// A machine that was removed or failed is *departed*.  Its tasks may go on
// running (a cordoned node keeps its pods), so its tasks and foreign pods are
// remembered and count again when it returns.
//
// Threads: values; the ones in the state are confined to the core thread.

#ifndef SLUICE_STATE_MACHINE_H_
#define SLUICE_STATE_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "sluice/base/ids.h"
#include "sluice/state/job_counts.h"
#include "sluice/state/placement_rules.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
#include "sluice/state/usage.h"

namespace sluice {

// A NUMA node of a machine's tree, with processing units below it.
struct NumaNode {
  std::string uuid;
  Resources capacity;
  LabelPairs labels;
  Resources bound = {};  // By tasks that demand it (state/machine_parts.h).
};

// A processing unit: a leaf of a machine's tree, which deltas name.
struct ProcessingUnit {
  std::string uuid;
  Resources capacity;
  // Derived from the tasks placed on it:
  Resources used;
  int64_t task_count = 0;

  LabelPairs labels = {};  // None if its machine has no others.
  int32_t numa_node = -1;  // Index; -1: none.
  Resources bound = {};    // Of `used`, by tasks that demand it; derived.
  // Of the tasks bound here or to its NUMA node, ascending; derived.
  std::vector<std::string> groups = {};
};

// A taint in force.  An unschedulable machine and one in a bad condition have
// the taints that Kubernetes gives them.
struct MachineTaint {
  Taint taint;
  int64_t since_ms = 0;  // Since the epoch.

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("key", self.taint.key);
    visit("value", self.taint.value);
    visit("effect", self.taint.effect, TaintEffect::kNoExecute);
    visit("since_ms", self.since_ms);
  }
};

struct Machine {
  MachineId id;
  std::string uuid;
  std::string name;
  Resources allocatable;  // What tasks may use, including foreign pods.
  Resources capacity;     // All there is; what the system reserves is load.
  // Where its stated bandwidth is in these and in `used`; derived.
  ResourceIndex net_rx = kNoResource;
  ResourceIndex net_tx = kNoResource;
  LabelPairs labels;
  MachineTypeId type;                // None unless a policy asks; derived.
  std::vector<MachineTaint> taints;  // Ascending by taint.
  // The owners whose tasks it would rather not have, ascending.
  std::vector<Owner> avoids;
  std::vector<ProcessingUnit> pus;
  std::vector<NumaNode> numa_nodes;
  // A hash that tells parts, with what is bound to them, from others; 0 if they
  // do not matter.  Derived.
  uint64_t parts_look = 0;
  // uuids of the tree other than those of the machine and its processing units.
  std::vector<std::string> other_uuids;
  bool is_present = true;
  FeedId feed;  // The feed that stated it, if any.
  // True if its client began anew and has not announced it again.
  // `announcement` is the one that last mentioned it, or its feed's snapshot.
  uint32_t announcement = 0;
  bool is_stale = false;
  // Rises whenever the machine may have changed, except when a client's new
  // beginning makes it stale; not stored.
  uint64_t revision = 0;
  // Why it is kept out of scheduling, for people; empty if it is not.
  std::string quarantine_reason;
  // How many tasks ran on it when an operator asked to empty it; nullopt if
  // none did.  It holds until it is taken back, even if the machine departs and
  // returns.
  std::optional<int64_t> draining_from = {};

  // Uids that it is said to run and that nobody has submitted
  // (state/adoptions.h).
  absl::btree_set<TaskUid> claimed;

  // Derived: tasks and foreign pods on it.
  Resources used;
  std::vector<HostPort> used_host_ports;  // Ascending, one for each user.
  absl::btree_set<TaskId> tasks;
  int64_t leaving_count = 0;  // Those of them told to leave.
  JobCounts jobs;             // Of the others.
  absl::btree_map<std::string, Resources> foreign_pods;

  // Who has room reserved here (state/nominations.h): tasks that wait for
  // others to leave, and future successors of tasks that were told to move
  // here, by the sequences of the deltas that say so.  Of that room, `reserved`
  // is already free, and `awaited` is freed by tasks that leave.  Both are
  // meaningless if nobody has room reserved.  Derived; not stored.
  absl::btree_set<TaskId> nominated;
  absl::btree_set<uint64_t> successions;
  std::vector<HostPort> kept_host_ports;  // Ascending, one for each of them.
  Resources reserved;
  Resources awaited;

  UsageHistory usage;  // Not stored.
  // How much of the requests here is lent to other tasks, given measured use
  // (state/measured_use.h); negative if more is used than was asked for.
  // Meaningless unless the machine is measured.  Not stored.
  Resources reclaimed;
  bool is_measured = false;

  void AddLoad(const Resources& load, const std::vector<HostPort>& host_ports);
  // REQUIRES: they were added.
  void ReleasePorts(const std::vector<HostPort>& host_ports);
  void KeepPorts(const std::vector<HostPort>& host_ports);
  // REQUIRES: they were kept.
  void ReleaseKeptPorts(const std::vector<HostPort>& host_ports);

  // True if what was placed there may go on.
  bool IsSound() const { return is_present && quarantine_reason.empty(); }
  // True if anything may be placed there.
  bool IsUsable() const { return IsSound() && !is_stale && !IsDraining(); }
  bool IsDraining() const { return draining_from.has_value(); }
  bool IsEmpty() const { return tasks.empty() && foreign_pods.empty(); }
  bool KeepsRoom() const { return !nominated.empty() || !successions.empty(); }
  // What requests may add up to now.  It shrinks when tasks leave whose
  // requests are partly reclaimed.
  Resources Offered() const {
    return is_measured ? allocatable + reclaimed : allocatable;
  }
  // For tasks that are not nominated.  May be negative if the machine came back
  // smaller than its load, or uses more than before.
  Resources Free() const {
    Resources free = allocatable - used;
    if (KeepsRoom()) free -= reserved;
    if (is_measured) free += reclaimed;
    return free;
  }
  int64_t FreeOf(ResourceIndex i) const {
    return allocatable[i] - used[i] - (KeepsRoom() ? reserved[i] : 0) +
           (is_measured ? reclaimed[i] : 0);
  }
  // The value of its label `key`; null if there is none.
  const std::string* FindLabel(std::string_view key) const;
  // The processing unit with the most room for `request` beside its load; kNoPu
  // if there is none.
  int32_t RoomiestPu(const Resources& request) const;
  // The uuid by which a delta names `pu` of this machine.
  const std::string& ResourceUuid(int32_t pu) const {
    return pu == kNoPu ? uuid : pus[static_cast<size_t>(pu)].uuid;
  }
};

}  // namespace sluice

#endif  // SLUICE_STATE_MACHINE_H_
