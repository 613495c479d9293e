#include "constraints/verdict_cache.h"

namespace sluice {

bool VerdictCache::Allows(const PlacementRules& rules,
                          const MachineKinds& kinds, KindId kind) {
  const auto entries = constraints_->entries();
  std::vector<ByView>& by_constraint = verdicts_[rules.id];
  by_constraint.resize(entries.size());
  ClassKey key;
  key.rules = &rules;
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto& [name, aspect, constraint] = entries[i];
    if (aspect == MachineAspect::kLoad) continue;
    const auto [verdict, is_new] =
        by_constraint[i].try_emplace(kinds.ViewOf(kind, aspect));
    if (is_new) {
      ++evaluation_count_;
      verdict->second = constraint->Allows(key, kinds.Exemplar(kind));
    } else {
      ++hit_count_;
    }
    if (!verdict->second) return false;
  }
  return true;
}

void VerdictCache::Forget(std::span<const uint32_t> rules_ids) {
  for (const uint32_t id : rules_ids) verdicts_.erase(id);
}

}  // namespace sluice
