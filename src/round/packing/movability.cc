#include "round/packing/movability.h"

#include <algorithm>

namespace sluice {

Movability::Movability(const ClusterState& state,
                       const ConstraintSet& constraints,
                       const MoveOptions& options, int64_t now_ms,
                       Eligibility* eligibility)
    : state_(state),
      constraints_(constraints),
      options_(options),
      now_ms_(now_ms),
      eligibility_(*eligibility) {
  // The rules about other tasks for which no live task was seen yet.
  absl::flat_hash_set<uint32_t> left;
  for (const PlacementRules* rules : state.rules().From(0)) {
    if (rules->HasPeerTerms()) left.insert(rules->id);
  }
  for (const auto& [id, task] : state.tasks()) {
    if (left.empty()) break;
    if (!task->IsLive()) continue;
    const PlacementRules& rules = *task->class_key.rules;
    if (left.erase(rules.id) > 0) AddRequired(rules);
  }
  // The predecessors of these may be gone.
  for (const auto& [sequence, one] : state.nominations().successions().all()) {
    if (one.machine.has_value()) AddRequired(*one.rules);
  }
}

void Movability::AddRequired(const PlacementRules& rules) {
  const PeerTerms& terms = state_.peers().TermsOf(rules);
  for (const CountedTerm* term : terms.affinity) {
    required_.insert(term->selector);
  }
  for (const CountedTerm* term : terms.anti_affinity) {
    required_.insert(term->selector);
  }
  for (size_t i = 0; i < rules.spread.size(); ++i) {
    if (rules.spread[i].is_required) {
      required_.insert(terms.spread[i]->selector);
    }
  }
  for (const CountedTerm* term : terms.minimums) {
    required_.insert(term->selector);
  }
}

bool Movability::IsOnItsOwn(const ClassKey& key) const {
  const PlacementRules& rules = *key.rules;
  return rules.affinity.empty() && rules.anti_affinity.empty() &&
         rules.minimums.empty() &&
         std::ranges::none_of(rules.spread, &SpreadConstraint::is_required) &&
         std::ranges::none_of(*key.meant_by, [this](uint32_t selector) {
           return required_.contains(selector);
         });
}

bool Movability::MayMove(const Task& task) {
  const ClassKey& key = task.class_key;
  return !task.owner.empty() && !key.gang.has_value() &&
         key.rules->host_ports.empty() &&
         now_ms_ - task.placed_ms >= options_.min_run_ms &&
         state_.CanPreempt(task) && !state_.IsUntold(task.id) &&
         IsOnItsOwn(key) && !constraints_.AsksForMoreThanFit(key) &&
         eligibility_.Allows(*key.rules, *state_.FindMachine(task.machine));
}

size_t Movability::ShapeOf(const PlacementRules& rules) {
  const auto [it, is_new] = shape_of_.try_emplace(rules.id, 0);
  if (!is_new) return it->second;
  std::vector<std::pair<KindId, Cost>> kinds;
  for (const Eligibility::Kind& kind : eligibility_.KindsFor(rules)) {
    kinds.emplace_back(kind.id, kind.preference);
  }
  it->second =
      shapes_.try_emplace(std::move(kinds), shapes_.size()).first->second;
  return it->second;
}

}  // namespace sluice
