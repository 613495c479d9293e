#include "state/cache_histories.h"

#include <algorithm>

namespace sluice {

void CacheHistories::Note(WorkKindId kind, const CacheUse& use) {
  if (use.misses < 0 || use.misses > use.references) return;
  History& history = kinds_.Use(kind);
  ++history.reports;
  const auto add = [&](int64_t value, int64_t* mean) {
    *mean = SmoothedMean(*mean, std::min(value, kCountMax), history.reports);
  };
  add(use.references, &history.mean.references);
  add(use.misses, &history.mean.misses);
}

TaskKind CacheHistories::TaskKindOf(WorkKindId kind,
                                    const KindScheme& scheme) const {
  constexpr int64_t kPerThousand = 1000;  // Of the means.
  const History* history = Find(kind);
  if (history == nullptr || history->reports < scheme.reports_min) {
    return TaskKind::kSheep;
  }
  const auto [references, misses] = history->mean;
  if (misses >= scheme.devil_misses * kPerThousand) return TaskKind::kDevil;
  if (references - misses >= scheme.rabbit_hits * kPerThousand) {
    return TaskKind::kRabbit;
  }
  return references < scheme.turtle_references * kPerThousand
             ? TaskKind::kTurtle
             : TaskKind::kSheep;
}

}  // namespace sluice
