// The cost of leaving each task waiting, as one round sees it: by its age and,
// if a policy asks for that, by the past run times of its kind of work.
//
// It copies what it needs of the histories, so that completions during a round
// change none of its prices.
//
// Threads: values; const methods only.  Determinism: equal arguments give equal
// prices.

#ifndef SLUICE_COST_WAITING_PRICES_H_
#define SLUICE_COST_WAITING_PRICES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "cost/policy_set.h"
#include "cost/waiting_cost.h"
#include "sluice/cost/cost_model.h"
#include "sluice/state/task.h"
#include "state/class_histories.h"

namespace sluice {

class WaitingPrices {
 public:
  // As of `now_ms`.  The policies must outlive this.
  WaitingPrices(const PolicySet& policies, const ClassHistories& histories,
                int64_t now_ms);

  // True if more than age counts.
  bool HeedKinds() const { return heed_kinds_; }

  Cost Of(const Task& task) const {
    const Cost by_age = WaitingCost(now_ms_ - task.submitted_ms);
    if (!heed_kinds_) return by_age;
    return policies_.WaitingCost(by_age, ExpectedOf(task.work_kind));
  }
  ExpectedRun ExpectedOf(WorkKindId kind) const;

  // The highest cost first; the order of equal costs is kept.
  void Sort(std::vector<const Task*>* tasks) const;

 private:
  const PolicySet& policies_;
  const int64_t now_ms_;
  const bool heed_kinds_;
  std::vector<std::pair<WorkKindId, int64_t>> steps_;  // By kind.
  int64_t mean_step_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_COST_WAITING_PRICES_H_
