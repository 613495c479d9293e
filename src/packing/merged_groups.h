// A packing problem with the groups as one that no class can tell apart.
//
// What is free counts in units of which all requests are multiples, and only as
// far as all tasks together could use it.  That loses nothing.
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
  // Patterns of merged groups on the groups of the problem itself.
  std::vector<Pattern> Part(const std::vector<Pattern>& patterns) const;

 private:
  const PackingProblem& problem_;
  PackingProblem merged_;
  std::vector<std::vector<size_t>> members_;  // By merged group.
  std::vector<size_t> merged_of_;             // By group.
};

}  // namespace sluice

#endif  // SLUICE_PACKING_MERGED_GROUPS_H_
