#include "state/class_histories.h"

#include <algorithm>

#include "base/hash.h"
#include "base/strings.h"
#include "state/command.h"

namespace sluice {

WorkKindId WorkKindOf(const TaskSpec& spec) {
  if (!spec.binary.empty()) return {Fnv1a64(spec.binary, Fnv1a64("binary:"))};
  uint64_t amounts = 0;  // In whatever order they come.
  for (const auto& [name, amount] : spec.request) {
    if (amount > 0) amounts += Fnv1a64(StrCat(name, "=", amount));
  }
  return {
      Fnv1a64(StrCat(amounts, "/", spec.task_namespace), Fnv1a64("request:"))};
}

void ClassHistories::Note(WorkKindId kind, int64_t run_ms) {
  if (run_ms < 0 || run_ms > kRunMsMax) return;
  run_ms = std::max<int64_t>(run_ms, 1);
  const auto [it, is_new] = kinds_.try_emplace(kind);
  History& history = it->second;
  if (!is_new) by_use_.erase(history.last_use);
  ++history.completions;
  history.mean_ms +=
      (run_ms - history.mean_ms) / std::min(history.completions, kRunsPerMean);
  history.last_use = ++uses_;
  by_use_.emplace(history.last_use, kind);
  if (kinds_.size() > kinds_max_) {
    const auto oldest = by_use_.begin();
    kinds_.erase(oldest->second);
    by_use_.erase(oldest);
  }
}

const ClassHistories::History* ClassHistories::Find(WorkKindId kind) const {
  const auto it = kinds_.find(kind);
  return it == kinds_.end() ? nullptr : &it->second;
}

}  // namespace sluice
