#include "cost/policy_set.h"

#include <algorithm>

#include "base/strings.h"

namespace sluice {

#define COST_MODEL(name, kind, reads, summary) \
  std::unique_ptr<CostModel> Make_##name();
#include "cost/models.def"
#undef COST_MODEL

namespace {

constexpr CostModelEntry kCostModels[] = {
#define COST_MODEL(name, kind, reads, summary) \
  {#name, CostKind::kind, reads, summary, &Make_##name},
#include "cost/models.def"
#undef COST_MODEL
};
static_assert(std::ranges::is_sorted(kCostModels, {}, &CostModelEntry::name));

}  // namespace

std::span<const CostModelEntry> CostModels() { return kCostModels; }

std::string PolicySet::UnheededWishes() const {
  std::string wishes;
  const auto add = [&](std::string_view model, std::string_view wish) {
    if (std::ranges::find(names_, model) != names_.end()) return;
    wishes += StrCat(wishes.empty() ? "" : "; ", wish, " (", model, ")");
  };
  add("node_affinity", "preferred node affinity");
  add("taint", "PreferNoSchedule taints");
  add("pod_affinity", "preferred affinity and anti-affinity between tasks");
  add("topology_spread", "spread constraints that may be broken");
  return wishes;
}

absl::StatusOr<PolicySet> PolicySet::FromNames(std::string_view names) {
  PolicySet set;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view name = names.substr(begin, end - begin);
    begin = end + 1;
    const auto entry =
        std::ranges::find(kCostModels, name, &CostModelEntry::name);
    if (entry == std::end(kCostModels)) {
      return absl::InvalidArgumentError(
          StrCat("cost model '", name, "' is unknown"));
    }
    if (std::ranges::find(set.names_, name) != set.names_.end()) {
      return absl::InvalidArgumentError(
          StrCat("cost model '", name, "' is named twice"));
    }
    set.names_.emplace_back(name);
    set.models_.push_back(entry->make());
    set.of_kind_[static_cast<size_t>(entry->kind)].push_back(
        set.models_.back().get());
  }
  return set;
}

}  // namespace sluice
