// Names for classes.  By its name, what was learned about a class can be reused
// when the class comes back (solver/warm_solver.h).
//
// A name is a number, assigned in the order in which classes are first seen and
// never reused.  It depends on the content of a class, not on its address: an
// address may soon belong to another class, and differs between processes.
//
// Classes that have not been seen for long are forgotten; one that returns gets
// a new name.
//
// Threads: none of its own; confined to the core thread.
// Determinism: the same calls give the same names.

#ifndef SLUICE_STATE_CLASS_NAMES_H_
#define SLUICE_STATE_CLASS_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sluice/state/task.h"
#include "state/resource_names.h"

namespace sluice {

class ClassNames {
 public:
  // Keeps the names of the `recent_max` most recent classes at least, and of
  // twice as many at most.
  explicit ClassNames(size_t recent_max) : recent_max_(recent_max) {}

  // Never 0.  `resources` names the resources of the request.
  uint64_t NameOf(const ClassKey& key, const ResourceNames& resources);

  size_t size() const { return recent_.size() + former_.size(); }

 private:
  // The content of a class, in numbers whose meaning never changes.
  using Content = std::vector<uint64_t>;
  using Names = absl::flat_hash_map<Content, uint64_t>;

  static Content ContentOf(const ClassKey& key, const ResourceNames& resources);

  const size_t recent_max_;
  Names recent_;  // Seen since the last time that it was full.
  Names former_;  // Seen before that, and not again since.
  uint64_t next_name_ = 1;
};

}  // namespace sluice

#endif  // SLUICE_STATE_CLASS_NAMES_H_
