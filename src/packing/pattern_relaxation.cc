#include "packing/pattern_relaxation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/int128.h"
#include "packing/company.h"
#include "packing/packing_effort.h"
#include "packing/pattern_master.h"
#include "packing/pattern_rules.h"
#include "packing/prices_by_size.h"

namespace sluice {
namespace {

constexpr int kRoundsMax = 60;
constexpr double kSmoothing = 0.5;
// Steps of a class's waiting cost that the master tells apart.
constexpr size_t kStepsMax = 4;
// The minimum worth of a pattern, as a fraction of the unit of cost.
constexpr double kWorthwhile = 1e-5;
// The weight of preferences when sizes decide.
constexpr double kHardlyLiked = 1e-3;
constexpr double kAmountMin = 1e-7;
constexpr double kPriceMax = 1e15;
constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();
// A search for amounts accepts prices this near to the optimum.
constexpr double kNearForAmounts = 1e-3;
// The minimum number of patterns found between two solves of the master.
constexpr size_t kPatternsMin = 12;

int64_t Saturated(Int128 value) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(
      std::clamp<Int128>(value, 0, static_cast<Int128>(kMax)));
}

int64_t RoundUp(int64_t value, int64_t unit) {
  if (unit <= 1 || value > std::numeric_limits<int64_t>::max() - unit) {
    return value;
  }
  return (value + unit - 1) / unit * unit;
}

// Prices of classes, of caps and of their floors, and of budgets.
size_t CountPrices(const PackingProblem& problem) {
  return problem.classes.size() + 2 * problem.caps.size() +
         problem.budgets.size();
}

}  // namespace

// One relaxation: the classes and groups of which something is left, their rows
// in the master, and the resulting prices.
class ColumnGeneration {
 public:
  ColumnGeneration(PatternRelaxation* owner, const PackingRest& rest,
                   std::span<const int64_t> held)
      : owner_(*owner),
        work_end_(owner->work() + owner->WorkLeft() / owner->parts_of_work_),
        problem_(owner->problem_),
        rest_(rest),
        held_(held),
        has_costs_(held.size() == owner->level_count()),
        unit_(static_cast<double>(has_costs_
                                      ? owner->cost_unit_
                                      : owner->waiting_units_[held.size()])) {
    FindRows();
    FindMultiple();
  }

  bool is_empty() const { return classes_.empty(); }

  PatternRelaxation::Relaxed Run(PatternRelaxation::Wanted wanted) {
    const bool wants_bound = wanted == PatternRelaxation::Wanted::kBound;
    const double near = wants_bound ? 1e-9 : kNearForAmounts;
    PatternRelaxation::Relaxed relaxed;
    // Prices are between the master's and those of the best bound so far, which
    // keeps them from oscillating (Wentges: Weighted Dantzig-Wolfe
    // decomposition, 1997), unless that finds nothing.
    bool is_smooth = false;
    auto effort = MachineFilling::Effort::kRough;
    if (!has_costs_) {
      relaxed.prices = prices_ = owner_.prices_by_size_[held_.size()];
      best_ = BoundAtPrices(effort, nullptr, nullptr);
      relaxed.bound = RoundUp(Saturated(best_), multiple_);
      is_smooth = true;
    }
    const PatternMaster::Terms terms = Terms();
    if (PatternMaster::LeastWork(terms) > owner_.WorkLeft()) {
      relaxed.prices.resize(prices_.size(), 0);
      return relaxed;
    }
    PatternMaster master(terms);
    AddNewPatterns(&master);
    for (int round = 0; round < kRoundsMax; ++round) {
      const bool is_solved = Solve(&master);
      SetPrices(master, is_smooth ? relaxed.prices : std::vector<int64_t>());
      bool has_new = false;
      const Int128 bound = BoundAtPrices(effort, &master, &has_new);
      if (relaxed.prices.empty() || bound > best_) {
        best_ = bound;
        relaxed.bound = RoundUp(Saturated(bound), multiple_);
        relaxed.prices = prices_;
      }
      const double met = master.objective() * unit_;
      if (!is_solved || WorkLeft() == 0 ||
          static_cast<double>(relaxed.bound) >= met * (1 - near)) {
        break;
      }
      if (has_new) {
        AddNewPatterns(&master);
        is_smooth = effort == MachineFilling::Effort::kRough;
      } else if (is_smooth) {
        is_smooth = false;
      } else if (effort == MachineFilling::Effort::kExact || !wants_bound) {
        break;
      } else {
        effort = MachineFilling::Effort::kExact;
      }
    }
    const std::vector<double> amounts = master.Amounts();
    for (size_t i = 0; i < amounts.size(); ++i) {
      if (amounts[i] > kAmountMin) {
        relaxed.amounts.push_back({of_master_[i], amounts[i]});
      }
    }
    return relaxed;
  }

  int64_t ProvedAt(const std::vector<int64_t>& prices) {
    prices_ = prices;
    for (size_t b = 0; b < problem_.budgets.size(); ++b) {
      int64_t& price = prices_[PriceOfBudget(b)];
      price = std::clamp<int64_t>(price, 0, MostFor(problem_.budgets[b]));
    }
    return RoundUp(Saturated(BoundAtPrices(MachineFilling::Effort::kRough,
                                           nullptr, nullptr)),
                   multiple_);
  }

 private:
  int64_t CostOn(size_t group, size_t task_class) const {
    return problem_.costs[problem_.groups[group].kind][task_class];
  }
  int64_t ChargeOn(size_t group, size_t task_class, int64_t count) const {
    return problem_.ChargeFor(task_class, problem_.groups[group].kind, count);
  }

  void FindRows() {
    row_of_class_.resize(rest_.tasks.size(), 0);
    for (size_t c = 0; c < rest_.tasks.size(); ++c) {
      if (rest_.tasks[c] == 0) continue;
      row_of_class_[c] = classes_.size();
      classes_.push_back(c);
      waiting_.push_back(FirstSteps(problem_.classes[c], rest_.tasks[c]));
    }
    for (size_t g = 0; g < rest_.machines.size(); ++g) {
      if (rest_.machines[g] > 0) groups_.push_back(g);
    }
    next_known_.resize(groups_.size(), 0);
    prices_.resize(PriceOfBudget(problem_.budgets.size()), 0);
    row_of_budget_.resize(problem_.budgets.size());
    values_.resize(rest_.tasks.size(), 0);
    if (has_costs_ && owner_.has_moves_) moved_ = values_;
    FindCaps();
  }

  // If more tasks count for caps of a spread than they allow without a rise,
  // the caps must rise that far.
  void FindCaps() {
    caps_ = rest_.caps;
    for (const PackingSpread& spread : problem_.spreads) {
      int64_t least = 0;
      for (const size_t cap : spread.caps) {
        least = std::max(least, -rest_.caps[cap]);
      }
      PackingSpread& left = spreads_.emplace_back(spread);
      left.rise_max = std::max<int64_t>(spread.rise_max - least, 0);
      for (size_t i = 0; i < spread.caps.size(); ++i) {
        const size_t cap = spread.caps[i];
        caps_[cap] += least;
        left.ahead[i] += problem_.caps[cap].most - rest_.caps[cap] - least;
        left.ahead[i] = std::max<int64_t>(left.ahead[i], 0);
      }
    }
  }

  size_t PriceOfCap(size_t cap) const { return rest_.tasks.size() + cap; }
  size_t PriceOfFloor(size_t cap) const {
    return PriceOfCap(cap) + rest_.caps.size();
  }

  size_t PriceOfBudget(size_t budget) const {
    return rest_.tasks.size() + 2 * rest_.caps.size() + budget;
  }
  // A budget's price cannot exceed its excess cost.  Exceeding budgets of lower
  // levels costs nothing.
  int64_t MostFor(const PackingBudget& budget) const {
    if (budget.level > held_.size()) return 0;
    const auto most = static_cast<int64_t>(kPriceMax);
    return budget.level == held_.size() ? std::min(budget.cost, most) : most;
  }
  // What a waiting task of the class takes from budgets.
  int64_t BudgetPriceOf(size_t task_class) const {
    int64_t price = 0;
    for (const size_t b : problem_.classes[task_class].budgets) {
      price += prices_[PriceOfBudget(b)];
    }
    return price;
  }

  // Finds a common divisor of all costs, which is a lower bound of a positive
  // cost.
  void FindMultiple() {
    if (!has_costs_) {
      for (const std::vector<WaitingStep>& steps : waiting_) {
        for (const WaitingStep& step : steps) {
          if (step.level == held_.size()) {
            multiple_ = std::gcd(multiple_, step.cost);
          }
        }
      }
      for (const PackingBudget& budget : problem_.budgets) {
        if (budget.level == held_.size()) {
          multiple_ = std::gcd(multiple_, budget.cost);
        }
      }
      return;
    }
    size_t kind = problem_.costs.size();
    for (const size_t g : groups_) {
      if (std::exchange(kind, problem_.groups[g].kind) ==
          problem_.groups[g].kind) {
        continue;
      }
      for (const size_t c : classes_) {
        const int64_t cost = CostOn(g, c);
        if (cost != kNotAllowed) multiple_ = std::gcd(multiple_, cost);
      }
    }
    for (const size_t c : classes_) {
      if (problem_.classes[c].MayMove()) {
        multiple_ = std::gcd(multiple_, problem_.classes[c].move_cost);
      }
    }
  }

  // The steps of a class.  If there are too many, those of one level are
  // combined, and so are those that may wait for free.
  std::vector<PatternMaster::Step> MasterSteps(
      const std::vector<WaitingStep>& waiting) const {
    std::vector<PatternMaster::Step> steps;
    for (size_t begin = 0; begin < waiting.size();) {
      const size_t level = waiting[begin].level;
      size_t end = begin;
      while (end < waiting.size() && waiting[end].level == level) ++end;
      const size_t width = (end - begin + kStepsMax - 1) / kStepsMax;
      const bool is_free = level > held_.size();
      for (size_t i = begin; i < end; ++i) {
        const auto count = static_cast<double>(waiting[i].count);
        const double cost =
            is_free ? 0
                    : static_cast<double>(waiting[i].cost) /
                          static_cast<double>(owner_.waiting_units_[level]);
        const bool is_new = is_free ? steps.empty() : (i - begin) % width == 0;
        if (is_new) {
          steps.push_back({count, cost, is_free ? 0 : level});
          continue;
        }
        PatternMaster::Step& last = steps.back();
        last.cost =
            (last.cost * last.count + cost * count) / (last.count + count);
        last.count += count;
      }
      begin = end;
    }
    return steps;
  }

  PatternMaster::Terms Terms() {
    PatternMaster::Terms terms;
    for (const std::vector<WaitingStep>& steps : waiting_) {
      terms.waiting.push_back(MasterSteps(steps));
    }
    for (const size_t c : classes_) {
      terms.is_exact.push_back(owner_.is_company_[c]);
    }
    for (size_t b = 0; b < problem_.budgets.size(); ++b) {
      const PackingBudget& budget = problem_.budgets[b];
      if (MostFor(budget) == 0) continue;
      row_of_budget_[b] = terms.budgets.size();
      terms.budgets.push_back(
          {static_cast<double>(budget.waiting_max),
           static_cast<double>(budget.cost) /
               static_cast<double>(owner_.waiting_units_[budget.level]),
           budget.level});
    }
    for (const size_t c : classes_) {
      std::vector<size_t>& rows = terms.budgets_of.emplace_back();
      for (const size_t b : problem_.classes[c].budgets) {
        if (row_of_budget_[b].has_value()) rows.push_back(*row_of_budget_[b]);
      }
    }
    for (const size_t g : groups_) {
      terms.machines.push_back(static_cast<double>(rest_.machines[g]));
    }
    for (size_t level = 0; level < held_.size(); ++level) {
      terms.levels.push_back(
          {static_cast<double>(held_[level]) /
               static_cast<double>(owner_.waiting_units_[level]),
           OverflowCost(held_.size() - level)});
    }
    if (!has_costs_) terms.levels.push_back({0, 1});
    terms.caps.assign(caps_.begin(), caps_.end());
    for (const PackingSpread& spread : spreads_) {
      terms.spreads.push_back({spread.caps,
                               {spread.ahead.begin(), spread.ahead.end()},
                               static_cast<double>(spread.rise_max)});
    }
    return terms;
  }

  int64_t WorkLeft() const {
    return std::max<int64_t>(work_end_ - owner_.work(), 0);
  }

  bool Solve(PatternMaster* master) {
    const int64_t before = master->work();
    const bool is_solved = master->Solve(WorkLeft());
    owner_.work_ += master->work() - before;
    return is_solved;
  }

  // Adds patterns as far as there are tasks: more would be of no use.
  void AddNewPatterns(PatternMaster* master) {
    std::vector<std::pair<size_t, int64_t>> tasks;
    Pattern useful;
    for (size_t row = 0; row < groups_.size(); ++row) {
      const std::vector<size_t>& known = owner_.patterns_of_[groups_[row]];
      useful.group = groups_[row];
      for (; next_known_[row] < known.size(); ++next_known_[row]) {
        const KnownPattern& whole = owner_.patterns_[known[next_known_[row]]];
        useful.machines = 1;
        useful.tasks.clear();
        for (const auto& [c, count] : whole.tasks) {
          const int64_t left = std::min(count, rest_.tasks[c]);
          if (left > 0) useful.tasks.emplace_back(c, left);
        }
        useful = WithCompany(
            problem_, WithinCaps(problem_, std::move(useful), rest_.caps));
        if (useful.tasks.empty()) continue;
        // Cut down to what is left, several may be the same.
        if (useful.tasks != whole.tasks &&
            !cut_.emplace(row, useful.tasks).second) {
          continue;
        }
        tasks.clear();
        int64_t cost = 0;
        for (const auto& [c, count] : useful.tasks) {
          tasks.emplace_back(row_of_class_[c], count);
          cost += ChargeOn(groups_[row], c, count);
        }
        of_master_.push_back(known[next_known_[row]]);
        master->AddPattern(row, tasks,
                           has_costs_ ? static_cast<double>(cost) / unit_ : 0,
                           CountedByCaps(useful));
      }
    }
  }

  // By cap, how many of its tasks count for it.
  std::vector<std::pair<size_t, int64_t>> CountedByCaps(
      const Pattern& pattern) const {
    std::vector<std::pair<size_t, int64_t>> counted;
    for (const size_t cap : problem_.groups[pattern.group].caps) {
      const int64_t sum = CountedBy(problem_, cap, pattern);
      if (sum > 0) counted.emplace_back(cap, sum);
    }
    return counted;
  }

  void SetPrices(const PatternMaster& master,
                 const std::vector<int64_t>& center) {
    const auto set = [&](size_t index, double price, double least,
                         double most = kPriceMax) {
      price *= unit_;
      if (!center.empty()) {
        price = kSmoothing * static_cast<double>(center[index]) +
                (1 - kSmoothing) * price;
      }
      prices_[index] =
          static_cast<int64_t>(std::llround(std::clamp(price, least, most)));
    };
    for (const size_t c : classes_) {
      set(c, master.ClassPrice(row_of_class_[c]),
          owner_.is_company_[c] ? -kPriceMax : 0);
    }
    for (size_t cap = 0; cap < rest_.caps.size(); ++cap) {
      set(PriceOfCap(cap), master.CapPrice(cap), 0);
      set(PriceOfFloor(cap), master.FloorPrice(cap), 0);
    }
    for (size_t b = 0; b < row_of_budget_.size(); ++b) {
      if (!row_of_budget_[b].has_value()) continue;
      set(PriceOfBudget(b), master.BudgetPrice(*row_of_budget_[b]), 0,
          static_cast<double>(MostFor(problem_.budgets[b])));
    }
  }

  // What `count` tasks of the class are worth on a machine of the group at the
  // master's prices, less what they are charged there.
  double WorthOn(size_t group, size_t task_class, int64_t count,
                 const PatternMaster& master) const {
    double price = master.ClassPrice(row_of_class_[task_class]);
    for (const size_t cap : problem_.groups[group].caps) {
      const int64_t weight = problem_.WeightIn(problem_.caps[cap], task_class);
      if (weight == 0) continue;
      price -= static_cast<double>(weight) *
               (master.CapPrice(cap) - master.FloorPrice(cap));
    }
    const double worth = static_cast<double>(count) * price * unit_;
    return has_costs_
               ? worth - static_cast<double>(ChargeOn(group, task_class, count))
               : worth;
  }

  void SetValues(size_t group) {
    worth_ = 0;
    counts_ = rest_.tasks;
    charges_.assign(counts_.size(), 0);
    for (const size_t cap : problem_.groups[group].caps) {
      const int64_t price =
          prices_[PriceOfCap(cap)] - prices_[PriceOfFloor(cap)];
      const int64_t room = rest_.caps[cap] + problem_.caps[cap].rise_max;
      for (const size_t c : problem_.caps[cap].classes) {
        const int64_t weight = problem_.WeightIn(problem_.caps[cap], c);
        charges_[c] += weight * price;
        counts_[c] = std::min(counts_[c], room / weight);
      }
    }
    for (const size_t c : classes_) {
      values_[c] = 0;
      const int64_t cost = CostOn(group, c);
      if (cost == kNotAllowed) continue;
      const int64_t value = prices_[c] - charges_[c] - (has_costs_ ? cost : 0);
      values_[c] = static_cast<double>(value);
      if (!moved_.empty()) {
        moved_[c] = values_[c];
        if (problem_.classes[c].MayMove()) {
          moved_[c] -= static_cast<double>(problem_.classes[c].move_cost);
        }
      }
      if (value > 0) worth_ += static_cast<Int128>(value) * counts_[c];
    }
  }

  // If there is a master, learns the patterns that would improve it.
  Int128 BoundAtPrices(MachineFilling::Effort effort, PatternMaster* master,
                       bool* has_new) {
    Int128 bound = WorthOfTasks();
    bound -= WorthOfCaps();
    const PackingGroup* last = nullptr;
    for (size_t row = 0; row < groups_.size(); ++row) {
      const size_t g = groups_[row];
      const PackingGroup& group = problem_.groups[g];
      if (last == nullptr || last->kind != group.kind ||
          last->caps != group.caps) {
        SetValues(g);
      }
      last = &group;
      if (WorkLeft() == 0) effort = MachineFilling::Effort::kRough;
      Filling filling =
          owner_.filling_.Fill(g, values_, counts_, effort, moved_);
      // Prices are integers, and so is the value of the best filling.  All
      // fillings of the group together are worth at most as much as all tasks.
      const auto best = static_cast<Int128>(std::floor(filling.bound));
      const int64_t machines = rest_.machines[g];
      bound -= best > worth_ / machines ? worth_ : best * machines;
      if (master != nullptr) *has_new |= LearnFrom(row, filling, *master);
    }
    return bound;
  }

  // Learns the filling and, if groups are few, also what could be on the
  // machines of the group once those tasks are gone.
  bool LearnFrom(size_t row, Filling filling, const PatternMaster& master) {
    const size_t g = groups_[row];
    const double least = (master.GroupPrice(row) + kWorthwhile) * unit_;
    bool has_new = false;
    std::vector<int64_t> left = counts_;
    for (size_t more = kPatternsMin / groups_.size();; --more) {
      double worth = 0;
      for (const auto& [c, count] : filling.tasks) {
        worth += WorthOn(g, c, count, master);
      }
      if (worth <= least) return has_new;
      has_new |= owner_.Learn({g, 1, filling.tasks});
      if (more == 0) return has_new;
      for (const auto& [c, count] : filling.tasks) {
        left[c] = left[c] / count < rest_.machines[g]
                      ? 0
                      : left[c] - count * rest_.machines[g];
      }
      filling = owner_.filling_.Fill(g, values_, left,
                                     MachineFilling::Effort::kRough, moved_);
    }
  }

  // The worth of all that the caps allow.
  Int128 WorthOfCaps() const {
    Int128 worth = 0;
    for (size_t cap = 0; cap < caps_.size(); ++cap) {
      worth += static_cast<Int128>(prices_[PriceOfCap(cap)]) * caps_[cap];
    }
    for (const PackingSpread& spread : spreads_) {
      Int128 of_rise = 0;  // Per unit.
      for (size_t i = 0; i < spread.caps.size(); ++i) {
        const int64_t floor = prices_[PriceOfFloor(spread.caps[i])];
        worth += static_cast<Int128>(floor) * spread.ahead[i];
        of_rise += prices_[PriceOfCap(spread.caps[i])] - floor;
      }
      worth += std::max<Int128>(of_rise, 0) * spread.rise_max;
    }
    return worth;
  }

  // The worth of all tasks at the prices, less that of the waiting ones.
  Int128 WorthOfTasks() const {
    Int128 worth = 0;
    std::vector<std::vector<Worth>> of_level(held_.size());
    for (size_t row = 0; row < classes_.size(); ++row) {
      const int64_t price = prices_[classes_[row]];
      const int64_t to_wait = BudgetPriceOf(classes_[row]);
      for (const WaitingStep& step : waiting_[row]) {
        const bool is_held = step.level < held_.size();
        const int64_t least =
            to_wait + (step.level == held_.size() ? step.cost : int64_t{0});
        worth += static_cast<Int128>(step.count) *
                 (is_held ? price : std::min(price, least));
        if (is_held && price > to_wait) {
          of_level[step.level].push_back({price - to_wait, step});
        }
      }
    }
    for (size_t b = 0; b < problem_.budgets.size(); ++b) {
      const PackingBudget& budget = problem_.budgets[b];
      const int64_t price = prices_[PriceOfBudget(b)];
      worth -= static_cast<Int128>(price) * budget.waiting_max;
      if (price == 0 || budget.level >= held_.size()) continue;
      of_level[budget.level].push_back(
          {price, {kAnyNumber, budget.cost, budget.level}});
    }
    for (size_t level = 0; level < held_.size(); ++level) {
      worth -= WorthOfWaiting(&of_level[level], held_[level]);
    }
    return worth;
  }

  // The tasks that are worth most for that waiting cost, and a fraction of the
  // last one.
  struct Worth {
    int64_t price;
    WaitingStep step;
  };
  static Int128 WorthOfWaiting(std::vector<Worth>* steps, int64_t left) {
    std::ranges::stable_sort(*steps, [](const Worth& a, const Worth& b) {
      return static_cast<Int128>(a.price) * b.step.cost >
             static_cast<Int128>(b.price) * a.step.cost;
    });
    Int128 worth = 0;
    for (const auto& [price, step] : *steps) {
      if (left <= 0) break;
      const int64_t count = std::min(step.count, left / step.cost);
      worth += static_cast<Int128>(count) * price;
      left -= count * step.cost;
      if (count == step.count) continue;
      worth += (static_cast<Int128>(left) * price + step.cost - 1) / step.cost;
      left = 0;
    }
    return worth;
  }

  PatternRelaxation& owner_;
  const int64_t work_end_;
  const PackingProblem& problem_;
  const PackingRest& rest_;
  const std::span<const int64_t> held_;  // By level, those above.
  const bool has_costs_;                 // All levels are held.
  const double unit_;                    // Of prices.
  int64_t multiple_ = 0;                 // A common divisor of all costs.
  std::vector<size_t> classes_;
  std::vector<size_t> groups_;
  std::vector<size_t> row_of_class_;
  std::vector<std::vector<WaitingStep>> waiting_;  // By row of a class.
  std::vector<size_t> next_known_;  // By row of a group: the first not added.
  std::vector<size_t> of_master_;   // The pattern of each of its columns.
  // Patterns that were cut down to what is left, with the row of their group.
  absl::flat_hash_set<std::pair<size_t, decltype(Pattern::tasks)>> cut_;
  // By budget, its row in the master; nullopt if it is of no use.
  std::vector<std::optional<size_t>> row_of_budget_;
  std::vector<int64_t> caps_;           // What they allow.
  std::vector<PackingSpread> spreads_;  // As they are left.
  // By class, by cap, by cap of its floor, and by budget.
  std::vector<int64_t> prices_;
  std::vector<int64_t> charges_;  // By class, on a group: of its caps.
  std::vector<double> values_;    // Worth there.
  std::vector<double> moved_;     // The same if it moves there.
  std::vector<int64_t> counts_;   // How many are there for it.
  Int128 worth_ = 0;              // Of all tasks at these values.
  Int128 best_ = 0;
};

PatternRelaxation::PatternRelaxation(const PackingProblem& problem,
                                     int64_t work_max, int64_t parts_of_work)
    : problem_(problem),
      work_max_(work_max),
      parts_of_work_(parts_of_work),
      filling_(problem),
      has_moves_(std::ranges::any_of(problem.classes, &PackingClass::MayMove)),
      is_company_(FindCompany(problem)),
      patterns_of_(problem.groups.size()),
      prices_by_size_(problem.level_count(),
                      std::vector<int64_t>(CountPrices(problem), 0)),
      waiting_units_(problem.level_count(),
                     std::numeric_limits<int64_t>::max()) {
  for (const PackingClass& one : problem.classes) {
    for (const WaitingStep& step : one.waiting) {
      int64_t& unit = waiting_units_[step.level];
      unit = std::min(unit, step.cost);
    }
  }
  for (const PackingBudget& budget : problem.budgets) {
    int64_t& unit = waiting_units_[budget.level];
    unit = std::min(unit, budget.cost);
  }
  for (const std::vector<int64_t>& costs : problem.costs) {
    for (const int64_t cost : costs) {
      if (cost == kNotAllowed) continue;
      has_likings_ |= cost > 0;
      cost_unit_ = std::max(cost_unit_, cost);
    }
  }
  for (const PackingClass& one : problem.classes) {
    if (one.MayMove()) cost_unit_ = std::max(cost_unit_, one.move_cost);
  }
  if (problem.groups.empty() || problem.classes.empty()) return;
  prices_by_size_ = FindPricesBySize(problem);
  values_by_size_ = FindValuesBySize(problem, prices_by_size_);
  for (std::vector<int64_t>& prices : prices_by_size_) {
    prices.resize(CountPrices(problem), 0);
  }
}

bool PatternRelaxation::Learn(const Pattern& made) {
  const auto is_same = [&](size_t i) {
    return patterns_[i].tasks == made.tasks;
  };
  if (std::ranges::any_of(patterns_of_[made.group], is_same)) return false;
  const size_t kind = problem_.groups[made.group].kind;
  KnownPattern pattern{made.group, made.tasks, 0};
  for (const auto& [task_class, count] : made.tasks) {
    pattern.cost += problem_.ChargeFor(task_class, kind, count);
  }
  patterns_of_[made.group].push_back(patterns_.size());
  patterns_.push_back(std::move(pattern));
  return true;
}

std::vector<std::vector<Pattern>> PatternRelaxation::Seed() {
  if (problem_.groups.empty() || problem_.classes.empty()) return {};
  const PackingRest whole = AllOf(problem_);
  // All tasks equally, by their price, and by what they like.
  const std::vector<double> alike(whole.tasks.size(), 1);
  std::vector<std::vector<Pattern>> packings = {
      FillInTurn(whole, alike, kHardlyLiked),
      FillInTurn(whole, values_by_size_, kHardlyLiked)};
  // If no machine is liked better than another, this packing is no better than
  // the previous one, and only the master can use its patterns.
  if (has_likings_ || problem_.classes.size() <= kPackingClassesMax) {
    packings.push_back(FillInTurn(whole, values_by_size_, 1));
  }
  for (const std::vector<Pattern>& packing : packings) {
    for (const Pattern& pattern : packing) Learn(pattern);
  }
  return packings;
}

template <class Value>
std::vector<Pattern> PatternRelaxation::FillEach(const PackingRest& rest,
                                                 size_t first_group,
                                                 Value value) {
  std::vector<Pattern> packing;
  const size_t classes = rest.tasks.size();
  std::vector<double> liked(classes);
  std::vector<double> moved(has_moves_ ? classes : 0);
  std::vector<int64_t> left = rest.tasks;
  std::vector<int64_t> caps = rest.caps;
  std::vector<int64_t> counts(classes);
  std::vector<int64_t> excess;
  const size_t groups = rest.machines.size();
  for (size_t i = 0; i < groups; ++i) {
    const size_t g = first_group + i - (first_group + i < groups ? 0 : groups);
    for (int64_t machines = rest.machines[g]; machines > 0;) {
      if (IsSpent()) return packing;
      excess = ExcessOfBudgets(problem_, left);
      for (size_t c = 0; c < classes; ++c) {
        const int64_t cost = problem_.costs[problem_.groups[g].kind][c];
        counts[c] = std::min(left[c], RoomInCaps(problem_, g, c, caps));
        if (cost == kNotAllowed || left[c] == 0) continue;
        const TaskWorth worth =
            value(c, MostUrgentOf(problem_, c, left, excess), left[c], cost);
        liked[c] = worth.liked;
        if (has_moves_) moved[c] = worth.moved;
        counts[c] = std::min(counts[c], worth.count);
      }
      const Filling filling = filling_.Fill(
          g, liked, counts, MachineFilling::Effort::kRough, moved);
      if (filling.tasks.empty()) break;
      Pattern pattern = WithCompany(
          problem_, WithinCaps(problem_, {g, machines, filling.tasks}, caps));
      for (const auto& [c, count] : pattern.tasks) {
        pattern.machines = std::min(pattern.machines, counts[c] / count);
      }
      for (const auto& [c, count] : pattern.tasks) {
        left[c] -= count * pattern.machines;
      }
      TakeFromCaps(problem_, pattern, pattern.machines, &caps);
      machines -= pattern.machines;
      packing.push_back(std::move(pattern));
    }
  }
  return packing;
}

std::vector<Pattern> PatternRelaxation::FillInTurn(
    const PackingRest& rest, const std::vector<double>& values, double liking) {
  // A class is worth what its most urgent remaining task is.
  return FillEach(
      rest, 0,
      [&](size_t c, const WaitingStep& step, int64_t /*left*/, int64_t cost) {
        const PackingClass& of = problem_.classes[c];
        const double worth = std::pow(
            kLevelWorth, static_cast<double>(level_count() - step.level - 1));
        const double liked = worth * (values[c] + liking * (1 - PartOf(cost)));
        const double move =
            of.MayMove() ? worth * liking * PartOf(of.move_cost) : 0;
        return TaskWorth{liked, liked - move, kAnyNumber};
      });
}

std::vector<Pattern> PatternRelaxation::FillByLevel(
    const PackingRest& rest, const FillingOrder& order,
    const std::vector<std::vector<double>>& values) {
  return FillEach(
      rest, order.first_group,
      [&](size_t c, WaitingStep step, int64_t left, int64_t cost) {
        const PackingClass& of = problem_.classes[c];
        if (step.level < order.together && !of.runs) {
          step = StepDownTo(of, left, order.together);
        }
        const double value = values[step.level][c];
        const double liked = value * (1 + kHardlyLiked * (1 - PartOf(cost)));
        const double move =
            of.MayMove() ? value * kHardlyLiked * PartOf(of.move_cost) : 0;
        return TaskWorth{liked, liked - move, step.count};
      });
}

PatternRelaxation::Relaxed PatternRelaxation::Relax(
    const PackingRest& rest, std::span<const int64_t> held, Wanted wanted) {
  ColumnGeneration generation(this, rest, held);
  if (generation.is_empty()) return {};
  return generation.Run(wanted);
}

int64_t PatternRelaxation::BoundAt(const PackingRest& rest,
                                   std::span<const int64_t> held,
                                   const std::vector<int64_t>& prices) {
  ColumnGeneration generation(this, rest, held);
  return generation.is_empty() ? 0 : generation.ProvedAt(prices);
}

}  // namespace sluice
