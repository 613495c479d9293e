#include "network/eligibility.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace sluice {

void Eligibility::StartRound(ClusterState* state) {
  const std::vector<uint32_t> gone = state->CollectRules();
  kinds_.Forget(gone);
  verdicts_.Forget(gone);
  for (const uint32_t id : gone) answers_.erase(id);
  PriceAnew(speeds_.Update(state->histories()), *state);
  if (!kinds_.is_stale()) return;
  former_ = counters();
  kinds_ = MachineKinds();
  rules_seen_ = 0;
  verdicts_ = VerdictCache(constraints_);
  answers_.clear();
  for (const auto& [id, machine] : state->machines()) {
    kinds_.Update(id, kAllFields, *state);
  }
}

void Eligibility::HoldBack(ClusterState* state, int64_t now_ms) {
  held_.clear();
  if (!policies_.DetourMax(0).has_value()) return;
  for (const auto& [key, tasks] : state->pending()) {
    if (key.rules->data.empty()) continue;
    // Negative if the clock was set back.
    const int64_t waited_ms =
        std::max<int64_t>(now_ms - tasks.begin()->second->submitted_ms, 0);
    Cost& detour_max = held_[key.rules->id].detour_max;
    detour_max = std::max(detour_max, *policies_.DetourMax(waited_ms));
  }
  if (held_.empty()) return;
  Refresh(state);
  has_usable_.assign(static_cast<size_t>(kinds_.size()), false);
  for (const auto& [id, machine] : state->machines()) {
    if (!machine->IsUsable()) continue;
    has_usable_[static_cast<size_t>(kinds_.KindOf(id))] = true;
  }
}

void Eligibility::PriceAnew(std::span<const WorkKindId> work_kinds,
                            const ClusterState& state) {
  if (work_kinds.empty()) return;
  for (const PlacementRules* rules : state.rules().From(0)) {
    if (!rules->work_kind.has_value() ||
        !std::ranges::binary_search(work_kinds, *rules->work_kind)) {
      continue;
    }
    const auto it = answers_.find(rules->id);
    if (it == answers_.end()) continue;
    for (Kind& kind : it->second.kinds) {
      kind.preference = PreferenceCost(*rules, kinds_.Exemplar(kind.id));
    }
  }
}

std::span<const Eligibility::Kind> Eligibility::NearKinds(
    const PlacementRules& rules, const Answers& answers, Held* held) const {
  if (held->asked == answers.asked) return held->kinds;
  const auto cost_of = [&](const Kind& kind) {
    return policies_.DetourCost(rules, kinds_.Exemplar(kind.id));
  };
  Cost least = std::numeric_limits<Cost>::max();
  for (const Kind& kind : answers.kinds) {
    const auto id = static_cast<size_t>(kind.id);
    if (id >= has_usable_.size() || has_usable_[id]) {
      least = std::min(least, cost_of(kind));
    }
  }
  held->kinds.clear();
  std::ranges::copy_if(answers.kinds, std::back_inserter(held->kinds),
                       [&](const Kind& kind) {
                         return cost_of(kind) <= least ||
                                cost_of(kind) - least <= held->detour_max;
                       });
  held->asked = answers.asked;
  return held->kinds;
}

void Eligibility::Refresh(ClusterState* state) {
  for (const auto& [id, fields] : state->TakeDescribedMachines()) {
    kinds_.Update(id, fields, *state);
    if ((fields & kLabelsField) != 0) ++relabelings_;
  }
  const std::vector<const PlacementRules*> rules =
      state->rules().From(rules_seen_);
  if (rules.empty()) return;
  rules_seen_ = rules.back()->id + 1;
  kinds_.Learn(rules, *state);
}

std::span<const Eligibility::Kind> Eligibility::KindsFor(
    const PlacementRules& rules) {
  Answers& answers = answers_[rules.id];
  const auto held = held_.find(rules.id);
  const auto those = [&]() -> std::span<const Kind> {
    if (held == held_.end()) return answers.kinds;
    return NearKinds(rules, answers, &held->second);
  };
  if (answers.asked == kinds_.size()) return those();
  const auto add = [&](KindId kind) {
    answers.kinds.push_back(
        {kind, PreferenceCost(rules, kinds_.Exemplar(kind))});
  };
  if (const auto named = KindsNamed(rules)) {
    for (const KindId kind : *named) {
      if (kind < answers.asked) continue;
      if (verdicts_.AllowsUnkept(rules, kinds_, kind)) add(kind);
    }
  } else {
    for (KindId kind = answers.asked; kind < kinds_.size(); ++kind) {
      if (verdicts_.Allows(rules, kinds_, kind)) add(kind);
    }
  }
  answers.asked = kinds_.size();
  return those();
}

std::vector<bool> Eligibility::MaskFor(const PlacementRules& rules) {
  std::vector<bool> mask(static_cast<size_t>(kind_count()));
  for (const Kind& kind : KindsFor(rules)) {
    mask[static_cast<size_t>(kind.id)] = true;
  }
  return mask;
}

bool Eligibility::Allows(const PlacementRules& rules, const Machine& machine) {
  return machine.IsUsable() &&
         std::ranges::binary_search(KindsFor(rules), KindOf(machine), {},
                                    &Kind::id);
}

std::optional<std::vector<KindId>> Eligibility::KindsNamed(
    const PlacementRules& rules) const {
  std::optional<std::vector<KindId>> named = KindsNamed(rules.selectors, {});
  if (!named.has_value() && !rules.required.empty()) {
    named.emplace();
    for (const NodeTerm& term : rules.required) {
      const auto of_term = KindsNamed(term.labels, term.fields);
      if (!of_term.has_value()) return std::nullopt;
      named->insert(named->end(), of_term->begin(), of_term->end());
    }
  }
  if (!named.has_value()) return std::nullopt;
  std::ranges::sort(*named);
  const auto repeated = std::ranges::unique(*named);
  named->erase(repeated.begin(), repeated.end());
  return named;
}

std::optional<std::vector<KindId>> Eligibility::KindsNamed(
    const std::vector<LabelRequirement>& labels,
    const std::vector<LabelRequirement>& fields) const {
  for (const LabelRequirement& field : fields) {
    if (field.op == LabelOperator::kIn) return kinds_.KindsIn(field, true);
  }
  for (const LabelRequirement& label : labels) {
    if (label.op == LabelOperator::kIn) return kinds_.KindsIn(label, false);
  }
  return std::nullopt;
}

EligibilityCounters Eligibility::counters() const {
  return {former_.hits + verdicts_.hit_count(),
          former_.evaluations + verdicts_.evaluation_count(),
          former_.invalidations + kinds_.invalidation_count()};
}

}  // namespace sluice
