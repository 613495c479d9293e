#include "round/search/wish_restarts.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "base/rng.h"

namespace sluice {
namespace {

// With few tasks, the work allows more attempts, but so few tasks need no more.
constexpr uint64_t kAttemptsMax = 32;
// The minimum work of an attempt per task.
constexpr int64_t kWorkPerTask = 300;
// How many machines to take tasks from if not all can be.
constexpr size_t kFewMachines = 6;

}  // namespace

int64_t WishRestarts::Run(std::span<const size_t> wishing) {
  if (!search_.WouldAnyRather(wishing)) return 0;
  const auto is_movable = [this](size_t i) {
    return suitability_.ViewOf(placements_[i].task->class_key).is_movable;
  };
  for (size_t i = 0; i < placements_.size(); ++i) {
    if (is_movable(i)) movable_.push_back(i);
    homes_.push_back(placements_[i].machine);
  }
  std::ranges::copy_if(wishing, std::back_inserter(wishing_), is_movable);
  if (wishing_.size() < 2) return 0;
  // More urgent tasks might get the room first that a task leaves.
  uint32_t least = std::numeric_limits<uint32_t>::max();
  for (const size_t i : movable_) {
    least = std::min(least, placements_[i].task->class_key.priority);
  }
  if (suitability_.IsAnyWaitingAbove(least)) return 0;
  const std::vector<MachineId> before = homes_;
  best_ = CostOfAll();
  bool has_room_for_all = true;
  for (uint64_t attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const std::vector<size_t> some =
        has_room_for_all ? InOrder(attempt) : OnFewMachines(attempt);
    if (!search_.HasWork(std::ssize(some) * kWorkPerTask)) break;
    if (!TryAnew(some)) has_room_for_all = false;
  }
  int64_t moved = 0;
  for (const size_t i : movable_) moved += homes_[i] == before[i] ? 0 : 1;
  return moved;
}

// All of them.  Either those with the largest requests come first, or the tasks
// are sorted by class, or they are in random order.
std::vector<size_t> WishRestarts::InOrder(uint64_t attempt) {
  const std::span<const size_t> all = Candidates(attempt);
  std::vector<size_t> order(all.begin(), all.end());
  Rng(attempt).Shuffle(order);
  const auto key_of = [this](size_t i) -> const ClassKey& {
    return placements_[i].task->class_key;
  };
  if (attempt % 3 == 0) {
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      return key_of(b).request < key_of(a).request;
    });
  } else if (attempt % 3 == 1) {
    std::map<const View*, size_t> turns;
    for (const size_t i : order) {
      turns.try_emplace(&suitability_.ViewOf(key_of(i)), turns.size());
    }
    std::ranges::stable_sort(order, {}, [&](size_t i) {
      return turns.at(&suitability_.ViewOf(key_of(i)));
    });
  }
  return order;
}

std::vector<size_t> WishRestarts::OnFewMachines(uint64_t attempt) {
  const std::span<const size_t> all = Candidates(attempt);
  std::vector<size_t> some(all.begin(), all.end());
  Rng(attempt).Shuffle(some);
  absl::flat_hash_set<MachineId> machines;
  for (const size_t i : some) {
    if (machines.size() == kFewMachines) break;
    machines.insert(placements_[i].machine);
  }
  std::erase_if(some, [&](size_t i) {
    return !machines.contains(placements_[i].machine);
  });
  return some;
}

// Returns true if there was room for them.
bool WishRestarts::TryAnew(std::span<const size_t> some) {
  const bool has_room = PlaceAgain(some);
  search_.Forget();
  if (!has_room) return false;
  search_.Run(wishing_);
  if (const Cost cost = CostOfAll(); cost < best_) {
    best_ = cost;
    for (const size_t i : movable_) homes_[i] = placements_[i].machine;
  } else {
    std::vector<size_t> away;
    for (const size_t i : movable_) {
      if (placements_[i].machine != homes_[i]) away.push_back(i);
    }
    for (const size_t i : away) placements_.Withdraw(i);
    for (const size_t i : away) placements_.Place(i, homes_[i]);
    search_.Forget();
  }
  return true;
}

// Returns true if all of them found room; otherwise they are where they were.
bool WishRestarts::PlaceAgain(std::span<const size_t> some) {
  for (const size_t i : some) placements_.Withdraw(i);
  search_.Forget();
  size_t placed = 0;
  while (placed < some.size() && search_.PlaceBest(some[placed])) ++placed;
  if (placed == some.size()) return true;
  for (const size_t i : some.first(placed)) placements_.Withdraw(i);
  for (const size_t i : some) placements_.Place(i, homes_[i]);
  return false;
}

Cost WishRestarts::CostOfAll() {
  Cost cost = 0;
  for (const size_t i : movable_) {
    cost += suitability_.TwiceWishesOf(placements_[i]);
  }
  return cost;
}

}  // namespace sluice
