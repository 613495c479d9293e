// Classes that wait for each other: each must be near tasks of the next one,
// the last near those of the first.
//
// Kubernetes lets such pods wait for ever.  Here one task of each is placed at
// once, or none: then each is near whom it must be near, and the rest of their
// classes are placed as any that must be near tasks that run.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_COMPANIONS_H_
#define SLUICE_CORE_COMPANIONS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "constraints/class_peers.h"
#include "core/round_context.h"
#include "core/transaction.h"
#include "sluice/state/task.h"

namespace sluice {

// Whose circles are looked for.
enum class CompanionsOf {
  // Those that none who runs could be company to.
  kNobody,
  // Whoever waits and whose job does not run: others who could be company run,
  // but there is no room near them, say.
  kAnybody,
};

// Circles with the class, in which each class must be near the next.  Of
// kNobody there is none where a task that waits by itself is to come first.  Of
// several classes that one may be near those of its gang come first; no circle
// has more than eight classes, and at most eight are found.  A look at each
// class that waits for each class of a circle.
// REQUIRES: the state's peers are in sync.
std::vector<std::vector<ClassKey>> FindCircles(const ClassKey& key,
                                               CompanionsOf of,
                                               RoundContext* context);

// The ways to place one task of each class of a circle, by the domains of the
// first, those with the most room for it first.
class CompanionPlaces {
 public:
  // What is passed must outlive this.  REQUIRES: something of each class waits,
  // and the state's peers are in sync.
  CompanionPlaces(std::vector<ClassKey> circle, RoundContext* context);

  // Places them the next way; the placements are the caller's to keep.  Returns
  // false where there is no other, or the looks for companions are spent; then
  // nothing is placed.
  // REQUIRES: nothing but former ways was placed since it was made, and these
  // were taken back.
  bool PlaceNext(Transaction* transaction);

 private:
  using Domains = std::vector<DomainIndex>;
  struct Place {
    int64_t room = 0;  // Of the first class in all of these domains together.
    std::vector<MachineId> machines;
  };

  // Those in which the first task, and whoever must be near it, are.
  Domains DomainsOf(MachineId machine) const;
  bool PlaceFrom(size_t index, MachineId machine, Transaction* transaction);
  // Where one that the task of the class must be near could be.
  std::vector<MachineId> NearTo(size_t index, MachineId machine) const;
  // Of these, those where the task of the class may be, beside all that is
  // placed and whoever it must be near.
  std::vector<MachineId> AllowedOf(std::span<const MachineId> machines,
                                   size_t index) const;
  std::span<CountedTerm* const> TermsOf(size_t index) const;

  const std::vector<ClassKey> circle_;
  RoundContext& context_;
  std::vector<const Task*> tasks_;   // The oldest of each class.
  std::vector<MachineId> machines_;  // Of those placed so far.
  std::vector<Place> places_;        // The next one last.
};

}  // namespace sluice

#endif  // SLUICE_CORE_COMPANIONS_H_
