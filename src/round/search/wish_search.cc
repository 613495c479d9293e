#include "round/search/wish_search.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "absl/container/flat_hash_set.h"

namespace sluice {
namespace {

constexpr int kTurnsMax = 16;
// A task may come back to where it was, as others move, too.  But if one wants
// to be near another, and that one away from it, they would move to and fro.
constexpr int kLeavesMax = 2;

constexpr uint32_t kHighest = std::numeric_limits<uint32_t>::max();

}  // namespace

int64_t WishSearch::Run(std::span<const size_t> wishing) {
  const int64_t begin = changes_;
  for (int turn = 0; turn < kTurnsMax; ++turn) {
    const int64_t before = changes_;
    // What is found with less effort may make the rest unnecessary.
    for (const Way way : {Way::kMove, Way::kExchange, Way::kDisplace}) {
      for (const size_t i : wishing) {
        if (MoveToBetter(i, way)) ++changes_;
      }
    }
    if (changes_ == before) break;
  }
  return changes_ - begin;
}

bool WishSearch::WouldAnyRather(std::span<const size_t> wishing) {
  absl::flat_hash_set<Spot> seen;
  return std::ranges::any_of(wishing, [&](size_t i) {
    const Placement& one = placements_[i];
    View& view = suitability_.ViewOf(one.task->class_key);
    if (!view.is_movable) return false;
    suitability_.FindParts(&view);
    bool leaves_out = false;
    return seen.insert({&view, view.PartOf(one.machine)}).second &&
           (!FindBetterParts(suitability_.SeekerOf(one), &leaves_out).empty() ||
            leaves_out);
  });
}

bool WishSearch::PlaceBest(size_t index) {
  const Seeker seeker = suitability_.SeekerOf(placements_[index]);
  const auto& parts = seeker.view->parts;
  std::vector<std::pair<Cost, size_t>> order;
  for (size_t i = 0; i < parts.size(); ++i) {
    order.emplace_back(suitability_.LikingOf(seeker, *parts[i].front()).wishes,
                       i);
  }
  std::ranges::sort(order);
  constexpr Cost kNever = std::numeric_limits<Cost>::max();
  Choice choice = {.seeker = seeker, .liking = {.wishes = kNever}};
  for (const auto& [wishes, part] : order) {
    if (choice.liking.wishes < wishes) break;
    for (const Machine* machine : parts[part]) {
      work_.Spend(1);
      if (Fits(seeker, *machine)) relocator_.Consider(*machine, &choice);
    }
  }
  if (choice.liking.wishes == kNever) return false;
  placements_.Place(index, choice.machine);
  ++changes_;
  return true;
}

bool WishSearch::MoveToBetter(size_t index, Way way) {
  const Placement one = placements_[index];
  if (IsSpent()) return false;
  const ClassKey& key = one.task->class_key;
  View& view = suitability_.ViewOf(key);
  if (!view.is_movable) return false;
  suitability_.FindParts(&view);
  const size_t home = view.PartOf(one.machine);
  const Alike alike = {
      &view, key.priority, key.request,
      way,   home,         way == Way::kExchange ? one.machine : MachineId()};
  work_.Spend(1);
  if (const auto it = vain_.find(alike);
      it != vain_.end() && it->second == changes_) {
    return false;
  }
  if (suitability_.MakesWay(one)) return false;
  bool leaves_out = false;
  const std::vector<size_t> better =
      FindBetterParts(suitability_.SeekerOf(one), &leaves_out);
  const bool has_moved =
      MoveIntoRoom(index, better) ||
      (way != Way::kMove && std::ranges::any_of(better, [&](size_t part) {
         return TakePlaceOn(index, part, way);
       }));
  if (has_moved) {
    ++left_[{one.task, home}];
  } else if (!leaves_out && !IsSpent()) {
    vain_[alike] = changes_;
  }
  return has_moved;
}

std::vector<size_t> WishSearch::FindBetterParts(const Seeker& seeker,
                                                bool* leaves_out) {
  std::vector<std::pair<Cost, size_t>> better;
  const auto& parts = seeker.view->parts;
  const Cost here = CostOn(seeker, *seeker.home);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Cost gain = here - CostOn(seeker, *parts[i].front());
    if (gain <= 0) continue;
    const auto left = left_.find({seeker.task, i});
    if (left != left_.end() && left->second >= kLeavesMax) {
      *leaves_out = true;
    } else {
      better.emplace_back(-gain, i);
    }
  }
  std::ranges::sort(better);
  const auto indices = std::views::values(better);
  return {indices.begin(), indices.end()};
}

// Moves it to a machine with room, in the best of the parts that have any.
bool WishSearch::MoveIntoRoom(size_t index, std::span<const size_t> better) {
  const Placement one = placements_[index];
  const Seeker seeker = suitability_.SeekerOf(one);
  if (std::ranges::none_of(
          better, [&](size_t part) { return HasRoomIn(seeker, part); })) {
    return false;
  }
  return relocator_.Move(index, [&](Choice* choice) {
    for (const size_t part : better) {
      for (const Machine* machine : seeker.view->parts[part]) {
        work_.Spend(1);
        if (Fits(seeker, *machine)) relocator_.Consider(*machine, choice);
      }
      if (choice->machine != one.machine) break;
    }
  });
}

bool WishSearch::HasRoomIn(const Seeker& seeker, size_t part) {
  work_.Spend(1);
  const auto [it, is_new] = full_.try_emplace(
      {seeker.view, part, seeker.task->class_key.request}, -1);
  if (it->second == changes_) return false;
  for (const Machine* machine : seeker.view->parts[part]) {
    work_.Spend(1);
    if (Fits(seeker, *machine)) return true;
  }
  it->second = changes_;
  return false;
}

// What its preferences would cost on a machine; it does not count itself where
// it is.
Cost WishSearch::CostOn(const Seeker& seeker, const Machine& machine) {
  return suitability_.LikingOf(seeker, machine).wishes -
         suitability_.ShareOf(seeker, seeker.task->class_key, seeker.home->id,
                              machine.id);
}

// What the seeker, where it is, adds to the other's gain from taking its place.
Cost WishSearch::AddedToGain(const Seeker& seeker, const Seeker& other,
                             MachineId there) {
  const ClassKey& key = other.task->class_key;
  return suitability_.ShareOf(seeker, key, there, seeker.home->id) -
         suitability_.ShareOf(seeker, key, there, other.home->id);
}

std::vector<size_t> WishSearch::FindExits(const Seeker& first,
                                          const Seeker& second,
                                          Cost gain_of_first) {
  std::vector<std::pair<Cost, size_t>> exits;
  const auto& parts = second.view->parts;
  // The second one goes first.
  const Cost fixed = gain_of_first + CostOn(second, *second.home) -
                     AddedToGain(first, second, second.home->id);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Machine& there = *parts[i].front();
    const Cost gain =
        fixed - CostOn(second, there) + AddedToGain(first, second, there.id);
    if (gain > 0) exits.emplace_back(-gain, i);
  }
  std::ranges::sort(exits);
  const auto indices = std::views::values(exits);
  return {indices.begin(), indices.end()};
}

// Takes the place of a task on one of the machines of the part.
bool WishSearch::TakePlaceOn(size_t index, size_t part, Way way) {
  const Placement one = placements_[index];
  const Seeker first = suitability_.SeekerOf(one);
  const auto& machines = first.view->parts[part];
  const Cost gain =
      CostOn(first, *first.home) - CostOn(first, *machines.front());
  Exits exits;
  for (const Machine* machine : machines) {
    for (const size_t other : placements_.On(machine->id)) {
      if (IsSpent()) return false;
      work_.Spend(1);
      const Placement two = placements_[other];
      if (!MayFitInPlaceOf(two, one) ||
          (way == Way::kExchange && !MayFitInPlaceOf(one, two))) {
        continue;
      }
      View& view = suitability_.ViewOf(two.task->class_key);
      // Twins gain nothing by taking each other's place.
      if (!view.is_movable || &view == first.view) continue;
      suitability_.FindParts(&view);
      const auto [it, is_new] =
          exits.try_emplace({&view, view.PartOf(machine->id)});
      if (is_new) {
        it->second = FindExits(first, suitability_.SeekerOf(two), gain);
      }
      if (TakePlaceOf(index, other, it->second, way)) return true;
    }
  }
  return false;
}

bool WishSearch::TakePlaceOf(size_t index, size_t other,
                             const std::vector<size_t>& exits, Way way) {
  const Seeker first = suitability_.SeekerOf(placements_[index]);
  const Seeker second = suitability_.SeekerOf(placements_[other]);
  if (way == Way::kExchange) {
    return std::ranges::find(exits, second.view->PartOf(first.home->id)) !=
               exits.end() &&
           ExchangeIfBetter(index, other);
  }
  for (const size_t part : exits) {
    if (!HasRoomIn(second, part)) continue;
    for (const Machine* to : second.view->parts[part]) {
      if (IsSpent()) return false;
      work_.Spend(1);
      if (to != first.home && to != second.home && Fits(second, *to) &&
          DisplaceIfBetter(index, other, *to)) {
        return true;
      }
    }
  }
  return false;
}

bool WishSearch::MayFitInPlaceOf(const Placement& leaver,
                                 const Placement& comer) const {
  Resources free = state_.FindMachine(leaver.machine)->Free();
  free += leaver.task->class_key.request;
  return comer.task->class_key.request.FitsIn(free);
}

// Swaps the two if both may go there and that is liked better.
bool WishSearch::ExchangeIfBetter(size_t a, size_t b) {
  const Placement one = placements_[a];
  const Placement other = placements_[b];
  const auto [lower, higher] =
      std::minmax(one.task->class_key.priority, other.task->class_key.priority);
  return !suitability_.MakesWay(other) &&
         !suitability_.IsAnyBetween(lower, higher) &&
         SwapIfBetter(a, b, *state_.FindMachine(one.machine));
}

// The first goes to the second's place, and the second to a machine with room.
bool WishSearch::DisplaceIfBetter(size_t a, size_t b, const Machine& to) {
  const Placement one = placements_[a];
  const Placement other = placements_[b];
  const uint32_t lower =
      std::min(one.task->class_key.priority, other.task->class_key.priority);
  // Waiting tasks may take the room first.
  if (suitability_.MakesWay(other) ||
      suitability_.IsAnyBetween(lower, kHighest) || !SwapIfBetter(a, b, to)) {
    return false;
  }
  suitability_.Vacate(one.machine);
  suitability_.Vacate(other.machine);
  return true;
}

bool WishSearch::SwapIfBetter(size_t a, size_t b, const Machine& to) {
  const Placement one = placements_[a];
  const Placement other = placements_[b];
  // What they are worth to each other counts with the second of them.
  placements_.Withdraw(b);
  const Seeker second = suitability_.SeekerOf(other);
  const Liking second_before = suitability_.LikingOf(second, *second.home);
  placements_.Withdraw(a);
  const Seeker first = suitability_.SeekerOf(one);
  const Liking before =
      second_before + suitability_.LikingOf(first, *first.home);
  if (suitability_.MayGo(first, *second.home) &&
      suitability_.MayGo(second, to)) {
    const Liking first_after = suitability_.LikingOf(first, *second.home);
    placements_.Place(a, other.machine);
    if (first_after + suitability_.LikingOf(second, to) < before &&
        suitability_.MayGo(second, to)) {
      placements_.Place(b, to.id);
      return true;
    }
    placements_.Withdraw(a);
  }
  placements_.Place(a, one.machine);
  placements_.Place(b, other.machine);
  return false;
}

}  // namespace sluice
