// The domains of one topology key (a zone, a rack, a machine), and counts by
// domain.
//
// Threads: values; those of the state are confined to the core thread.

#ifndef SLUICE_STATE_TOPOLOGY_H_
#define SLUICE_STATE_TOPOLOGY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/machine.h"

namespace sluice {

// A domain of one topology key.
using DomainIndex = int32_t;
inline constexpr DomainIndex kNoDomain = -1;

// Something counted by domain.
class Tally {
 public:
  void Add(DomainIndex domain, int64_t count);
  int64_t At(DomainIndex domain) const {
    const auto it = counts_.find(domain);
    return it == counts_.end() ? 0 : it->second;
  }
  // Over all domains.
  int64_t total() const { return total_; }
  // What is not 0.
  const absl::btree_map<DomainIndex, int64_t>& counts() const {
    return counts_;
  }

 private:
  absl::btree_map<DomainIndex, int64_t> counts_;
  int64_t total_ = 0;
};

// The domains of one topology key.
class Topology {
 public:
  explicit Topology(std::string key) : key_(std::move(key)) {}

  const std::string& key() const { return key_; }
  // kNoDomain if it lacks the label.
  DomainIndex DomainOf(MachineId machine) const {
    const auto it = domain_of_.find(machine);
    return it == domain_of_.end() ? kNoDomain : it->second;
  }
  // Departed machines included; empty for domains that no longer exist.
  const absl::btree_set<MachineId>& MachinesOf(DomainIndex domain) const {
    return machines_[static_cast<size_t>(domain)];
  }
  // One more than the last domain.
  DomainIndex domain_end() const {
    return static_cast<DomainIndex>(machines_.size());
  }
  // True if no two machines share a domain, as with the host's name.
  bool is_by_machine() const { return shared_count_ == 0; }

  // The domain of the machine as it is described now.
  DomainIndex DomainFor(const Machine& machine);
  void Move(MachineId machine, DomainIndex domain);

 private:
  std::string key_;
  absl::flat_hash_map<std::string, DomainIndex> domains_;  // By label value.
  std::vector<std::string> values_;                        // By domain.
  std::vector<absl::btree_set<MachineId>> machines_;       // By domain.
  std::vector<DomainIndex> free_;
  int64_t shared_count_ = 0;  // Domains of more than one machine.
  absl::flat_hash_map<MachineId, DomainIndex> domain_of_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_TOPOLOGY_H_
