#include "cost/waiting_prices.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace sluice {
namespace {

int64_t StepOf(int64_t mean_ms) {
  return std::bit_width(static_cast<uint64_t>(mean_ms)) - 1;
}

}  // namespace

WaitingPrices::WaitingPrices(const PolicySet& policies,
                             const ClassHistories& histories, int64_t now_ms)
    : policies_(policies),
      now_ms_(now_ms),
      heed_kinds_(policies.Charges(CostKind::kWaiting)) {
  if (!heed_kinds_ || histories.kinds().empty()) return;
  int64_t sum = 0;
  steps_.reserve(histories.kinds().size());
  for (const auto& [kind, history] : histories.kinds()) {
    steps_.emplace_back(kind, StepOf(history.mean_ms));
    sum += steps_.back().second;
  }
  const int64_t count = std::ssize(steps_);
  mean_step_ = (2 * sum + count) / (2 * count);
}

ExpectedRun WaitingPrices::ExpectedOf(WorkKindId kind) const {
  const auto it = std::ranges::lower_bound(
      steps_, kind, {}, &std::pair<WorkKindId, int64_t>::first);
  const bool is_known = it != steps_.end() && it->first == kind;
  return {is_known ? it->second : mean_step_, mean_step_};
}

void WaitingPrices::Sort(std::vector<const Task*>* tasks) const {
  std::vector<std::pair<Cost, const Task*>> priced;
  priced.reserve(tasks->size());
  for (const Task* task : *tasks) priced.emplace_back(Of(*task), task);
  constexpr auto kPrice = &std::pair<Cost, const Task*>::first;
  if (std::ranges::is_sorted(priced, std::ranges::greater{}, kPrice)) return;
  std::ranges::stable_sort(priced, std::ranges::greater{}, kPrice);
  for (size_t i = 0; i < priced.size(); ++i) (*tasks)[i] = priced[i].second;
}

}  // namespace sluice
