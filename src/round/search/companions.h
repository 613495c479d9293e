// Classes that wait for each other in a circle: each must be near tasks of the
// next one, the last near those of the first.
//
// Kubernetes lets such pods wait forever.  Here one task of each class is
// placed at once, or none.  Then each is near the tasks it must be near, and
// the rest of their classes are placed like any class that must be near running
// tasks.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_SEARCH_COMPANIONS_H_
#define SLUICE_ROUND_SEARCH_COMPANIONS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "constraints/class_peers.h"
#include "round/context/round_context.h"
#include "round/context/transaction.h"
#include "sluice/state/task.h"

namespace sluice {

// Which circles are looked for.
enum class CompanionsOf {
  // Of classes that no running task could be company to.
  kNobody,
  // Of any class that waits and whose job does not run.  Possible company may
  // run, but without room nearby, for example.
  kAnybody,
};

// Circles with the class, in which each class must be near the next.  With
// kNobody there is no circle if a task that waits by itself must come first.
// If a class may be near several others, those of its gang come first.  A
// circle has at most eight classes, and at most eight circles are found.  Looks
// at each waiting class once per class of a circle.
std::vector<std::vector<ClassKey>> FindCircles(const ClassKey& key,
                                               CompanionsOf of,
                                               RoundContext* context);

// The ways to place one task of each class of a circle, one per set of domains
// of the first class.  Those with the most room for that class come first.
class CompanionPlaces {
 public:
  // What is passed must outlive this.  REQUIRES: something of each class waits,
  // and the state's peers are in sync.
  CompanionPlaces(std::vector<ClassKey> circle, RoundContext* context);

  // Places the circle in the next way; the caller decides whether to keep the
  // placements.  Returns false and places nothing if there is no other way, or
  // the work for companions is spent.  REQUIRES: since construction nothing
  // was placed but earlier ways, and these were rolled back.
  bool PlaceNext(Transaction* transaction);

 private:
  using Domains = std::vector<DomainIndex>;
  struct Place {
    int64_t room = 0;  // For the first class, over all of these domains.
    std::vector<MachineId> machines;
  };

  // The domains that the first task and the tasks it must be near share.
  Domains DomainsOf(MachineId machine) const;
  bool PlaceFrom(size_t index, MachineId machine, Transaction* transaction);
  // Where a task that this class must be near could be.
  std::vector<MachineId> NearTo(size_t index, MachineId machine) const;
  // Of these machines, those that may take a task of the class, given all that
  // is placed and the tasks it must be near.
  std::vector<MachineId> AllowedOf(std::span<const MachineId> machines,
                                   size_t index) const;
  std::span<CountedTerm* const> TermsOf(size_t index) const;

  const std::vector<ClassKey> circle_;
  RoundContext& context_;
  std::vector<const Task*> tasks_;   // The oldest of each class.
  std::vector<MachineId> machines_;  // Of the tasks placed so far.
  std::vector<Place> places_;        // The next one last.
};

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_COMPANIONS_H_
