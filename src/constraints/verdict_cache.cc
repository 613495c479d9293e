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
    const auto view = static_cast<size_t>(kinds.ViewOf(kind, aspect));
    ByView& verdicts = by_constraint[i];
    if (view >= verdicts.size()) verdicts.resize(view + 1);
    Verdict& verdict = verdicts[view];
    if (verdict == Verdict::kUnknown) {
      ++evaluation_count_;
      verdict = constraint->Allows(key, kinds.Exemplar(kind))
                    ? Verdict::kAllowed
                    : Verdict::kForbidden;
    } else {
      ++hit_count_;
    }
    if (verdict == Verdict::kForbidden) return false;
  }
  return true;
}

bool VerdictCache::AllowsUnkept(const PlacementRules& rules,
                                const MachineKinds& kinds, KindId kind) {
  ClassKey key;
  key.rules = &rules;
  for (const auto& [name, aspect, constraint] : constraints_->entries()) {
    if (aspect == MachineAspect::kLoad) continue;
    ++evaluation_count_;
    if (!constraint->Allows(key, kinds.Exemplar(kind))) return false;
  }
  return true;
}

void VerdictCache::Forget(std::span<const uint32_t> rules_ids) {
  for (const uint32_t id : rules_ids) verdicts_.erase(id);
}

}  // namespace sluice
