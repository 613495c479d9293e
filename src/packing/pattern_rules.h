// How many tasks a pattern may hold, by the free room of its machines, by
// classes that must be apart, and by caps.  Company: packing/company.h.
//
// Threads: pure functions.

#ifndef SLUICE_PACKING_PATTERN_RULES_H_
#define SLUICE_PACKING_PATTERN_RULES_H_

#include <cstdint>
#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

// How many tasks of the class the pattern holds.
int64_t CountOf(size_t task_class, const Pattern& pattern);
// Adds `count` tasks; removes them if negative.
void AddTasks(size_t task_class, int64_t count, Pattern* pattern);

// How many more tasks of the class a machine of the pattern has room for.
int64_t RoomOn(const PackingProblem& problem, const Pattern& pattern,
               size_t task_class);

// How far the caps of a spread have risen, given what they still allow;
// negative if they have sunk.
int64_t RiseOf(const PackingProblem& problem, const PackingSpread& spread,
               const std::vector<int64_t>& caps);
// How many more of the class the group's caps allow, once they have risen as
// far as they can.
int64_t RoomInCaps(const PackingProblem& problem, size_t group,
                   size_t task_class, const std::vector<int64_t>& caps);
// Subtracts the pattern `times` times from what its group's caps allow.
void TakeFromCaps(const PackingProblem& problem, const Pattern& pattern,
                  int64_t times, std::vector<int64_t>* caps);
// How many of the tasks of one of its machines the cap counts.
int64_t CountedBy(const PackingProblem& problem, size_t cap,
                  const Pattern& pattern);
// The pattern without what the caps do not allow even once, on as many of its
// machines as they allow.
Pattern WithinCaps(const PackingProblem& problem, Pattern pattern,
                   const std::vector<int64_t>& caps);

}  // namespace sluice

#endif  // SLUICE_PACKING_PATTERN_RULES_H_
