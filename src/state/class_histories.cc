#include "state/class_histories.h"

#include <algorithm>

#include "base/hash.h"
#include "base/strings.h"
#include "state/command.h"

namespace sluice {

WorkKindId WorkKindOf(const TaskSpec& spec) {
  if (!spec.binary.empty()) return {Fnv1a64(spec.binary, Fnv1a64("binary:"))};
  uint64_t amounts = 0;  // A sum, which does not depend on the order.
  for (const auto& [name, amount] : spec.request) {
    if (amount > 0) amounts += Fnv1a64(StrCat(name, "=", amount));
  }
  return {
      Fnv1a64(StrCat(amounts, "/", spec.task_namespace), Fnv1a64("request:"))};
}

void ClassHistories::Note(WorkKindId kind, int64_t run_ms) {
  if (run_ms < 0 || run_ms > kRunMsMax) return;
  run_ms = std::max<int64_t>(run_ms, 1);
  History& history = kinds_.Use(kind);
  ++history.completions;
  history.mean_ms = SmoothedMean(history.mean_ms, run_ms, history.completions);
}

}  // namespace sluice
