// The deltas that no client is known to have yet, in the order of their
// decisions, indexed by task and by feed.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_STATE_OUTBOX_H_
#define SLUICE_STATE_OUTBOX_H_

#include <cstdint>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "sluice/base/ids.h"
#include "state/delta.h"

namespace sluice {

class Outbox {
 public:
  using Deltas = absl::btree_map<uint64_t, Delta>;
  using Sequences = absl::btree_set<uint64_t>;
  using TaskSequences = absl::InlinedVector<uint64_t, 1>;

  const Deltas& deltas() const { return deltas_; }
  // Those to be told to the client of the feed.
  const Sequences& SequencesOf(FeedId feed) const;
  // Oldest first.
  const TaskSequences& SequencesOf(TaskId task) const;
  // The newest one of the task; null if there is none or it is in flight.
  const Delta* Waiting(TaskId task) const;

  Delta* Find(uint64_t sequence);
  // Returns false if its sequence is taken.  REQUIRES: it is the task's newest.
  bool Add(const Delta& delta);
  // REQUIRES: it is there.
  void Erase(uint64_t sequence);

 private:
  Deltas deltas_;
  absl::flat_hash_map<TaskId, TaskSequences> of_task_;
  absl::flat_hash_map<FeedId, Sequences> of_feed_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_OUTBOX_H_
