// The stage that finds the lower bound of all tiers together.
//
// A packing proves that by its relaxation.  With many classes, or if hardly any
// two machines are alike, that takes too long to prove much.  Then flows with
// gains, each in one resource, prove more (decision 0037).

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/strings.h"
#include "network/share_network.h"
#include "packing/packing_effort.h"
#include "round/packing/round_packing.h"
#include "round/stages/stage.h"

namespace sluice {
namespace {

constexpr size_t kResourcesMax = 2;
// Drawing this many takes some 10 ms of the core thread.
constexpr size_t kArcsMax = 200'000;
// Arc scans per look.
constexpr int64_t kScansPerLook = 4;

class Appraise : public Stage {
 public:
  explicit Appraise(RoundContext* context)
      : context_(*context), appraisal_(context->appraisal) {}

  std::optional<RoundWork> Next() override {
    if (!std::exchange(has_asked_, true)) {
      if (std::optional<RoundWork> work = AskForPacking()) return work;
    }
    return AskForShares();
  }

  void Finish(const RoundAnswer& answer) override {
    if (const auto* flow = std::get_if<GeneralizedSolution>(&answer)) {
      TakeShares(*flow);
      return;
    }
    const auto& solution = std::get<PackingSolution>(answer);
    context_.budget.Spend(Effort::kImprovements, solution.work);
    NoteProof(true);
    appraisal_->bound = solution.bound;
    appraisal_->bound->waiting.Add(packing_.misfits);
  }

  StageResult End() override { return {.appraisal = std::move(appraisal_)}; }

 private:
  std::optional<RoundWork> AskForPacking() {
    if (IsKnown()) return std::nullopt;
    if (context_.options.preemption.mode != Preemption::kOff &&
        !appraisal_.has_value() && !IsProofDue()) {
      NoteProof(false);
      context_.stats->skips_proof = true;
      return std::nullopt;
    }
    packing_ = DescribeRound(PackingScope::kAll, &context_);
    // An earlier result is no bound of what has changed since.
    const bool is_known =
        appraisal_.has_value() && !context_.has_changed &&
        packing_.now.waiting.IsNowhereAbove(appraisal_->cost.waiting);
    if (!is_known) appraisal_ = Appraisal();
    appraisal_->cost = packing_.now;
    for (size_t level = 0; level < packing_.now.waiting.size(); ++level) {
      reached_.Add(level,
                   packing_.now.waiting[level] - packing_.misfits[level]);
    }
    if (packing_.now <= packing_.least) {
      NoteProof(true);
      appraisal_->bound = packing_.now;
    } else if (!is_known && !context_.budget.IsSpent(Effort::kImprovements) &&
               !context_.budget.IsSpent(Effort::kPasses) &&
               !packing_.is_too_large) {
      ++context_.stats->packings;
      return PackingWork{
          IsLarge() ? packing_.problem : std::move(packing_.problem),
          {.work_max = context_.budget.Left(Effort::kImprovements)},
          reached_};
    }
    return std::nullopt;
  }

  bool IsProofDue() const {
    const SearchPace* pace = context_.search_pace;
    return pace == nullptr || pace->IsProofDue(context_.state);
  }
  void NoteProof(bool has_one) {
    if (context_.search_pace != nullptr)
      context_.search_pace->NoteProof(has_one);
  }

  // Packing has proved that everything is optimal.
  bool IsKnown() const {
    return appraisal_.has_value() && appraisal_->bound == appraisal_->cost &&
           appraisal_->version == context_.state.version();
  }

  // True if the relaxation of the problem is likely to prove little.
  bool IsLarge() const {
    return packing_.problem.classes.size() > kPackingClassesMax ||
           packing_.problem.groups.size() > kPackingGroupsMax;
  }

  // Asks about the next resource and level that lack a proof.
  std::optional<RoundWork> AskForShares() {
    if (!appraisal_.has_value() || !appraisal_->bound.has_value() ||
        !IsLarge() || context_.options.improve_budget <= 0 ||
        packing_.problem.classes.size() * packing_.problem.costs.size() >
            kArcsMax) {
      return std::nullopt;
    }
    if (!shares_.has_value()) {
      scarce_ = FindScarce(packing_.problem);
      scarce_.resize(std::min(scarce_.size(), kResourcesMax));
      // The packing may have used up the whole budget.
      scans_left_ =
          kScansPerLook * std::max(context_.budget.Left(Effort::kImprovements),
                                   context_.options.improve_budget / 8);
      held_ = reached_.ByLevel(packing_.problem.level_count());
    }
    while (resource_ < scarce_.size() && scans_left_ > 0) {
      if (!shares_.has_value() || level_ > held_.size()) {
        if (shares_.has_value() && ++resource_ == scarce_.size()) break;
        shares_.emplace(packing_.problem, scarce_[resource_]);
        level_ = 0;
      }
      const size_t level = level_++;
      if (!IsToProve(level)) continue;
      shares_->AimAt(std::span(held_).first(level));
      NoteNetwork();
      return GainWork{shares_->problem(), scans_left_};
    }
    return std::nullopt;
  }

  // The level after the last one stands for the placements.
  bool IsToProve(size_t level) const {
    const PackingCost& cost = appraisal_->cost;
    const PackingCost& bound = *appraisal_->bound;
    return level < held_.size() ? bound.waiting[level] < cost.waiting[level]
                                : bound.placed < cost.placed;
  }

  void TakeShares(const GeneralizedSolution& solution) {
    scans_left_ -= solution.work.arc_scans;
    context_.budget.Spend(Effort::kImprovements,
                          solution.work.arc_scans / kScansPerLook);
    const size_t level = level_ - 1;
    const int64_t found = shares_->BoundOf(solution);
    PackingCost& bound = *appraisal_->bound;
    if (level < held_.size()) {
      const int64_t all = found + packing_.misfits[level];
      bound.waiting.Add(level,
                        std::max<int64_t>(all - bound.waiting[level], 0));
    } else {
      bound.placed = std::max(bound.placed, found);
    }
    if (context_.network_log != nullptr) context_.network_log->Close(solution);
  }

  void NoteNetwork() {
    NetworkLog* const log = context_.network_log;
    if (log == nullptr ||
        !log->HasRoomFor(shares_->problem(), context_.stats->number)) {
      return;
    }
    std::map<ClassKey, JobId> jobs;  // One of each class.
    for (const auto& [key, tasks] : context_.state.pending()) {
      if (!tasks.empty()) jobs[key] = tasks.begin()->second->job;
    }
    for (const TaskId id : packing_.placed) {
      const Task* task = context_.state.FindTask(id);
      if (task != nullptr) jobs[task->class_key] = task->job;
    }
    std::vector<std::string> names;
    for (size_t c = 0; c < packing_.classes.size(); ++c) {
      const ClassKey& key = packing_.classes[c];
      const auto job = jobs.find(key);
      const Job* of =
          job == jobs.end() ? nullptr : context_.state.FindJob(job->second);
      names.push_back(StrCat(packing_.problem.classes[c].count(), " of ",
                             of == nullptr ? "no job" : of->name, ", priority ",
                             key.priority));
    }
    log->Open(shares_->problem(), shares_->Meanings(packing_.machines),
              std::move(names));
  }

  RoundContext& context_;
  std::optional<Appraisal> appraisal_;  // As far as it is known.
  bool has_asked_ = false;
  RoundPacking packing_;
  LevelCosts reached_;  // Without what fits nowhere.
  // What is asked for, and which of it comes next.
  std::vector<size_t> scarce_;
  std::vector<int64_t> held_;
  std::optional<ShareNetwork> shares_;
  size_t resource_ = 0;
  size_t level_ = 0;
  int64_t scans_left_ = 0;
};

}  // namespace

std::unique_ptr<Stage> MakeAppraise(RoundContext* context) {
  return std::make_unique<Appraise>(context);
}

}  // namespace sluice
