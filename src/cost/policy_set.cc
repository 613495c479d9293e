#include "cost/policy_set.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/status_macros.h"
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

std::vector<Cost> PolicySet::TermsOf(const Circumstances& there) const {
  Resources load = there.used;
  if (there.machine.is_measured) load -= there.machine.reclaimed;
  std::vector<Cost> terms;
  for (const auto& model : models_) {
    // A model charges nothing for the kinds that it does not charge.
    terms.push_back(model->LoadCost(there.machine, load) +
                    model->PreferenceCost(there.rules, there.machine) +
                    model->PeerCost(there.standing) +
                    model->SiblingCost(there.siblings));
    if (there.offered_together != Resources()) {
      terms.back() +=
          model->AggregateCost(there.used_together, there.offered_together);
    }
    if (there.speed.has_value()) terms.back() += model->SpeedCost(*there.speed);
  }
  return terms;
}

std::optional<Interference> PolicySet::FindInterference() const {
  if (!Charges(CostKind::kInterference)) return std::nullopt;
  constexpr int32_t kWeightMax = 100;
  Interference all = {};
  for (const CostModel* model : Charging(CostKind::kInterference)) {
    for (size_t task = 0; task < kTaskKindCount; ++task) {
      for (size_t other = 0; other < kTaskKindCount; ++other) {
        int32_t& weight = all[task][other];
        weight += model->Minds(static_cast<TaskKind>(task),
                               static_cast<TaskKind>(other));
        weight = std::min(weight, kWeightMax);
      }
    }
  }
  return all;
}

std::optional<KindScheme> PolicySet::FindKindScheme() const {
  for (const CostModel* model : Charging(CostKind::kInterference)) {
    if (auto scheme = model->LearnedKinds(); scheme.has_value()) return scheme;
  }
  return std::nullopt;
}

std::optional<Cost> PolicySet::DetourMax(int64_t waited_ms) const {
  std::optional<Cost> most;
  for (const auto& model : models_) {
    const std::optional<Cost> one = model->DetourMax(waited_ms);
    if (one.has_value()) most = std::max(most.value_or(0), *one);
  }
  return most;
}

Cost PolicySet::DetourCost(const PlacementRules& rules,
                           const Machine& machine) const {
  Cost cost = 0;
  for (const auto& model : models_) {
    if (!model->DetourMax(0).has_value()) continue;
    cost += model->PreferenceCost(rules, machine);
  }
  return cost;
}

std::optional<int64_t> PolicySet::SpeedSamplesMin() const {
  std::optional<int64_t> most;
  for (const auto& model : models_) {
    most = std::max(most, model->SpeedSamplesMin());
  }
  return most;
}

PolicyNeeds PolicySet::Needs() const {
  return {.interference = FindInterference(),
          .kinds = FindKindScheme(),
          .data = DetourMax(0).has_value(),
          .run_times = Charges(CostKind::kWaiting),
          .speeds = SpeedSamplesMin().has_value()};
}

std::string PolicySet::UnheededWishes() const {
  std::string wishes;
  const auto add = [&](std::string_view model, std::string_view wish) {
    if (Has(model)) return;
    wishes += StrCat(wishes.empty() ? "" : "; ", wish, " (", model, ")");
  };
  add("node_affinity", "preferred node affinity");
  add("taint", "PreferNoSchedule taints");
  add("pod_affinity", "preferred affinity and anti-affinity between tasks");
  add("topology_spread", "spread constraints that may be broken");
  return wishes;
}

absl::Status CostModel::Set(std::string_view parameter, int64_t /*value*/) {
  return absl::InvalidArgumentError(
      StrCat("there is no parameter '", parameter, "'"));
}

absl::Status CostModel::SetText(std::string_view parameter,
                                std::string_view text) {
  return absl::InvalidArgumentError(
      StrCat("'", parameter, text.empty() ? "" : "=", text,
             "' is not a parameter with a number, such as 'seed=7'"));
}

namespace {

std::optional<int64_t> ToNumber(std::string_view text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

// "seed=7:other=8".
absl::Status SetParameters(std::string_view all, CostModel* model) {
  for (size_t begin = 0; begin <= all.size();) {
    const size_t end = std::min(all.find(':', begin), all.size());
    const std::string_view one = all.substr(begin, end - begin);
    begin = end + 1;
    const size_t sign = std::min(one.find('='), one.size());
    const std::string_view text = one.substr(std::min(sign + 1, one.size()));
    const std::optional<int64_t> value = ToNumber(text);
    RETURN_IF_ERROR(value.has_value()
                        ? model->Set(one.substr(0, sign), *value)
                        : model->SetText(one.substr(0, sign), text));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PolicySet> PolicySet::FromNames(std::string_view names) {
  PolicySet set;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view text = names.substr(begin, end - begin);
    const std::string_view name = text.substr(0, text.find(':'));
    begin = end + 1;
    const auto entry =
        std::ranges::find(kCostModels, name, &CostModelEntry::name);
    if (entry == std::end(kCostModels)) {
      return absl::InvalidArgumentError(
          StrCat("cost model '", name, "' is unknown"));
    }
    if (set.Has(name)) {
      return absl::InvalidArgumentError(
          StrCat("cost model '", name, "' is named twice"));
    }
    set.names_.emplace_back(name);
    set.models_.push_back(entry->make());
    if (name.size() < text.size()) {
      RETURN_IF_ERROR(Annotate(
          SetParameters(text.substr(name.size() + 1), set.models_.back().get()),
          StrCat("cost model '", name, "'")));
    }
    set.of_kind_[static_cast<size_t>(entry->kind)].push_back(
        set.models_.back().get());
  }
  for (const CostModel* model : set.Charging(CostKind::kAggregate)) {
    if (model->AggregateLabel() != set.AggregateLabel()) {
      return absl::InvalidArgumentError(StrCat(
          "cost models charge machines together by different labels: '",
          set.AggregateLabel(), "' and '", model->AggregateLabel(), "'"));
    }
  }
  const auto& minding = set.Charging(CostKind::kInterference);
  if (!minding.empty() && !set.Has("pod_affinity")) {
    const auto name = std::ranges::find(kCostModels, CostKind::kInterference,
                                        &CostModelEntry::kind);
    return absl::InvalidArgumentError(
        StrCat("cost model '", name->name,
               "' needs 'pod_affinity', which charges for what tasks mind"));
  }
  return set;
}

}  // namespace sluice
