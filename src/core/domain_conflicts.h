// Tasks of which one in a domain of several machines, such as a zone, keeps
// others out of it by required anti-affinity, its own or theirs.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_DOMAIN_CONFLICTS_H_
#define SLUICE_CORE_DOMAIN_CONFLICTS_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/peer_table.h"

namespace sluice {

// Whether a task of the class could be kept out of a domain of several
// machines, or keep others out.
bool IsKeptFromDomains(const ClassKey& key, const PeerTable& peers);

// Whether a rule about such a domain means the class, or is its own, whoever
// runs.
bool ConcernsDomains(const ClassKey& key, const PeerTable& peers);

class DomainConflicts {
 public:
  // `peers` must outlive this and not change meanwhile.
  explicit DomainConflicts(const PeerTable& peers) : peers_(&peers) {}

  bool empty() const { return having_.empty() && meant_.empty(); }
  // A task that runs on the machine, or is to.
  void Add(const ClassKey& key, MachineId machine);
  // The same by its required spreads, for those that they mean.
  void AddSpread(const ClassKey& key, MachineId machine);
  // The highest priority of the tasks that were added and share a domain with
  // the machine from which one of the two keeps the other; nothing where there
  // is none.
  std::optional<uint32_t> HighestAgainst(const ClassKey& key,
                                         MachineId machine) const;

 private:
  // The highest priority by term and domain.
  using Table =
      absl::flat_hash_map<std::pair<const CountedTerm*, DomainIndex>, uint32_t>;

  const PeerTable* peers_;
  Table having_;  // Of those that have the term, and
  Table meant_;   // of those that it means.
};

}  // namespace sluice

#endif  // SLUICE_CORE_DOMAIN_CONFLICTS_H_
