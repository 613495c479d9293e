// The stages that decide on a tier as a packing problem, and tell how good it
// is.

#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "core/pass.h"
#include "core/stages/stage.h"
#include "core/tier_packing.h"

namespace sluice {
namespace {

class Pack : public Stage {
 public:
  Pack(RoundContext* context, Tier* tier)
      : context_(*context), tier_(*tier), passes_(context) {}

  std::optional<RoundWork> Next() override {
    if (!std::exchange(has_asked_, true)) return Ask();
    // What was taken back must be placed again in this round.
    return passes_.Next(/*must_go_on=*/true);
  }

  void Finish(const RoundAnswer& answer) override {
    if (const auto* packing = std::get_if<PackingSolution>(&answer)) {
      Adopt(*packing);
    } else {
      passes_.Finish(std::get<FlowSolution>(answer));
    }
  }

  // A command may have come meanwhile that some of a gang was refused for.
  void End() override {
    for (const Gangs::Waiting& gang : moved_gangs_) {
      if (context_.gangs.IsWhole(gang)) continue;
      std::vector<TaskId> tasks;
      for (const TaskId id : passes_.placed()) {
        const Task* task = context_.state.FindTask(id);
        if (task != nullptr && task->job == gang.job) tasks.push_back(id);
      }
      context_.Withdraw(tasks);
    }
  }

 private:
  std::optional<RoundWork> Ask() {
    if (context_.improve_budget <= 0 || context_.IsSpent()) return std::nullopt;
    packing_ = DescribeTier(TierScope::kMovable, tier_, &context_);
    tier_.leaves_out = packing_.leaves_out;
    if (packing_.now <= packing_.least && !packing_.leaves_out) {
      tier_.proved = {packing_.now, context_.state.version()};
    }
    if (packing_.now <= packing_.least || packing_.problem.groups.empty()) {
      return std::nullopt;
    }
    ++context_.stats->packings;
    return PackingWork{packing_.problem, context_.improve_budget};
  }

  void Adopt(const PackingSolution& solution) {
    context_.improve_budget -= solution.work;
    tier_.packed = solution;
    tier_.packed->cost.waiting.Add(packing_.misfits);
    tier_.packed->bound.waiting.Add(packing_.misfits);
    if (tier_.packed->cost >= packing_.now || solution.patterns.empty()) return;
    tier_.has_new_room = true;
    FindMovedGangs();
    context_.Withdraw(packing_.placed);
    Band band;
    band.patterns = PatternsFor(solution);
    for (const ClassKey& key : packing_.classes) {
      const int64_t count = context_.CountWaiting(key);
      if (count > 0) band.members.push_back({key, count, 0});
    }
    if (!band.members.empty()) passes_.Add(std::move(band));
  }

  void FindMovedGangs() {
    context_.FreshEligibility();  // Machines may have come meanwhile.
    std::set<JobId> jobs;
    for (const ClassKey& key : packing_.classes) {
      if (!key.gang.has_value() || !jobs.insert(*key.gang).second) continue;
      Gangs::Waiting gang;
      gang.job = *key.gang;
      gang.minimum = context_.gangs.MinimumFor(key);
      if (context_.gangs.IsWhole(gang)) moved_gangs_.push_back(gang);
    }
  }

  // Machines that nothing is meant for get what is meant for others like them:
  // the flow then spreads the load over all of them.
  MachinePatterns PatternsFor(const PackingSolution& solution) const {
    MachinePatterns patterns;
    std::vector<std::vector<uint32_t>> of_group(packing_.machines.size());
    std::vector<size_t> taken(packing_.machines.size(), 0);
    for (const Pattern& pattern : solution.patterns) {
      auto& holds = patterns.patterns.emplace_back();
      const auto index = static_cast<uint32_t>(patterns.patterns.size());
      for (const auto& [c, count] : pattern.tasks) {
        holds[packing_.classes[c]] = count;
      }
      of_group[pattern.group].push_back(index);
      for (int64_t i = 0; i < pattern.machines; ++i) {
        const size_t next = taken[pattern.group]++;
        patterns.of_machine[packing_.machines[pattern.group][next]] = index;
      }
    }
    for (size_t g = 0; g < packing_.machines.size(); ++g) {
      if (of_group[g].empty()) continue;
      for (size_t i = taken[g]; i < packing_.machines[g].size(); ++i) {
        patterns.of_machine[packing_.machines[g][i]] =
            of_group[g][i % of_group[g].size()];
      }
    }
    return patterns;
  }

  RoundContext& context_;
  Tier& tier_;
  Passes passes_;
  bool has_asked_ = false;
  TierPacking packing_;
  std::vector<Gangs::Waiting> moved_gangs_;  // Which were whole.
};

class Appraise : public Stage {
 public:
  Appraise(RoundContext* context, Tier* tier)
      : context_(*context), tier_(*tier) {}

  std::optional<RoundWork> Next() override {
    if (std::exchange(has_asked_, true)) return std::nullopt;
    auto& [cost, bound] = context_.appraisals[tier_.priority];
    const LevelCosts waiting_before = cost.waiting;
    if (!bound.has_value() && tier_.proved.has_value() &&
        tier_.proved->second == context_.state.version()) {
      cost = tier_.proved->first;
      bound = cost;
      return std::nullopt;
    }
    packing_ = DescribeTier(TierScope::kAll, tier_, &context_);
    cost = packing_.now;
    // What was found before is no bound of what has changed since.
    if (context_.has_changed) bound.reset();
    if (bound.has_value() && cost.waiting == waiting_before) {
      return std::nullopt;  // It is of placements that leave as much waiting.
    }
    if (packing_.now <= packing_.least) {
      bound = packing_.now;
    } else if (!context_.has_changed && tier_.packed.has_value() &&
               !tier_.leaves_out &&
               packing_.now.waiting <= tier_.packed->cost.waiting) {
      bound = tier_.packed->bound;  // To leave less waiting costs no less.
    } else if (context_.improve_budget > 0 && !context_.IsSpent() &&
               !packing_.is_too_large) {
      ++context_.stats->packings;
      return PackingWork{std::move(packing_.problem), context_.improve_budget,
                         packing_.now.waiting[0] - packing_.misfits[0]};
    }
    return std::nullopt;
  }

  void Finish(const RoundAnswer& answer) override {
    const auto& solution = std::get<PackingSolution>(answer);
    context_.improve_budget -= solution.work;
    PackingCost bound = solution.bound;
    bound.waiting.Add(packing_.misfits);
    context_.appraisals[tier_.priority].bound = bound;
  }

 private:
  RoundContext& context_;
  Tier& tier_;
  bool has_asked_ = false;
  TierPacking packing_;
};

}  // namespace

std::unique_ptr<Stage> MakePack(RoundContext* context, Tier* tier) {
  tier->has_new_room = false;
  if (!std::exchange(tier->has_new_gangs, false)) return nullptr;
  return std::make_unique<Pack>(context, tier);
}

std::unique_ptr<Stage> MakeAppraiseGangs(RoundContext* context, Tier* tier) {
  if (context->improve_budget <= 0) return nullptr;
  bool is_any_closed = false;
  tier->VisitWaiting(context->state, [&](const ClassKey& key, const auto&) {
    is_any_closed = context->gangs.IsClosed(key);
    return !is_any_closed;
  });
  if (!is_any_closed) return nullptr;
  return std::make_unique<Appraise>(context, tier);
}

std::unique_ptr<Stage> MakeAppraise(RoundContext* context, Tier* tier) {
  return std::make_unique<Appraise>(context, tier);
}

}  // namespace sluice
