// A packing problem in which groups are merged that no class can tell apart.
//
// Free amounts are counted in units that divide all requests, and capped at
// what all tasks together could use.  That loses nothing.
//
// Threads: values.

#ifndef SLUICE_PACKING_MERGED_GROUPS_H_
#define SLUICE_PACKING_MERGED_GROUPS_H_

#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

class MergedGroups {
 public:
  // `problem` must outlive this.
  explicit MergedGroups(const PackingProblem& problem);

  const PackingProblem& merged() const { return merged_; }
  // Turns patterns of merged groups into patterns of the problem's own groups.
  std::vector<Pattern> Part(const std::vector<Pattern>& patterns) const;

 private:
  const PackingProblem& problem_;
  PackingProblem merged_;
  std::vector<std::vector<size_t>> members_;  // By merged group.
  std::vector<size_t> merged_of_;             // By group.
};

}  // namespace sluice

#endif  // SLUICE_PACKING_MERGED_GROUPS_H_
