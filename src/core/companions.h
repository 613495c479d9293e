// Classes that wait for each other: each must be near tasks of the next one,
// the last near those of the first, and none of them runs.
//
// Kubernetes lets such pods wait for ever.  Here one task of each is placed at
// once, or none: then each is near whom it must be near, and the rest of their
// classes are placed as any that must be near tasks that run.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_COMPANIONS_H_
#define SLUICE_CORE_COMPANIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "constraints/class_peers.h"
#include "core/placements.h"
#include "core/round_context.h"
#include "core/transaction.h"
#include "sluice/state/task.h"

namespace sluice {

// Circles longer than this are not found.
inline constexpr size_t kCompanionsMax = 8;

// A circle with the class, in which each class must be near the next; empty if
// there is none, or a task that waits by itself is to come first.  Of several
// classes that one may be near those of its gang come first.  A look at each
// class that waits for each class of the circle.
// REQUIRES: the state's peers are in sync.
std::vector<ClassKey> FindCircle(const ClassKey& key, RoundContext* context);

// The ways to place one task of each class of a circle, by the domains of the
// first, those with the most room for it first.
class CompanionPlaces {
 public:
  // What is passed must outlive this.  REQUIRES: the eligibility is fresh.
  CompanionPlaces(std::vector<ClassKey> circle, RoundContext* context);

  // Places them the next way; the placements are the caller's to keep.  Returns
  // false where there is no other, or the budget for searches is spent; then
  // nothing is placed.
  bool PlaceNext(Transaction* transaction);

 private:
  using Domains = std::vector<DomainIndex>;
  struct Place {
    int64_t room = 0;  // Of the first class in all of these domains together.
    std::vector<MachineId> machines;
  };

  // Those in which the first task, and whoever must be near it, are.
  Domains DomainsOf(MachineId machine) const;
  bool PlaceFrom(size_t index, const Machine& machine,
                 Transaction* transaction);
  // Where one that the task before it must be near could be.
  std::vector<MachineId> NearTo(size_t index, MachineId machine) const;
  // Whether the task of the class may be there, beside those that were placed.
  bool MayBeOn(size_t index, const Machine& machine) const;
  std::span<CountedTerm* const> TermsOf(size_t index) const;

  const std::vector<ClassKey> circle_;
  RoundContext& context_;
  std::vector<const Task*> tasks_;   // The oldest of each class.
  std::vector<MachineId> machines_;  // Of those placed so far.
  std::vector<Place> places_;        // The next one last.
};

}  // namespace sluice

#endif  // SLUICE_CORE_COMPANIONS_H_
