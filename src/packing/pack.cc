#include "packing/pack.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "packing/coarse_groups.h"
#include "packing/gang_bound.h"
#include "packing/leveling.h"
#include "packing/merged_classes.h"
#include "packing/merged_groups.h"
#include "packing/packing_draft.h"
#include "packing/pattern_relaxation.h"
#include "packing/pattern_search.h"
#include "packing/seating.h"

namespace sluice {
namespace {

constexpr double kRoundUpFrom[] = {1.0, 0.75, 0.55};
// Dives end once the best is proved to be within one part in this of the bound:
// the other dives would find too little for their time, and mending finds the
// rest as well.
constexpr int64_t kNearInWaiting = 1'000;
constexpr int64_t kNearInPlaced = 200;
constexpr int kMendsMax = 120;
constexpr int kThoroughMendsMax = 4000;
// With running tasks there are twice as many levels, each with relaxations of
// its own: none may take much of the work.
constexpr int64_t kThoroughPartsOfWork = 12;
constexpr int kMendsInTurnMax = 2400;
constexpr int kMendsPerMachine = 40;
// If relaxations take longer than they are worth, they get one part in this of
// the work, which is enough for a bound.
constexpr int64_t kBoundPartsOfWork = 16;
// Prices are found for this many groups if there are too many for a row each.
constexpr size_t kCoarseGroupsMax = 100;

// The maximum of waiting gangs that are tried.  Each may take as much work as
// the search before, and all of them this many times as much.
constexpr int kGangsTriedMax = 12;
constexpr int64_t kGangWorkMax = 4;
// How many proofs may be followed by a search with their final gangs.
constexpr int kProvedTriedMax = 3;

// A search that has taken this much work, plus this much per pair of machine
// and class, hardly finds more.
constexpr int64_t kUsefulWork = 10'000'000;
constexpr int64_t kUsefulWorkByPair = 1'000;

bool IsNear(int64_t cost, int64_t bound, int64_t part) {
  return cost - bound <= bound / part;
}

int64_t UsefulWork(const PackingProblem& problem) {
  double machines = 0;
  for (const PackingGroup& group : problem.groups) {
    machines += static_cast<double>(group.machines);
  }
  const double pairs = machines * static_cast<double>(problem.classes.size());
  constexpr double kMax = 1e15;
  return kUsefulWork +
         static_cast<int64_t>(std::min(pairs * kUsefulWorkByPair, kMax));
}

class Packer {
 public:
  // `problem`: that of merged classes, with merged groups.
  Packer(const MergedClasses& classes, const PackingProblem& problem,
         const PackingEffort& effort)
      : classes_(classes),
        problem_(problem),
        levels_(problem.level_count()),
        mends_max_(effort.is_thorough ? kThoroughMendsMax : kMendsMax),
        effort_(effort),
        work_max_(effort.work_max),
        relaxation_(problem, effort.work_max,
                    effort.is_thorough ? kThoroughPartsOfWork
                                       : PatternRelaxation::kPartsOfWork),
        whole_(AllOf(problem)) {
    if (!classes.problem().gangs.empty()) seating_ = classes.MakeSeating();
  }

  PackingSolution Run() {
    Keep(Drafted(problem_.former));
    // A machine may have to keep a part of what it runs, but the relaxation
    // mixes machines that keep all with machines that keep nothing.
    if (std::ranges::any_of(problem_.classes, &PackingClass::runs)) {
      Keep(Drafted({}));
    }
    const bool has_many_groups = problem_.groups.size() > kPackingGroupsMax;
    if (!has_many_groups || problem_.former.empty()) {
      for (const std::vector<Pattern>& packing : relaxation_.Seed()) {
        if (best_.has_value() && relaxation_.IsSpent()) break;
        Keep(Drafted(packing));
      }
    }
    const bool has_many_classes = problem_.classes.size() > kPackingClassesMax;
    const LevelCosts waiting = best_->Cost().waiting;
    const bool leaves_out = !waiting.IsNowhereAbove(BoundBySize(waiting));
    if (has_many_groups) {
      SearchNearby(leaves_out);
    } else {
      if (has_many_classes && leaves_out) {
        const int64_t left =
            work_max_ / (effort_.is_thorough ? 2 : kBoundPartsOfWork);
        MendInTurn(std::min(work_max_ - left, effort_.nearby_max));
      }
      SearchWhole();
      if (!has_many_classes) {
        StartGangs();
        SearchBesideStarted();
        SearchBesideProved();
      }
    }
    relaxation_.Charge(best_->MoveUp());
    PackingSolution solution;
    solution.cost = best_->Cost();
    solution.bound = bound_;
    for (const Pattern& pattern : best_->patterns()) {
      if (!pattern.tasks.empty() && pattern.machines > 0) {
        solution.patterns.push_back(pattern);
      }
    }
    solution.is_cut_short = relaxation_.IsSpent();
    solution.work = relaxation_.work() + coarse_work_;
    return solution;
  }

  PackingSolution Prove(const LevelCosts& waiting) {
    PackingSolution solution;
    if (problem_.groups.size() > kPackingGroupsMax) {
      solution.bound = BoundAtCoarsePrices(waiting);
    } else {
      relaxation_.Seed();
      const std::vector<int64_t> held = waiting.ByLevel(levels_);
      solution.bound = {BoundsBeside(held), RelaxWhole(held).bound};
    }
    solution.is_cut_short = relaxation_.IsSpent();
    solution.work = relaxation_.work() + coarse_work_;
    return solution;
  }

 private:
  using Held = std::span<const int64_t>;

  // Relaxes the whole problem, once for each list of held levels.
  const PatternRelaxation::Relaxed& RelaxWhole(Held held) {
    const auto [it, is_new] = relaxed_.try_emplace({held.begin(), held.end()});
    if (is_new) it->second = relaxation_.Relax(whole_, held);
    return it->second;
  }

  // The bound of each level if those above leave what is held.
  LevelCosts BoundsBeside(Held held) {
    LevelCosts bounds;
    for (size_t level = 0; level < held.size(); ++level) {
      bounds.Add(level, RelaxWhole(held.first(level)).bound);
    }
    return bounds;
  }

  // Holds each further level at its minimum given the levels above.
  void HoldAllAtLeast(std::vector<int64_t>* held) {
    while (held->size() < levels_) {
      held->push_back(RelaxWhole(*held).bound);
    }
  }

  // Finds the bound, dives towards it, and mends the result.
  void SearchWhole() {
    // A relaxation of that many levels takes long, and its dives are often
    // worse than mending without one.
    if (effort_.is_thorough) MendInTurn(work_max_ / 2, MendsInTurn());
    std::vector<int64_t> held;
    HoldAllAtLeast(&held);
    bound_ = {LevelCosts(held), RelaxWhole(held).bound};
    prices_ = RelaxWhole(held).prices;
    DiveFor(held, bound_.placed);
    for (size_t level = 0; level < levels_; ++level) {
      if (IsNear(best_->Cost().waiting[level], held[level], kNearInWaiting)) {
        continue;
      }
      if (relaxation_.IsSpent()) break;
      // First the level alone; then the minimum of all later ones, given this
      // level's minimum.
      Keep(DiveFirst(Held(held).first(level)));
      held.resize(level);
      held.push_back(best_->Cost().waiting[level]);
      HoldAllAtLeast(&held);
      DiveFor(held, 0);
    }
    if (dived_.has_value() && dived_->Cost() > best_->Cost()) {
      // One more task waits, but nearly all are where they should be.
      Mend(problem_, {bound_, mends_max_}, &relaxation_, &*dived_);
      Keep(*std::move(dived_));
    }
    MendBest({bound_, mends_max_});
    if (best_->Cost().waiting != bound_.waiting) ProveReached();
  }

  // Bounds of later levels assume what the earlier levels leave.
  void ProveReached() {
    const std::vector<int64_t> reached = best_->Cost().waiting.ByLevel(levels_);
    bound_.waiting = BoundsBeside(reached);
    // A bound at known prices costs no time.
    bound_.placed = std::max(relaxation_.BoundAt(whole_, reached, prices_),
                             RelaxWhole(reached).bound);
  }

  // A gang that the relaxation starts in part may be worth starting whole.
  // Tries waiting gangs, the dearest first, one at a time, as if they must not
  // wait.
  void StartGangs() {
    if (!seating_.has_value()) return;
    const std::vector<Seating::Gang>& gangs = seating_->gangs();
    std::vector<size_t> order(gangs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](size_t g) { return gangs[g].cost; });
    std::set<size_t> failed;  // Kinds.
    int tries = 0;
    const int64_t work = relaxation_.work();
    const int64_t work_max = std::min(work_max_, work * (1 + kGangWorkMax));
    for (const size_t g : order) {
      if (failed.contains(gangs[g].kind) || best_->HasStarted(g)) continue;
      if (best_->Cost().waiting <= bound_.waiting || relaxation_.IsSpent()) {
        return;
      }
      const int64_t left = work_max - relaxation_.work();
      if (++tries > kGangsTriedMax || left <= 0) return;
      const LevelCosts before = best_->Cost().waiting;
      const size_t index = gangs[g].index;
      SearchWith(std::span(&index, 1), {}, std::min(work, left));
      if (best_->Cost().waiting == before) {
        failed.insert(gangs[g].kind);
      } else {
        failed.clear();
        ProveReached();
      }
    }
  }

  // The relaxation starts gangs in part, which misleads its dives.  Searches
  // again with the running gangs decided on.
  void SearchBesideStarted() {
    if (!seating_.has_value()) return;
    std::vector<size_t> run;
    for (size_t g = 0; g < seating_->gangs().size(); ++g) {
      if (best_->HasStarted(g)) run.push_back(seating_->gangs()[g].index);
    }
    SearchBeside(run, relaxation_.work());
  }

  // The same with the final gangs of a proof, as long as that helps.
  void SearchBesideProved() {
    if (!seating_.has_value()) return;
    const int64_t work = relaxation_.work();
    for (int i = 0; i <= kProvedTriedMax; ++i) {
      const std::optional<std::vector<size_t>> run = ProveWithGangs();
      if (i == kProvedTriedMax || !run.has_value() ||
          !SearchBeside(*run, work)) {
        return;
      }
    }
  }

  // Searches as if these gangs must run and there were no others.  Returns
  // whether that helps.
  bool SearchBeside(std::vector<size_t> run, int64_t work_max) {
    std::ranges::sort(run);
    const PackingCost before = best_->Cost();
    const int64_t left = work_max_ - relaxation_.work();
    if (before <= bound_ || left <= 0 || !searched_.insert(run).second) {
      return false;
    }
    std::vector<size_t> wait;
    for (size_t g = 0; g < classes_.problem().gangs.size(); ++g) {
      if (!std::ranges::binary_search(run, g)) wait.push_back(g);
    }
    SearchWith(run, wait, std::min(work_max, left));
    const LevelCosts proved = bound_.waiting;
    const LevelCosts reached = best_->Cost().waiting;
    if (reached == before.waiting) return best_->Cost() < before;
    ProveReached();
    // What was proved with gangs still holds if the levels above leave what
    // they did.
    for (size_t level = 0; level < levels_; ++level) {
      bound_.waiting.Add(
          level, std::max<int64_t>(proved[level] - bound_.waiting[level], 0));
      if (reached[level] != before.waiting[level]) break;
    }
    return best_->Cost() < before;
  }

  // Searches with these gangs decided on.
  void SearchWith(std::span<const size_t> run, std::span<const size_t> wait,
                  int64_t work_max) {
    PackingProblem decided = WithDecided(classes_.problem(), run, wait);
    decided.groups = problem_.groups;
    decided.former = classes_.Part(best_->patterns());
    // With the decision, fewer classes may merge than without, but more groups.
    const MergedClasses classes(decided);
    const MergedGroups groups(classes.merged());
    relaxation_.Charge(std::ssize(decided.groups) +
                       std::ssize(decided.classes) * std::ssize(decided.costs));
    Packer packer(classes, groups.merged(),
                  {.work_max = work_max, .is_thorough = effort_.is_thorough});
    packer.SearchOnce();
    relaxation_.Charge(packer.relaxation_.work());
    Keep(Drafted(
        classes_.Merge(classes.Part(groups.Part(packer.best_->patterns())))));
  }

  void SearchOnce() {
    Keep(Drafted(problem_.former));
    for (const std::vector<Pattern>& packing : relaxation_.Seed()) {
      Keep(Drafted(packing));
    }
    SearchWhole();
  }

  // Raises the bounds: the relaxation starts gangs in part, but no packing
  // does.  Returns the gangs that run in the proof of the first bound that is
  // not met, or nullopt if that proof was not finished.
  std::optional<std::vector<size_t>> ProveWithGangs() {
    std::optional<std::vector<size_t>> run;
    bool is_first = true;
    const int64_t work_max = relaxation_.work();
    const std::vector<int64_t> reached = best_->Cost().waiting.ByLevel(levels_);
    const auto bound = [&](size_t held, int64_t known, int64_t cost) {
      const int64_t work = std::min(work_max, work_max_ - relaxation_.work());
      if (known >= cost || work <= 0) return known;
      const GangBound found = BoundWithGangs(
          classes_.problem(), Held(reached).first(held), cost, work);
      relaxation_.Charge(found.work);
      if (found.bound < cost && std::exchange(is_first, false)) run = found.run;
      return std::max(known, found.bound);
    };
    LevelCosts waiting;
    for (size_t level = 0; level < levels_; ++level) {
      waiting.Add(level, bound(level, bound_.waiting[level], reached[level]));
    }
    bound_ = {waiting, bound(levels_, bound_.placed, best_->Cost().placed)};
    return run;
  }

  // A number that suits how much there is to find on so many machines.
  int MendsInTurn() const {
    constexpr int64_t kMost = kMendsInTurnMax / kMendsPerMachine;
    int64_t machines = 0;
    for (const PackingGroup& group : problem_.groups) {
      machines = std::min(machines + std::min(group.machines, kMost), kMost);
    }
    return static_cast<int>(machines) * kMendsPerMachine;
  }

  void MendInTurn(int64_t work_max, int attempts_max = kMendsInTurnMax) {
    relaxation_.Charge(best_->MoveUp());
    MendBest({.bound = bound_,
              .attempts_max = attempts_max,
              .work_max = work_max,
              .in_turn = true,
              .seed = effort_.seed});
  }

  // For clusters in which hardly any two machines are equal: proves what coarse
  // prices allow, which takes a tenth of the search, and mends the known
  // packing until it meets that.
  void SearchNearby(bool leaves_out) {
    const LevelCosts waiting = best_->Cost().waiting;
    int64_t work_max = work_max_ / 2;
    if (effort_.wants_bound) {
      const int64_t before = relaxation_.work();
      bound_ = BoundAtCoarsePrices(waiting);
      work_max += relaxation_.work() - before;
    }
    if (leaves_out) MendInTurn(work_max);
    // Each machine is a pattern of its own: more attempts are worthwhile.
    const auto attempts = mends_max_ + static_cast<int>(problem_.groups.size());
    MendBest({.bound = bound_, .attempts_max = attempts, .seed = effort_.seed});
    const PackingCost cost = best_->Cost();
    if (effort_.wants_bound && cost > bound_ && cost.waiting != waiting) {
      // With what waits now, later levels may have lower bounds.
      bound_ = BoundAtCoarsePrices(cost.waiting);
    }
  }

  PackingCost BoundAtCoarsePrices(const LevelCosts& waiting) {
    const PackingProblem coarse = CoarseProblem(problem_, kCoarseGroupsMax);
    PatternRelaxation prices(coarse, work_max_ / 4);
    const PackingRest rest = AllOf(coarse);
    prices.Seed();
    const auto bound_beside = [&](Held held) {
      const auto [it, is_new] =
          bound_at_coarse_.try_emplace({held.begin(), held.end()});
      if (is_new) {
        it->second =
            relaxation_.BoundAt(whole_, held, prices.Relax(rest, held).prices);
      }
      return it->second;
    };
    const std::vector<int64_t> held = waiting.ByLevel(levels_);
    const LevelCosts by_size = BoundBySize(waiting);
    PackingCost bound;
    for (size_t level = 0; level < levels_; ++level) {
      if (held[level] == 0) continue;
      bound.waiting.Add(level, std::max(by_size[level],
                                        bound_beside(Held(held).first(level))));
    }
    bound.placed = bound_beside(held);
    coarse_work_ += prices.work();
    return bound;
  }

  // The bound of each level, given what those above leave.
  LevelCosts BoundBySize(const LevelCosts& waiting) {
    const std::vector<int64_t> held = waiting.ByLevel(levels_);
    LevelCosts bound;
    for (size_t level = 0; level < levels_; ++level) {
      if (held[level] == 0) continue;
      const Held above = Held(held).first(level);
      const auto [it, is_new] =
          bound_by_size_.try_emplace({above.begin(), above.end()});
      if (is_new) {
        it->second = relaxation_.BoundAt(whole_, above,
                                         relaxation_.prices_by_size(level));
      }
      bound.Add(level, it->second);
    }
    return bound;
  }

  PackingDraft Empty() {
    return {problem_, whole_, seating_.has_value() ? &*seating_ : nullptr};
  }

  PackingDraft Drafted(const std::vector<Pattern>& patterns) {
    PackingDraft draft = Empty();
    for (const Pattern& pattern : patterns) draft.Put(pattern);
    draft.FillUp();
    return draft;
  }

  PackingDraft DiveFirst(Held held) {
    return Dive(Empty(), held, kRoundUpFrom[0], &relaxation_,
                &RelaxWhole(held));
  }

  // True if the best leaves hardly more than is held and costs hardly more than
  // `placed`.
  bool IsBestNear(Held held, int64_t placed) const {
    const PackingCost& cost = best_->Cost();
    for (size_t level = 0; level < held.size(); ++level) {
      if (!IsNear(cost.waiting[level], held[level], kNearInWaiting)) {
        return false;
      }
    }
    return IsNear(cost.placed, placed, kNearInPlaced);
  }

  // Dives until the best is near to that.
  void DiveFor(Held held, int64_t placed) {
    for (const double round_up_from : kRoundUpFrom) {
      if (IsBestNear(held, placed) || relaxation_.IsSpent()) return;
      // Later dives relax anew: with the patterns learned since, they start
      // from another optimum.
      PackingDraft draft =
          round_up_from == kRoundUpFrom[0]
              ? DiveFirst(held)
              : Dive(Empty(), held, round_up_from, &relaxation_);
      if (!dived_.has_value() || draft.Cost() < dived_->Cost()) dived_ = draft;
      Keep(std::move(draft));
    }
  }

  void MendBest(const MendOptions& options) {
    if (problem_.spreads.empty() && !seating_.has_value()) {
      Mend(problem_, options, &relaxation_, &*best_);
      return;
    }
    // For the mended packing, caps may have to sink again, and gangs to wait.
    PackingDraft mended = *best_;
    Mend(problem_, options, &relaxation_, &mended);
    Keep(std::move(mended));
  }

  // Keeps the draft if it is the best so far.  From then on its caps allow all
  // that it has placed, and gangs are whole.
  void Keep(PackingDraft draft) {
    if (!problem_.spreads.empty() || seating_.has_value()) draft.FillUp();
    relaxation_.Charge(draft.TakeWork());
    if (!best_.has_value() || draft.Cost() < best_->Cost()) {
      best_.emplace(std::move(draft));
    }
  }

  const MergedClasses& classes_;
  const PackingProblem& problem_;
  const size_t levels_;
  const int mends_max_;
  const PackingEffort effort_;
  const int64_t work_max_;
  PatternRelaxation relaxation_;
  PackingRest whole_;
  // Results for the whole problem, by held levels.
  std::map<std::vector<int64_t>, PatternRelaxation::Relaxed> relaxed_;
  // For the level after these; or, with all of them, for placements.
  std::map<std::vector<int64_t>, int64_t> bound_by_size_;
  std::map<std::vector<int64_t>, int64_t> bound_at_coarse_;
  std::optional<Seating> seating_;  // If there are gangs.
  // Sets of gangs with which, as the only ones, a search was made.
  std::set<std::vector<size_t>> searched_;
  PackingCost bound_;
  std::vector<int64_t> prices_;  // Of the placements at the least waiting cost.
  std::optional<PackingDraft> best_;
  std::optional<PackingDraft> dived_;  // The best of the dives.
  int64_t coarse_work_ = 0;
};

}  // namespace

PackingSolution ProveBound(const PackingProblem& problem,
                           const LevelCosts& waiting_cost, int64_t work_max) {
  const MergedClasses classes(problem);
  const MergedGroups groups(classes.merged());
  return Packer(classes, groups.merged(), {.work_max = work_max})
      .Prove(waiting_cost);
}

PackingSolution Pack(const PackingProblem& problem,
                     const PackingEffort& effort) {
  const MergedClasses classes(problem);
  const MergedGroups groups(classes.merged());
  PackingEffort useful = effort;
  if (!effort.is_thorough) {
    useful.work_max = std::min(effort.work_max, UsefulWork(groups.merged()));
  }
  if (groups.merged().groups.size() > kPackingGroupsMax) {
    useful.work_max = std::min(useful.work_max, effort.nearby_max);
  }
  PackingSolution solution = Packer(classes, groups.merged(), useful).Run();
  solution.patterns =
      classes.Part(Level(classes.merged(), groups.Part(solution.patterns)));
  return solution;
}

}  // namespace sluice
