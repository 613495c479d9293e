// Names for classes, by which what was found out about a class is of use when
// it comes again (solver/warm_solver.h).
//
// A name is a number, dealt in the order in which classes are first seen and
// never used again.  It goes by what a class says, and not by where the state
// keeps that: an address may be another class's a moment later, and differs
// from process to process.
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
  // Of `recent_max` classes the names are known at least, and of no more than
  // twice as many.
  explicit ClassNames(size_t recent_max) : recent_max_(recent_max) {}

  // Never 0.  `resources` are what the request is counted in.
  uint64_t NameOf(const ClassKey& key, const ResourceNames& resources);

  size_t size() const { return recent_.size() + former_.size(); }

 private:
  // What a class says, in numbers none of which ever means anything else.
  using Content = std::vector<uint64_t>;
  using Names = absl::flat_hash_map<Content, uint64_t>;

  static Content ContentOf(const ClassKey& key, const ResourceNames& resources);

  const size_t recent_max_;
  Names recent_;  // Seen since the last time that it was full.
  Names former_;  // Those before, as far as they were not seen again.
  uint64_t next_name_ = 1;
};

}  // namespace sluice

#endif  // SLUICE_STATE_CLASS_NAMES_H_
