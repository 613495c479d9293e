#include "network/leader_room.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

// What a class that needs a leader finds in a domain or, if machines are
// domains, on each machine of a group.
struct Place {
  Cost preference = std::numeric_limits<Cost>::max();  // The lowest.
  int64_t room = 0;                                    // In tasks.
  int64_t domains = 1;
  std::vector<size_t> groups;
};
using Places = std::map<std::pair<const Topology*, int64_t>, Place>;

// How many should have room where the first one goes.
int64_t WantedBy(const BandClass& band_class) {
  return std::max<int64_t>(band_class.followers, 1);
}

// By class that needs a leader: the places it may choose from.
std::vector<Places> FindPlaces(
    std::span<const MachineGroup> groups, std::span<const BandClass> classes,
    const ConstraintSet& constraints,
    std::span<const std::vector<Interest>> interests) {
  std::vector<Places> places(classes.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    const Machine& machine = groups[g].representative();
    for (const auto& [i, preference] :
         interests[static_cast<size_t>(groups[g].kind)]) {
      const BandClass& band_class = classes[i];
      if (band_class.peers == nullptr || !band_class.peers->NeedsLeader() ||
          !constraints.AllowsLoad(band_class.key, machine, groups[g].free) ||
          !band_class.peers->Allows(machine)) {
        continue;
      }
      const Topology* topology = band_class.peers->LeaderTopology();
      const int64_t fit =
          TimesIn(groups[g].free, band_class.key, WantedBy(band_class));
      const bool is_by_machine = topology->is_by_machine();
      Place& place =
          places[i][{topology, is_by_machine ? static_cast<int64_t>(g)
                                             : topology->DomainOf(machine.id)}];
      place.preference = std::min(place.preference, preference);
      place.room += is_by_machine ? fit : fit * groups[g].size();
      if (is_by_machine) place.domains = groups[g].size();
      if (band_class.IsOpen(g)) place.groups.push_back(g);
    }
  }
  return places;
}

}  // namespace

std::vector<std::vector<bool>> FindRoomForLeaders(
    std::span<const MachineGroup> groups, std::span<const BandClass> classes,
    const ConstraintSet& constraints,
    std::span<const std::vector<Interest>> interests) {
  std::vector<std::vector<bool>> has_room(classes.size());
  if (std::ranges::none_of(classes, [](const BandClass& band_class) {
        return band_class.peers != nullptr && band_class.peers->NeedsLeader();
      })) {
    return has_room;
  }
  const std::vector<Places> places =
      FindPlaces(groups, classes, constraints, interests);
  // How full the followers of earlier leaders make each place, in parts of
  // kFull.
  std::map<Places::key_type, int64_t> taken;
  constexpr int64_t kFull = 1 << 20;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (std::ranges::all_of(places[i], [](const auto& entry) {
          return entry.second.groups.empty();
        })) {
      continue;
    }
    has_room[i].resize(groups.size(), false);
    const auto allow = [&](const Place& place) {
      for (const size_t g : place.groups) has_room[i][g] = true;
    };
    const int64_t wanted = WantedBy(classes[i]);
    if (classes[i].gang_minimum > 0) {
      // Which one is decided with all else.
      for (const auto& [id, place] : places[i]) {
        if (place.room >= wanted) allow(place);
      }
      continue;
    }
    std::optional<std::tuple<bool, Cost, int64_t>> best;
    Places::key_type best_id;
    int64_t best_part = 0;
    for (const auto& [id, place] : places[i]) {
      if (place.groups.empty()) continue;
      const int64_t part = wanted * kFull / std::max<int64_t>(place.room, 1);
      const int64_t full = (taken[id] + part) / place.domains;
      const std::tuple rank(full > kFull, place.preference, full);
      if (best.has_value() && rank >= *best) continue;
      best = rank;
      best_id = id;
      best_part = part;
    }
    taken[best_id] += best_part;
    allow(places[i].at(best_id));
  }
  return has_room;
}

}  // namespace sluice
