// The search that moves a round's placements to meet more of the preferences
// between their tasks.
//
// It goes on as long as a step lowers the preference and peer costs of the
// tasks that move.  A task goes elsewhere, or takes the place of another, which
// goes where the first one was, or to a third machine.  The gain is known
// before any task moves: a task likes all machines of a part
// (round/search/suitability.h) equally, and what two tasks add to each other's
// preferences does not depend on other tasks.  So few attempts are in vain.
//
// Threads: none; confined to the core thread.  Determinism: the budget counts
// work, not time.

#ifndef SLUICE_ROUND_SEARCH_WISH_SEARCH_H_
#define SLUICE_ROUND_SEARCH_WISH_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "round/context/work_budget.h"
#include "round/search/movable_placements.h"
#include "round/search/relocator.h"
#include "round/search/suitability.h"

namespace sluice {

class WishSearch {
 public:
  // All must outlive this.  It ends when at most `work_kept` are left.
  WishSearch(RoundContext* context, MovablePlacements* placements,
             Suitability* suitability, Allowance* work, int64_t work_kept)
      : state_(context->state),
        placements_(*placements),
        suitability_(*suitability),
        relocator_(context->policies, placements, suitability, work),
        work_(*work),
        work_kept_(work_kept) {}

  // Runs on the tasks with these indices.  Returns how many moves it made.
  int64_t Run(std::span<const size_t> wishing);
  // True if one of them would cost less elsewhere, if there were room.
  bool WouldAnyRather(std::span<const size_t> wishing);
  // Places a withdrawn task in its best place.  Returns false if there is none.
  bool PlaceBest(size_t index);
  // Call it when something else has moved tasks.
  void Forget() {
    ++changes_;
    left_.clear();
  }

  bool IsSpent() const { return !HasWork(0); }
  // True if more than that are left.
  bool HasWork(int64_t work) const { return work_.left() - work > work_kept_; }

 private:
  // What is tried for a task; each includes the ones before it.
  enum class Way { kMove, kExchange, kDisplace };

  // Interchangeable tasks in the same place: a machine, or a part if its room
  // makes no difference.
  using Alike =
      std::tuple<const View*, uint32_t, Resources, Way, size_t, MachineId>;
  // A part of a view.
  using Spot = std::pair<const View*, size_t>;
  // For the tasks in a spot: the parts to which one of them gains by going, if
  // another one comes in its place; the best first.
  using Exits = absl::flat_hash_map<Spot, std::vector<size_t>>;

  bool MoveToBetter(size_t index, Way way);
  bool MoveIntoRoom(size_t index, std::span<const size_t> better);
  bool TakePlaceOn(size_t index, size_t part, Way way);
  bool TakePlaceOf(size_t index, size_t other, const std::vector<size_t>& exits,
                   Way way);
  bool ExchangeIfBetter(size_t a, size_t b);
  bool DisplaceIfBetter(size_t a, size_t b, const Machine& to);
  bool SwapIfBetter(size_t a, size_t b, const Machine& to);

  // The parts where preferences cost less than at home, the best first.
  // Excludes parts that it has left twice; `leaves_out` says whether there are
  // any.
  std::vector<size_t> FindBetterParts(const Seeker& seeker, bool* leaves_out);
  std::vector<size_t> FindExits(const Seeker& first, const Seeker& second,
                                Cost gain_of_first);
  Cost CostOn(const Seeker& seeker, const Machine& machine);
  Cost AddedToGain(const Seeker& seeker, const Seeker& other, MachineId there);
  bool Fits(const Seeker& seeker, const Machine& machine) const {
    return seeker.task->class_key.request.FitsIn(machine.Free());
  }
  bool HasRoomIn(const Seeker& seeker, size_t part);
  bool MayFitInPlaceOf(const Placement& leaver, const Placement& comer) const;

  const ClusterState& state_;
  MovablePlacements& placements_;
  Suitability& suitability_;
  Relocator relocator_;
  Allowance& work_;
  const int64_t work_kept_;
  int64_t changes_ = 0;  // How many times a task moved.
  // What was tried in vain, and the number of changes at that time.
  absl::flat_hash_map<Alike, int64_t> vain_;
  // The same for searches for room.
  absl::flat_hash_map<std::tuple<const View*, size_t, Resources>, int64_t>
      full_;
  // How often a task has left a part of its view.
  absl::flat_hash_map<std::pair<const Task*, size_t>, int> left_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_WISH_SEARCH_H_
