// The stage that places many priorities at once, if none of them has to wait.
//
// Ranges of priorities are tried, the most urgent first.  If all of a range was
// placed, the next one begins below it and may be twice as large.  If some of
// it waits, its priorities compete.  Then all of it is taken back, and a
// smaller range is tried, down to a single priority, on which the following
// stages decide by itself.  If there is a plan, it is carried out first.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "round/passes/pass.h"
#include "round/passes/range_demand.h"
#include "round/passes/tier_demand.h"
#include "round/stages/stage.h"
#include "sluice/base/ids.h"

namespace sluice {
namespace {

// Up to this many waiting priorities have passes of their own.
constexpr size_t kApartMax = 12;

class PlaceTogether : public Stage {
 public:
  PlaceTogether(RoundContext* context, const Tier& tier)
      : context_(*context),
        tier_(tier),
        priorities_max_(context->together_max) {
    Search();
  }

  std::optional<RoundWork> Next() override {
    while (true) {
      if (context_.budget.IsStepOver()) return Pause();
      if (search_.has_value()) {
        if (!search_->Continue()) return Pause();
        demand_ = search_->Take();
        search_.reset();
        if (!Begin()) return std::nullopt;
        continue;
      }
      if (auto work = attempt_->passes.Next()) return work;
      if (context_.stats->is_cut_short || !GoOn()) return std::nullopt;
    }
  }

  void Finish(const RoundAnswer& answer) override {
    attempt_->passes.Finish(std::get<FlowSolution>(answer));
  }

  // Nothing may be placed of a range of which something more urgent waits.
  StageResult End() override {
    if (attempt_.has_value() && !IsPlaced()) TakeBack();
    return {.together_max = priorities_max_, .tier = tier_};
  }

 private:
  // An attempt to place the first members of the demand.
  struct Attempt {
    Attempt(RoundContext* context, size_t count)
        : passes(context), members(count) {}

    Passes passes;
    size_t members;
    // True if it begins with what the plan places.
    bool carries_out = false;
    // True if only the plan had changed the state before.
    bool is_plan_alone = false;
    // What the plan held before: a smaller range may have room where this one
    // has none.
    absl::flat_hash_map<MachineId, uint32_t> of_machine;
    size_t placed_before = 0;  // When its bands were last cut.
    bool has_bands = false;
  };

  void Search() {
    // Something of a level may wait under the plan.  A range of several levels
    // would then be taken back as a whole, although the others can be placed.
    uint32_t lowest = 0;
    if (context_.plan.has_value() && context_.levels.has_value()) {
      const std::vector<uint32_t>& levels = context_.levels->lowest;
      const auto level = std::ranges::find_if(
          levels, [&](uint32_t one) { return one <= tier_.priority; });
      if (level != levels.end()) lowest = *level;
    }
    search_.emplace(RangeSearch::Bounds{.highest = tier_.priority,
                                        .lowest = lowest,
                                        .priorities_max = priorities_max_},
                    &context_);
  }

  // Returns true if there is something to try.  If not, the tier is one that is
  // decided on by itself, or the last.
  bool Begin() {
    if (!demand_.members.empty()) {
      Try(demand_.members.size());
      return true;
    }
    if (!demand_.next.has_value()) {
      const auto& pending = context_.state.pending();
      const uint32_t last =
          pending.empty() ? 0 : pending.rbegin()->first.priority;
      MoveTo(std::min(tier_.priority, last));
      return false;
    }
    MoveTo(*demand_.next);
    if (demand_.is_next_apart) return false;
    Search();
    return true;
  }

  void MoveTo(uint32_t priority) {
    tier_.priority = priority;
    tier_.delta_begin = context_.state.counters().next_delta_sequence;
  }

  // From the highest priority down to that of the last of the first `members`.
  void Try(size_t members) {
    attempt_.emplace(&context_, members);
    if (!context_.plan.has_value()) return;
    attempt_->carries_out = true;
    attempt_->is_plan_alone =
        context_.plan->version == context_.state.version();
    attempt_->of_machine = context_.plan->patterns.of_machine;
    AddPlanned(tier_.priority, demand_.members[members - 1].key.priority,
               &context_, &attempt_->passes);
  }

  // Call it after its passes.  Returns true if there is more to do.
  bool GoOn() {
    Attempt& attempt = *attempt_;
    if (std::exchange(attempt.carries_out, false)) KeepPlanAlone();
    if (IsPlaced()) return GoOnBelow();
    if (!std::exchange(attempt.has_bands, true) ||
        attempt.passes.placed().size() > attempt.placed_before) {
      AddBands();
      return true;
    }
    const size_t tried = attempt.members;
    TakeBack();
    return TryLess(tried);
  }

  // True if nothing that is tried waits.
  bool IsPlaced() const {
    return std::ranges::all_of(Tried(), [this](const BandMember& member) {
      return context_.CountWaiting(member.key) == 0;
    });
  }

  std::span<const BandMember> Tried() const {
    return std::span(demand_.members).first(attempt_->members);
  }

  void AddBands() {
    attempt_->placed_before = attempt_->passes.placed().size();
    std::vector<BandMember> members;
    for (const BandMember& member : Tried()) {
      const int64_t count = context_.CountWaiting(member.key);
      if (count > 0) members.push_back({member.key, count, member.size});
    }
    for (Band& band : CutBands(MergeAlike(std::move(members)),
                               context_.FreshGroups().size())) {
      attempt_->passes.Add(std::move(band));
    }
  }

  void TakeBack() {
    context_.Withdraw(attempt_->passes.placed());
    if (context_.plan.has_value()) {
      context_.plan->patterns.of_machine = std::move(attempt_->of_machine);
      KeepPlanAlone();
    }
    attempt_.reset();
  }

  // Unless a command has come meanwhile.
  void KeepPlanAlone() {
    if (attempt_->is_plan_alone && !context_.has_changed) {
      context_.plan->version = context_.state.version();
    }
  }

  bool GoOnBelow() {
    const size_t members = attempt_->members;
    attempt_.reset();
    if (priorities_max_ <= std::numeric_limits<size_t>::max() / 2) {
      priorities_max_ *= 2;
    }
    if (members < demand_.members.size()) {
      MoveTo(demand_.members[members].key.priority);
      Search();
      return true;
    }
    demand_.members.clear();
    return Begin();
  }

  // Tries half as many priorities.  Returns true if there is more to do.
  bool TryLess(size_t tried) {
    std::vector<size_t> ends;  // Of the priorities that were tried, in members.
    for (size_t i = 1; i <= tried; ++i) {
      if (i == tried || demand_.members[i].key.priority !=
                            demand_.members[i - 1].key.priority) {
        ends.push_back(i);
      }
    }
    priorities_max_ = std::max<size_t>(ends.size() / 2, 1);
    if (ends.size() == 1) {
      MoveTo(demand_.members.front().key.priority);
      return false;
    }
    Try(ends[priorities_max_ - 1]);
    return true;
  }

  RoundContext& context_;
  Tier tier_;                          // What is placed next.
  size_t priorities_max_;              // Of the next attempt.
  std::optional<RangeSearch> search_;  // While it runs.
  RangeDemand demand_;
  std::optional<Attempt> attempt_;  // While it runs.
};

}  // namespace

std::unique_ptr<Stage> MakePlaceTogether(RoundContext* context,
                                         const Tier& tier) {
  // A pass of many may exceed the work of a round.
  if (context->options.arcs_max > 0) return nullptr;
  const auto& pending = context->state.pending();
  auto it = pending.lower_bound(ClassKey{tier.priority, {}});
  // What they ask for would come only after what is more urgent.
  if (std::ranges::any_of(it, pending.end(), [](const auto& entry) {
        return !entry.first.rules->minimums.empty();
      })) {
    return nullptr;
  }
  for (size_t i = 0; i < kApartMax; ++i) {
    if (it == pending.end() || it->first.priority == 0) return nullptr;
    it = pending.lower_bound(ClassKey{it->first.priority - 1, {}});
  }
  if (it == pending.end()) return nullptr;
  return std::make_unique<PlaceTogether>(context, tier);
}

}  // namespace sluice
