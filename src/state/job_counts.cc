#include "sluice/state/job_counts.h"

#include <glog/logging.h>

#include <algorithm>

namespace sluice {

int64_t JobCounts::Of(JobId job) const {
  const auto it = std::ranges::lower_bound(entries_, job, {}, &Entry::job);
  return it == entries_.end() || it->job != job ? 0 : it->count;
}

void JobCounts::Add(JobId job, int32_t count) {
  auto it = std::ranges::lower_bound(entries_, job, {}, &Entry::job);
  if (it == entries_.end() || it->job != job) {
    it = entries_.insert(it, Entry{.job = job});
  }
  it->count += count;
  CHECK(it->count >= 0) << "job " << job;
  if (it->count == 0) entries_.erase(it);
}

}  // namespace sluice
