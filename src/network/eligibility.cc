#include "network/eligibility.h"

namespace sluice {

void Eligibility::StartRound(ClusterState* state) {
  const std::vector<uint32_t> gone = state->CollectRules();
  kinds_.Forget(gone);
  verdicts_.Forget(gone);
  for (const uint32_t id : gone) answers_.erase(id);
  if (!kinds_.is_stale()) return;
  former_ = counters();
  kinds_ = MachineKinds();
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
  std::vector<const PlacementRules*> rules;
  for (const auto& [key, tasks] : state->pending()) rules.push_back(key.rules);
  kinds_.Learn(rules, *state);
}

std::span<const Eligibility::Kind> Eligibility::KindsFor(
    const PlacementRules& rules) {
  Answers& answers = answers_[rules.id];
  for (; answers.asked < kinds_.size(); ++answers.asked) {
    const KindId kind = answers.asked;
    if (!verdicts_.Allows(rules, kinds_, kind)) continue;
    answers.kinds.push_back(
        {kind, policies_.PreferenceCost(rules, kinds_.Exemplar(kind))});
  }
  return answers.kinds;
}

EligibilityCounters Eligibility::counters() const {
  return {former_.hits + verdicts_.hit_count(),
          former_.evaluations + verdicts_.evaluation_count(),
          former_.invalidations + kinds_.invalidation_count()};
}

}  // namespace sluice
