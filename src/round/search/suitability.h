// Where a task may be moved at the end of a round, and how much it likes it
// there.
//
// Clients hear of moves last.  So a move must be legal after everything else,
// and everything else without the move.  A task with required affinity or
// spread stays where it is, and so does one that others must be near or that a
// required spread counts.  And less urgent tasks must not take room that a
// waiting task could use.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_SEARCH_SUITABILITY_H_
#define SLUICE_ROUND_SEARCH_SUITABILITY_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "constraints/class_peers.h"
#include "round/context/round_context.h"
#include "round/context/work_budget.h"
#include "round/search/movable_placements.h"

namespace sluice {

// The costs of a place, in order of importance.
struct Liking {
  Cost wishes = 0;    // Preference and peer costs.
  Cost siblings = 0;  // Sibling costs.
  Cost load = 0;

  Liking operator+(const Liking& other) const {
    return {wishes + other.wishes, siblings + other.siblings,
            load + other.load};
  }
  friend auto operator<=>(const Liking&, const Liking&) = default;
};

// What the rules of a class, and those of others about it, say about places.
struct View {
  bool is_movable = false;  // If false, all that follows is empty.
  // By kind of machines; the highest cost there is if it may not go there.
  std::vector<Cost> preference;
  // The kinds where it may go, the best first.
  std::vector<std::pair<Cost, size_t>> kinds;
  std::unique_ptr<ClassPeers> peers;  // Null if it depends on none.
  // Machines that it likes equally, whatever runs there; see FindParts().
  std::vector<std::vector<const Machine*>> parts;
  absl::flat_hash_map<MachineId, size_t> part_of;
  // The number of parts if it is in none.
  size_t PartOf(MachineId machine) const {
    const auto it = part_of.find(machine);
    return it == part_of.end() ? parts.size() : it->second;
  }
};

// True if a task with these rules may be moved, whatever others say about it.
bool LeaveMovable(const PlacementRules& rules);

// A task that looks for a place.
struct Seeker {
  const Task* task = nullptr;
  const View* view = nullptr;
  const Machine* home = nullptr;
  // The worth of its peers at home.  A place costs the amount by which they are
  // worth less there, or saves the amount by which they are worth more.
  int64_t worth = 0;
};

class Suitability {
 public:
  // All must outlive this.  REQUIRES: the state's peers are in sync.
  Suitability(RoundContext* context, MovablePlacements* placements,
              Allowance* work);

  // Kept current with the placements.  Valid as long as this is.
  View& ViewOf(const ClassKey& key);
  // REQUIRES: the class is movable.
  void FindParts(View* view);

  // A snapshot.  REQUIRES: its class is movable.
  Seeker SeekerOf(const Placement& one);
  // REQUIRES: the task is withdrawn, or it has no peers and this is not its
  // home.
  bool MayGo(const Seeker& seeker, const Machine& machine) const;
  // Without load.  A task that is not withdrawn counts among its own peers, but
  // not among its siblings.
  Liking LikingOf(const Seeker& seeker, const Machine& machine);
  // Twice its share of the cost of all preferences where it is: for preferences
  // between two tasks, each has half.  Only the part that differs from place to
  // place.
  Cost TwiceWishesOf(const Placement& one);
  // True if a more urgent waiting task may fit somewhere.
  bool IsAnyWaitingAbove(uint32_t priority) const {
    return waiting_.upper_bound(priority) != waiting_.end();
  }
  // What a task of a class that runs `there` adds to the seeker's preferences
  // `here`, as far as that does not depend on other tasks.
  Cost ShareOf(const Seeker& seeker, const ClassKey& other, MachineId there,
               MachineId here);
  Cost PreferenceOn(const View& view, const Machine& machine) const {
    return view.preference[static_cast<size_t>(eligibility_.KindOf(machine))];
  }

  // True if a waiting task might fit where the task is, were less urgent tasks
  // not there.
  bool MakesWay(const Placement& one);
  // True if a waiting task is more urgent than the first of these priorities,
  // and no more urgent than the second.
  bool IsAnyBetween(uint32_t less_urgent, uint32_t more_urgent) const;
  // A task has left room there.  Waiting tasks may have it first.
  void Vacate(MachineId machine) { vacated_.insert(machine); }

 private:
  void FindBinding();
  void FindWaiting();
  bool IsMovable(const ClassKey& key) const;
  Cost CostOf(const ClassPeers& peers, const ClassPeers::Share& share) const;

  RoundContext& context_;
  const ClusterState& state_;
  Eligibility& eligibility_;
  MovablePlacements& placements_;
  Allowance& work_;
  absl::flat_hash_set<uint32_t> binding_;  // Selectors.
  std::set<uint32_t> waiting_;             // Priorities.
  absl::flat_hash_set<MachineId> vacated_;
  absl::flat_hash_map<std::pair<const PlacementRules*, const SelectorSet*>,
                      std::unique_ptr<View>>
      views_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_SUITABILITY_H_
