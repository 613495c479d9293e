// A packing problem in which classes are merged that differ only in the waiting
// costs of their tasks and in their gangs: jobs with the same request and
// rules.
//
// Threads: values.

#ifndef SLUICE_PACKING_MERGED_CLASSES_H_
#define SLUICE_PACKING_MERGED_CLASSES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "packing/packing_problem.h"
#include "packing/seating.h"

namespace sluice {

class MergedClasses {
 public:
  // `problem` must outlive this.
  explicit MergedClasses(const PackingProblem& problem);

  const PackingProblem& merged() const { return is_same_ ? problem_ : merged_; }
  const PackingProblem& problem() const { return problem_; }
  // Decides who gets the places of a packing of the merged classes.
  Seating MakeSeating() const { return {problem_, merged_of_}; }
  // Turns patterns of merged classes into patterns of the problem's own
  // classes.  Tasks with the highest waiting cost get places first, and gangs
  // as a whole.  Places that nobody takes are left out.
  std::vector<Pattern> Part(const std::vector<Pattern>& patterns) const;
  // The reverse.
  std::vector<Pattern> Merge(const std::vector<Pattern>& patterns) const;

 private:
  void MergeWaiting();
  // Adds which classes it needs as company, and which need it.
  void AddCompany(size_t task_class, std::vector<int64_t>* look) const;

  const PackingProblem& problem_;
  bool is_same_ = false;   // True if nothing could be merged.
  PackingProblem merged_;  // Empty then.
  std::vector<std::vector<size_t>> members_;  // By merged class.
  std::vector<size_t> merged_of_;             // By class.
};

}  // namespace sluice

#endif  // SLUICE_PACKING_MERGED_CLASSES_H_
