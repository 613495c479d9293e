// A packing problem with the classes as one that differ in nothing but what
// their tasks cost to leave waiting, and in their gangs: jobs that ask for the
// same.
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
  // Who gets the places of a packing of the merged classes.
  Seating MakeSeating() const { return {problem_, merged_of_}; }
  // Patterns of merged classes with tasks of the problem's own: those that are
  // dearest to leave waiting, and gangs as a whole.  Places that nobody takes
  // are left out.
  std::vector<Pattern> Part(const std::vector<Pattern>& patterns) const;
  // The other way round.
  std::vector<Pattern> Merge(const std::vector<Pattern>& patterns) const;

 private:
  void MergeWaiting();
  // Whose company it needs, and who needs it.
  void AddCompany(size_t task_class, std::vector<int64_t>* look) const;

  const PackingProblem& problem_;
  bool is_same_ = false;                      // No two classes are one:
  PackingProblem merged_;                     // this has no more than them.
  std::vector<std::vector<size_t>> members_;  // By merged class.
  std::vector<size_t> merged_of_;             // By class.
};

}  // namespace sluice

#endif  // SLUICE_PACKING_MERGED_CLASSES_H_
