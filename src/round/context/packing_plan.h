// What a packing decided, for the passes that carry it out.
//
// Threads: values.

#ifndef SLUICE_ROUND_CONTEXT_PACKING_PLAN_H_
#define SLUICE_ROUND_CONTEXT_PACKING_PLAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "round/together/gangs.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"

namespace sluice {

// The priorities that are decided on, as levels of a packing.
struct PackingLevels {
  // The lowest priority of each level, descending.
  std::vector<uint32_t> lowest;
  // True if all priorities below these form one more level.
  bool has_rest = false;

  // `waits` maps each priority to whether a task of it waits.  Those above the
  // first one that does form one level, since there is nothing to decide
  // between them.
  static PackingLevels Of(const std::map<uint32_t, bool, std::greater<>>& waits,
                          size_t levels_max, bool has_rest) {
    PackingLevels levels;
    levels.has_rest = has_rest;
    bool has_any_waited = false;
    for (const auto& [priority, has_waiting] : waits) {
      if (!levels.lowest.empty() && !has_any_waited && !has_waiting) {
        levels.lowest.back() = priority;
        continue;
      }
      if (levels.lowest.size() == levels_max) break;
      levels.lowest.push_back(priority);
      has_any_waited = has_any_waited || has_waiting;
    }
    return levels;
  }

  // Nullopt if the priority is below all levels.
  std::optional<size_t> LevelOf(uint32_t priority) const {
    const auto it =
        std::ranges::lower_bound(lowest, priority, std::ranges::greater());
    if (it == lowest.end() && !has_rest) return std::nullopt;
    return static_cast<size_t>(it - lowest.begin());
  }
};

// What machines are to hold.
struct MachinePatterns {
  // Indices into `patterns`, plus one.
  absl::flat_hash_map<MachineId, uint32_t> of_machine;
  std::vector<std::map<ClassKey, int64_t>> patterns;
};

struct PackingPlan {
  MachinePatterns patterns;
  std::vector<ClassKey> classes;      // Of all tiers.
  std::vector<Gangs::Waiting> gangs;  // Planned or waiting.
  // A gang is placed at once, with the most urgent of its tasks.  So are
  // classes that cannot do without each other.
  std::map<JobId, uint32_t> tier_of_gang;
  std::map<ClassKey, uint32_t> tier_of_raised;
  // The classes that need others beside them, with their depth: 1 if those
  // others need nobody, or are no part of the plan; 2 if they are of depth 1;
  // and so on.
  std::map<ClassKey, size_t> followers;
  // True if all that waits or was placed takes part.
  bool is_complete = false;
  // Version of the state, as long as only the plan has changed it.
  uint64_t version = 0;

  // 0 if the class needs nobody.
  size_t FollowingDepth(const ClassKey& key) const {
    const auto it = followers.find(key);
    return it == followers.end() ? 0 : it->second;
  }
  // The priority of the tier that places the class.
  uint32_t TierOf(const ClassKey& key) const {
    const auto it = key.gang.has_value() ? tier_of_gang.find(*key.gang)
                                         : tier_of_gang.end();
    if (it != tier_of_gang.end()) return it->second;
    const auto raised = tier_of_raised.find(key);
    return raised == tier_of_raised.end() ? key.priority : raised->second;
  }
  // Places the class, or its gang, no later than in this tier.  Returns true if
  // it was to be placed later.
  bool RaiseTo(uint32_t tier, const ClassKey& key) {
    if (TierOf(key) >= tier) return false;
    if (key.gang.has_value()) {
      tier_of_gang[*key.gang] = tier;
    } else {
      tier_of_raised[key] = tier;
    }
    return true;
  }
  // True if all that can be done for the tier is in the plan, together with
  // something less urgent.
  bool DecidesOnBelow(uint32_t priority) const {
    return is_complete && std::ranges::any_of(classes, [&](const auto& key) {
             return TierOf(key) < priority;
           });
  }
  // True if it places anything in this tier or a lower one.
  bool PlacesFrom(uint32_t priority) const {
    return std::ranges::any_of(patterns.patterns, [&](const auto& holds) {
      return std::ranges::any_of(holds, [&](const auto& entry) {
        return TierOf(entry.first) <= priority;
      });
    });
  }
};

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_PACKING_PLAN_H_
