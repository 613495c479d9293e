// The placements of a round that can still be moved, and what follows from
// where they are: how many tasks of a job share a machine, the load of the
// machines, and the view of classes that depend on peers.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_SEARCH_MOVABLE_PLACEMENTS_H_
#define SLUICE_ROUND_SEARCH_MOVABLE_PLACEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "constraints/class_peers.h"
#include "round/context/placements.h"
#include "round/context/round_context.h"
#include "round/context/transaction.h"
#include "round/context/work_budget.h"
#include "round/search/machines_by_load.h"

namespace sluice {

class MovablePlacements {
 public:
  // Both must outlive this.  Work is charged to `work`.
  MovablePlacements(RoundContext* context, Allowance* work);

  size_t size() const { return placements_.size(); }
  const Placement& operator[](size_t index) const { return placements_[index]; }
  std::span<const Placement> all() const { return placements_; }
  // The indices of those that share a machine with others of their job, by job,
  // then machine.  Stops when the work is spent.
  std::vector<size_t> FindCrowded();
  // Indices, ascending.
  std::vector<size_t> On(MachineId machine);
  // How many tasks of the job run there, without those told to leave.
  int64_t CountSiblings(JobId job, MachineId machine) {
    work_.Spend(1);
    return context_.state.FindMachine(machine)->jobs.Of(job);
  }
  const MachinesByLoad& by_load();
  // Tells `peers` of each change from now on; it must outlive this.
  void Follow(ClassPeers* peers) { peers_.push_back(peers); }

  // Takes a task from its machine, which stays recorded as its last one.
  void Withdraw(size_t index);
  // REQUIRES: it is withdrawn, and fits.
  void Place(size_t index, MachineId machine);
  // Keeps what was done; otherwise the destructor undoes it.  REQUIRES: all are
  // placed.
  void Keep() { context_.Keep(&transaction_); }

 private:
  void Note(const Placement& one, int64_t count);

  RoundContext& context_;
  Eligibility& eligibility_;
  Allowance& work_;
  Transaction transaction_;
  std::vector<Placement> placements_;
  // By machine, ascending; filled on first use.
  absl::flat_hash_map<MachineId, absl::InlinedVector<size_t, 4>> on_;
  std::optional<MachinesByLoad> by_load_;
  std::vector<ClassPeers*> peers_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_MOVABLE_PLACEMENTS_H_
