#include "round/context/move_budget.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr int64_t kHourMs = int64_t{3600} * 1000;

int64_t PartOf(int64_t running, int64_t percent) {
  if (percent == 0) return 0;
  return std::max(running / 100 * percent + running % 100 * percent / 100,
                  MoveBudget::kAlways);
}

}  // namespace

MoveBudget::Left MoveBudget::LeftFor(int64_t now_ms, int64_t running) {
  while (!moved_.empty() && moved_.front().first <= now_ms - kHourMs) {
    moved_count_ -= moved_.front().second;
    moved_.pop_front();
  }
  const int64_t of_round = PartOf(running, options_.percent_per_round);
  if (of_round == 0) return {};
  const int64_t of_hour =
      PartOf(running, options_.percent_per_hour) - moved_count_;
  const int64_t in_hour = std::max<int64_t>(of_hour, 0);
  return {.in_round = std::min(of_round, in_hour), .in_hour = in_hour};
}

void MoveBudget::Note(int64_t now_ms, int64_t moved) {
  if (moved == 0) return;
  moved_.emplace_back(now_ms, moved);
  moved_count_ += moved;
}

}  // namespace sluice
