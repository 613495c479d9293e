// The preference cost of what a round has placed, and its lower bound: each
// task on the kind of machines it likes best, whether or not there is room.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_COST_OF_PLACED_H_
#define SLUICE_ROUND_PACKING_COST_OF_PLACED_H_

#include <algorithm>
#include <span>

#include "network/eligibility.h"
#include "round/context/placements.h"
#include "round/context/round_context.h"
#include "sluice/cost/cost_model.h"
#include "state/cluster_state.h"

namespace sluice {

class CostOfPlaced {
 public:
  explicit CostOfPlaced(RoundContext& context)
      : state_(context.state), eligibility_(context.eligibility()) {}

  // Faster if tasks with the same rules come in sequence.
  void Add(const Placement& one) {
    const PlacementRules* rules = one.task->class_key.rules;
    if (rules != rules_) {
      rules_ = rules;
      kinds_ = eligibility_.KindsFor(*rules);
      least_of_kinds_ =
          kinds_.empty()
              ? 0
              : std::ranges::min(kinds_, {}, &Kind::preference).preference;
    }
    const KindId id = eligibility_.KindOf(*state_.FindMachine(one.machine));
    const auto kind = std::ranges::lower_bound(kinds_, id, {}, &Kind::id);
    if (kind != kinds_.end() && kind->id == id) now_ += kind->preference;
    least_ += least_of_kinds_;
    is_any_misplaced_ |= kinds_.empty();
  }

  Cost now() const { return now_; }
  Cost least() const { return least_; }
  // True if any task is on a machine that its rules no longer allow.
  bool is_any_misplaced() const { return is_any_misplaced_; }

 private:
  using Kind = Eligibility::Kind;

  const ClusterState& state_;
  Eligibility& eligibility_;
  const PlacementRules* rules_ = nullptr;
  std::span<const Kind> kinds_;
  Cost least_of_kinds_ = 0;
  Cost now_ = 0;
  Cost least_ = 0;
  bool is_any_misplaced_ = false;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_COST_OF_PLACED_H_
