#include "network/eligibility.h"

#include <algorithm>
#include <utility>

namespace sluice {

void Eligibility::StartRound(ClusterState* state) {
  const std::vector<uint32_t> gone = state->CollectRules();
  kinds_.Forget(gone);
  verdicts_.Forget(gone);
  for (const uint32_t id : gone) answers_.erase(id);
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

void Eligibility::Refresh(ClusterState* state) {
  for (const auto& [id, fields] : state->TakeDescribedMachines()) {
    kinds_.Update(id, fields, *state);
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
  if (answers.asked == kinds_.size()) return answers.kinds;
  const auto add = [&](KindId kind) {
    answers.kinds.push_back(
        {kind, policies_.PreferenceCost(rules, kinds_.Exemplar(kind))});
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
  return answers.kinds;
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
