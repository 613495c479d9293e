#include "cost/speed_prices.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {

std::vector<WorkKindId> SpeedPrices::Update(const ClassHistories& histories) {
  const std::optional<int64_t> samples_min = policies_.SpeedSamplesMin();
  const SpeedHistories& speeds = histories.speeds();
  if (!samples_min.has_value() || speeds.version() == version_) return {};
  version_ = speeds.version();
  std::vector<Price> prices;
  const auto& pairs = speeds.pairs();
  for (auto it = pairs.begin(); it != pairs.end();) {
    const WorkKindId kind = it->first.kind;
    const size_t begin = prices.size();
    int64_t best_fs = SpeedHistories::kFsMax;
    for (; it != pairs.end() && it->first.kind == kind; ++it) {
      if (it->second.samples < *samples_min) continue;
      prices.push_back({it->first, {.here_fs = it->second.mean_fs}});
      best_fs = std::min(best_fs, it->second.mean_fs);
    }
    for (size_t i = begin; i < prices.size(); ++i) {
      prices[i].speed.best_fs = best_fs;
      prices[i].cost = policies_.SpeedCost(prices[i].speed);
    }
  }
  const auto charges = [](const std::vector<Price>& all) {
    std::vector<std::pair<SpeedHistories::Pair, Cost>> charged;
    for (const Price& price : all) {
      if (price.cost > 0) charged.emplace_back(price.pair, price.cost);
    }
    return charged;
  };
  std::vector<std::pair<SpeedHistories::Pair, Cost>> changes;
  std::ranges::set_symmetric_difference(charges(prices_), charges(prices),
                                        std::back_inserter(changes));
  prices_ = std::move(prices);
  std::vector<WorkKindId> changed;
  for (const auto& [pair, cost] : changes) {
    if (changed.empty() || changed.back() != pair.kind) {
      changed.push_back(pair.kind);
    }
  }
  return changed;
}

const SpeedPrices::Price* SpeedPrices::FindPrice(const PlacementRules& rules,
                                                 const Machine& machine) const {
  if (!rules.work_kind.has_value()) return nullptr;
  const SpeedHistories::Pair pair = {*rules.work_kind, machine.type};
  const auto it = std::ranges::lower_bound(prices_, pair, {}, &Price::pair);
  return it == prices_.end() || it->pair != pair ? nullptr : &*it;
}

std::optional<ExpectedSpeed> SpeedPrices::Find(const PlacementRules& rules,
                                               const Machine& machine) const {
  const Price* price = FindPrice(rules, machine);
  return price == nullptr ? std::nullopt : std::optional(price->speed);
}

}  // namespace sluice
