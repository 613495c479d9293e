#include "round/together/planned_spreads.h"

#include <algorithm>
#include <cstddef>

#include "state/topology.h"

namespace sluice {
namespace {

// Nullopt if the machine is in no domain that counts.
std::optional<size_t> DomainOf(const TopologySpread& spread,
                               MachineId machine) {
  const DomainIndex domain = spread.topology().DomainOf(machine);
  if (domain == kNoDomain) return std::nullopt;
  const auto index = static_cast<size_t>(domain);
  return spread.counts()[index] < 0 ? std::nullopt : std::optional(index);
}

}  // namespace

void PlannedSpreads::Watch(const ClassKey& key) {
  if (by_rules_.contains(key.rules->id)) return;
  for (size_t i = 0; i < key.rules->spread.size(); ++i) {
    if (!key.rules->spread[i].is_required) continue;
    const TopologySpread now(*state_, *constraints_, key, i);
    const size_t domains = now.counts().size();
    by_rules_[key.rules->id].push_back(
        {now, now, std::vector<std::map<uint32_t, int64_t>>(domains),
         std::vector<int64_t>(domains, 0)});
  }
}

void PlannedSpreads::Withdraw(const Task& running) {
  for (auto& [rules, spreads] : by_rules_) {
    for (Spread& spread : spreads) {
      spread.before.Note(running.class_key, running.machine, -1);
      spread.after.Note(running.class_key, running.machine, -1);
    }
  }
}

void PlannedSpreads::Reset() {
  for (auto& [rules, spreads] : by_rules_) {
    for (Spread& spread : spreads) {
      spread.after = spread.before;
      for (auto& coming : spread.coming) coming.clear();
      std::ranges::fill(spread.leaving, 0);
    }
  }
}

void PlannedSpreads::Come(const ClassKey& key, MachineId machine,
                          int64_t count) {
  for (auto& [rules, spreads] : by_rules_) {
    for (Spread& spread : spreads) {
      spread.after.Note(key, machine, count);
      const auto domain = DomainOf(spread.after, machine);
      if (rules != key.rules->id || !domain.has_value()) continue;
      auto& coming = spread.coming[*domain];
      coming[key.priority] += count;
      if (coming[key.priority] <= 0) coming.erase(key.priority);
    }
  }
}

void PlannedSpreads::Leave(const Task& running, int64_t count) {
  for (auto& [rules, spreads] : by_rules_) {
    for (Spread& spread : spreads) {
      if (!spread.after.Means(running.class_key) ||
          !spread.after.Counts(running.machine)) {
        continue;
      }
      const auto domain = DomainOf(spread.after, running.machine);
      if (!domain.has_value()) continue;
      spread.after.Note(running.class_key, running.machine, -count);
      spread.leaving[*domain] += count;
    }
  }
}

bool PlannedSpreads::Allow(const ClassKey& key, MachineId machine) const {
  const auto it = by_rules_.find(key.rules->id);
  if (it == by_rules_.end()) return true;
  return std::ranges::all_of(it->second, [&](const Spread& spread) {
    const auto domain = DomainOf(spread.after, machine);
    return domain.has_value() &&
           spread.after.counts()[*domain] - spread.after.minimum() <=
               spread.after.constraint().max_skew;
  });
}

std::optional<uint32_t> PlannedSpreads::HighestAgainst(
    const Task& leaving) const {
  std::optional<uint32_t> highest;
  for (const auto& [rules, spreads] : by_rules_) {
    for (const Spread& spread : spreads) {
      const TopologySpread& after = spread.after;
      if (!after.Means(leaving.class_key) || !after.Counts(leaving.machine)) {
        continue;
      }
      const auto domain = DomainOf(after, leaving.machine);
      if (!domain.has_value()) continue;
      const auto& coming = spread.coming[*domain];
      if (coming.empty() || after.counts()[*domain] + 1 - after.minimum() <=
                                after.constraint().max_skew) {
        continue;
      }
      highest = std::max(highest.value_or(0), coming.rbegin()->first);
    }
  }
  return highest;
}

}  // namespace sluice
