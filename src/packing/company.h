// Which tasks need company on a machine, and have it.
//
// Threads: free functions.

#ifndef SLUICE_PACKING_COMPANY_H_
#define SLUICE_PACKING_COMPANY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

// True if a task of the class may join the pattern, as far as company goes.
bool HasCompany(const PackingProblem& problem, const Pattern& pattern,
                size_t task_class);
// The pattern without the tasks that lack company, until all that remain have
// it.
Pattern WithCompany(const PackingProblem& problem, Pattern pattern);
// How many of the class may leave the pattern so that all others keep their
// company.
int64_t CountFreeToLeave(const PackingProblem& problem, const Pattern& pattern,
                         size_t task_class);
// By class: true if another class needs it for company.
std::vector<bool> FindCompany(const PackingProblem& problem);
// By class: 0 if it needs no company, 1 if its company needs none, and so on.
// Classes that are placed in this order find their company there.
std::vector<size_t> CompanyDepths(const PackingProblem& problem);

}  // namespace sluice

#endif  // SLUICE_PACKING_COMPANY_H_
