// Tasks that keep others out of a domain of several machines, such as a zone,
// by required anti-affinity, their own or that of the others.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_TOGETHER_DOMAIN_CONFLICTS_H_
#define SLUICE_ROUND_TOGETHER_DOMAIN_CONFLICTS_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/peer_table.h"

namespace sluice {

// True if a task of the class could be kept out of a domain of several
// machines, or keep others out.
bool IsKeptFromDomains(const ClassKey& key, const PeerTable& peers);

// True if a rule about such a domain selects the class, or is its own,
// whichever tasks run.
bool ConcernsDomains(const ClassKey& key, const PeerTable& peers);

class DomainConflicts {
 public:
  // `peers` must outlive this and not change meanwhile.
  explicit DomainConflicts(const PeerTable& peers) : peers_(&peers) {}

  bool empty() const { return having_.empty() && meant_.empty(); }
  // Adds a task that runs on the machine, or is to.
  void Add(const ClassKey& key, MachineId machine);
  // The same for its required spreads and the tasks that they select.
  void AddSpread(const ClassKey& key, MachineId machine);
  // The highest priority of the added tasks that share a domain with the
  // machine from which one of the two keeps the other; nullopt if there is
  // none.
  std::optional<uint32_t> HighestAgainst(const ClassKey& key,
                                         MachineId machine) const;

 private:
  // The highest priority by term and domain.
  using Table =
      absl::flat_hash_map<std::pair<const CountedTerm*, DomainIndex>, uint32_t>;

  const PeerTable* peers_;
  Table having_;  // Of the tasks that have the term.
  Table meant_;   // Of the tasks that it selects.
};

}  // namespace sluice

#endif  // SLUICE_ROUND_TOGETHER_DOMAIN_CONFLICTS_H_
