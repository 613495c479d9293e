// How many tasks of each job there are in one place.
//
// Meant for machines, where tasks of a few dozen jobs run: searching a short
// array is faster than any table.
//
// Threads: as a standard container.

#ifndef SLUICE_STATE_JOB_COUNTS_H_
#define SLUICE_STATE_JOB_COUNTS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "sluice/base/ids.h"

namespace sluice {

class JobCounts {
 public:
  int64_t Of(JobId job) const;
  // How many jobs have a count.
  size_t size() const { return entries_.size(); }

  // Adds `count`, which may be negative.  REQUIRES: no count falls below 0.
  void Add(JobId job, int32_t count);

 private:
  struct Entry {
    JobId job;
    int32_t count = 0;
  };
  // Ascending by job; none with a count of 0.
  absl::InlinedVector<Entry, 12> entries_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_JOB_COUNTS_H_
