#include "state/rules_table.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

bool MustHoldOn(const PlacementRules& rules) {
  return rules.keeps_node_rules || rules.keeps_peer_rules;
}

}  // namespace

const PlacementRules* RulesTable::Acquire(const PlacementRules& rules) {
  if (rules == NoRules()) return &NoRules();
  auto it = references_.find(rules);
  if (it == references_.end()) {
    PlacementRules kept = rules;
    kept.id = next_id_++;
    it = references_.emplace(std::move(kept), 0).first;
    by_id_.emplace(it->first.id, &it->first);
    if (MustHoldOn(rules)) ++kept_count_;
  }
  ++it->second;
  return &it->first;
}

void RulesTable::Release(const PlacementRules* rules) {
  if (rules == &NoRules()) return;
  const auto it = references_.find(*rules);
  CHECK(it != references_.end() && it->second > 0);
  if (--it->second == 0) has_idle_ = true;
}

std::vector<uint32_t> RulesTable::Collect() {
  std::vector<uint32_t> ids;
  if (!std::exchange(has_idle_, false)) return ids;
  std::erase_if(references_, [&](const auto& entry) {
    if (entry.second > 0) return false;
    ids.push_back(entry.first.id);
    by_id_.erase(entry.first.id);
    if (MustHoldOn(entry.first)) --kept_count_;
    return true;
  });
  std::ranges::sort(ids);
  return ids;
}

std::vector<const PlacementRules*> RulesTable::From(uint32_t id) const {
  std::vector<const PlacementRules*> rules;
  for (auto it = by_id_.lower_bound(id); it != by_id_.end(); ++it) {
    rules.push_back(it->second);
  }
  return rules;
}

}  // namespace sluice
