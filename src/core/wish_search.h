// The search that moves what a round has placed so that more of what its tasks
// wish of each other is met.
//
// From where things are it goes on as long as something lowers the preference
// and peer costs of those that move: a task goes elsewhere, or in the place of
// another, which goes where the first was, or to a third machine.  What that
// gains is known before anybody moves: machines of a part (core/suitability.h)
// are liked the same, and what two tasks add to each other's wishes does not
// depend on the others.  So little is tried in vain.
//
// Threads: none; confined to the core thread.  Determinism: looks are counted,
// not time.

#ifndef SLUICE_CORE_WISH_SEARCH_H_
#define SLUICE_CORE_WISH_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/movable_placements.h"
#include "core/relocator.h"
#include "core/suitability.h"

namespace sluice {

class WishSearch {
 public:
  // All must outlive this.  It ends where no more than `looks_kept` are left.
  WishSearch(RoundContext* context, MovablePlacements* placements,
             Suitability* suitability, int64_t* looks_left, int64_t looks_kept)
      : state_(context->state),
        placements_(*placements),
        suitability_(*suitability),
        relocator_(context->policies, placements, suitability, looks_left),
        looks_left_(*looks_left),
        looks_kept_(looks_kept) {}

  // Of these, by index.  Returns how many moves it made.
  int64_t Run(std::span<const size_t> wishing);
  // Whether one of them would cost less elsewhere, if there were room.
  bool WouldAnyRather(std::span<const size_t> wishing);
  // Places a task that is withdrawn where it is liked best, and returns whether
  // it may go anywhere.
  bool PlaceBest(size_t index);
  // To be called where something else has moved tasks.
  void Forget() {
    ++changes_;
    left_.clear();
  }

  bool IsSpent() const { return !HasLooks(0); }
  // Whether there are more.
  bool HasLooks(int64_t looks) const {
    return looks_left_ - looks > looks_kept_;
  }

 private:
  // What is tried for a task, each with those before it.
  enum class Way { kMove, kExchange, kDisplace };

  // Tasks of which one is as good as another, in the same place: a machine, or
  // where its room makes no difference a part.
  using Alike =
      std::tuple<const View*, uint32_t, Resources, Way, size_t, MachineId>;
  // A part of a view.
  using Spot = std::pair<const View*, size_t>;
  // Of the tasks in a spot: the parts that it pays for one of them to go to, if
  // another comes in its place, the best first.
  using Exits = absl::flat_hash_map<Spot, std::vector<size_t>>;

  bool MoveToBetter(size_t index, Way way);
  bool MoveIntoRoom(size_t index, std::span<const size_t> better);
  bool TakePlaceOn(size_t index, size_t part, Way way);
  bool TakePlaceOf(size_t index, size_t other, const std::vector<size_t>& exits,
                   Way way);
  bool ExchangeIfBetter(size_t a, size_t b);
  bool DisplaceIfBetter(size_t a, size_t b, const Machine& to);
  bool SwapIfBetter(size_t a, size_t b, const Machine& to);

  // Where wishes cost less than at home, the best first.  None that it has left
  // twice: of these it is told whether there are any.
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
  int64_t& looks_left_;
  const int64_t looks_kept_;
  int64_t changes_ = 0;  // So many times somebody moved.
  // What was tried in vain, and how many changes there had been by then.
  absl::flat_hash_map<Alike, int64_t> vain_;
  // The same of looks for room.
  absl::flat_hash_map<std::tuple<const View*, size_t, Resources>, int64_t>
      full_;
  // How often a task has left a part of its view.
  absl::flat_hash_map<std::pair<const Task*, size_t>, int> left_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_WISH_SEARCH_H_
