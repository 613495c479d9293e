#include "packing/pattern_relaxation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/int128.h"
#include "packing/pattern_master.h"

namespace sluice {
namespace {

constexpr int kRoundsMax = 60;
constexpr double kSmoothing = 0.5;
// Steps of a class's waiting cost that the master tells apart.
constexpr size_t kStepsMax = 4;
// What a unit of waiting cost is worth beside the dearest placement.
constexpr double kOverflow = 64;
// A pattern must be worth so much, as a part of the unit of cost.
constexpr double kWorthwhile = 1e-5;
// What likes and dislikes count where sizes decide.
constexpr double kHardlyLiked = 1e-3;
constexpr double kAmountMin = 1e-7;
constexpr double kPriceMax = 1e15;
// A search for amounts is content with prices so near to the optimum.
constexpr double kNearForAmounts = 1e-3;
// Patterns that are looked for between two solves of the master, at least.
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

double DominantShare(const PackingClass& of, const PackingGroup& group) {
  double share = 0;
  for (size_t d = 0; d < group.free.size(); ++d) {
    share = std::max(
        share, static_cast<double>(of.request[d]) /
                   static_cast<double>(std::max<int64_t>(group.free[d], 1)));
  }
  return share;
}

// The steps, with the last ones as one where they are too many.
std::vector<PatternMaster::Step> MasterSteps(
    const std::vector<WaitingStep>& waiting, double unit) {
  std::vector<PatternMaster::Step> steps;
  const size_t width = (waiting.size() + kStepsMax - 1) / kStepsMax;
  for (size_t i = 0; i < waiting.size(); ++i) {
    const auto count = static_cast<double>(waiting[i].count);
    const double cost = static_cast<double>(waiting[i].cost) / unit;
    if (i % width == 0) {
      steps.push_back({count, cost});
      continue;
    }
    PatternMaster::Step& last = steps.back();
    last.cost = (last.cost * last.count + cost * count) / (last.count + count);
    last.count += count;
  }
  return steps;
}

}  // namespace

// One relaxation: the classes and groups of which something is left, their rows
// in the master, and the prices that it came to.
class ColumnGeneration {
 public:
  ColumnGeneration(PatternRelaxation* owner, const PackingRest& rest,
                   std::optional<int64_t> waiting_cost)
      : owner_(*owner),
        problem_(owner->problem_),
        rest_(rest),
        waiting_cost_(waiting_cost),
        unit_(static_cast<double>(waiting_cost.has_value()
                                      ? owner->cost_unit_
                                      : owner->waiting_unit_)) {
    FindRows();
    FindMultiple();
  }

  bool is_empty() const { return classes_.empty(); }

  PatternRelaxation::Relaxed Run(PatternRelaxation::Wanted wanted) {
    const bool wants_bound = wanted == PatternRelaxation::Wanted::kBound;
    PatternMaster master(Terms());
    AddNewPatterns(&master);
    const double near = wants_bound ? 1e-9 : kNearForAmounts;
    PatternRelaxation::Relaxed relaxed;
    // Prices lie between the master's and those of the best bound so far, which
    // keeps them from swinging (Wentges: Weighted Dantzig-Wolfe decomposition,
    // 1997), unless that finds nothing.
    bool is_smooth = false;
    auto effort = MachineFilling::Effort::kRough;
    if (!waiting_cost_.has_value() && !owner_.prices_by_size_.empty()) {
      relaxed.prices = prices_ = owner_.prices_by_size_;
      best_ = BoundAtPrices(effort, nullptr, nullptr);
      relaxed.bound = RoundUp(Saturated(best_), multiple_);
      is_smooth = true;
    }
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
      if (!is_solved || owner_.IsSpent() ||
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
    return RoundUp(Saturated(BoundAtPrices(MachineFilling::Effort::kRough,
                                           nullptr, nullptr)),
                   multiple_);
  }

 private:
  int64_t CostOn(size_t group, size_t task_class) const {
    return problem_.costs[problem_.groups[group].kind][task_class];
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
    prices_.resize(rest_.tasks.size(), 0);
    values_.resize(rest_.tasks.size(), 0);
  }

  // Of what all costs are multiples, and so the least cost.
  void FindMultiple() {
    if (!waiting_cost_.has_value()) {
      for (const std::vector<WaitingStep>& steps : waiting_) {
        for (const WaitingStep& step : steps) {
          multiple_ = std::gcd(multiple_, step.cost);
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
  }

  PatternMaster::Terms Terms() const {
    PatternMaster::Terms terms;
    for (const std::vector<WaitingStep>& steps : waiting_) {
      terms.waiting.push_back(
          MasterSteps(steps, static_cast<double>(owner_.waiting_unit_)));
    }
    for (const size_t g : groups_) {
      terms.machines.push_back(static_cast<double>(rest_.machines[g]));
    }
    if (waiting_cost_.has_value()) {
      terms.waiting_free = static_cast<double>(*waiting_cost_) /
                           static_cast<double>(owner_.waiting_unit_);
      terms.overflow_cost = kOverflow;
    }
    return terms;
  }

  bool Solve(PatternMaster* master) {
    const int64_t before = master->work();
    const bool is_solved =
        master->Solve(std::max<int64_t>(owner_.work_max_ - owner_.work(), 0));
    owner_.work_ += master->work() - before;
    return is_solved;
  }

  // As far as there are tasks: of no use is what would be left over.
  void AddNewPatterns(PatternMaster* master) {
    std::vector<std::pair<size_t, int64_t>> tasks;
    for (size_t row = 0; row < groups_.size(); ++row) {
      const std::vector<size_t>& known = owner_.patterns_of_[groups_[row]];
      for (; next_known_[row] < known.size(); ++next_known_[row]) {
        tasks.clear();
        int64_t cost = 0;
        for (const auto& [c, count] :
             owner_.patterns_[known[next_known_[row]]].tasks) {
          const int64_t useful = std::min(count, rest_.tasks[c]);
          if (useful == 0) continue;
          tasks.emplace_back(row_of_class_[c], useful);
          cost += useful * CostOn(groups_[row], c);
        }
        if (tasks.empty()) continue;
        of_master_.push_back(known[next_known_[row]]);
        master->AddPattern(
            row, tasks,
            waiting_cost_.has_value() ? static_cast<double>(cost) / unit_ : 0);
      }
    }
  }

  void SetPrices(const PatternMaster& master,
                 const std::vector<int64_t>& center) {
    for (const size_t c : classes_) {
      double price = master.ClassPrice(row_of_class_[c]) * unit_;
      if (!center.empty()) {
        price = kSmoothing * static_cast<double>(center[c]) +
                (1 - kSmoothing) * price;
      }
      prices_[c] =
          static_cast<int64_t>(std::llround(std::clamp(price, 0.0, kPriceMax)));
    }
  }

  void SetValues(size_t group) {
    worth_ = 0;
    for (const size_t c : classes_) {
      const int64_t cost = CostOn(group, c);
      const int64_t charged = waiting_cost_.has_value() ? cost : 0;
      values_[c] =
          cost == kNotAllowed ? 0 : static_cast<double>(prices_[c] - charged);
      if (cost == kNotAllowed || prices_[c] <= charged) continue;
      worth_ += static_cast<Int128>(prices_[c] - charged) * rest_.tasks[c];
    }
  }

  // With a master, learns the patterns that would improve it.
  Int128 BoundAtPrices(MachineFilling::Effort effort, PatternMaster* master,
                       bool* has_new) {
    Int128 bound = WorthOfTasks();
    size_t kind = problem_.costs.size();
    for (size_t row = 0; row < groups_.size(); ++row) {
      const size_t g = groups_[row];
      if (std::exchange(kind, problem_.groups[g].kind) !=
          problem_.groups[g].kind) {
        SetValues(g);
      }
      Filling filling = owner_.filling_.Fill(g, values_, rest_.tasks, effort);
      // Prices are integers, and so is what the best filling is worth.  All
      // fillings of the group together are worth no more than all tasks.
      const auto best = static_cast<Int128>(std::floor(filling.bound));
      const int64_t machines = rest_.machines[g];
      bound -= best > worth_ / machines ? worth_ : best * machines;
      if (master != nullptr) *has_new |= LearnFrom(row, filling, *master);
    }
    return bound;
  }

  // The filling, and where groups are few also what could stand on the machines
  // of the group once those tasks are gone.
  bool LearnFrom(size_t row, Filling filling, const PatternMaster& master) {
    const size_t g = groups_[row];
    const double least = (master.GroupPrice(row) + kWorthwhile) * unit_;
    bool has_new = false;
    std::vector<int64_t> left = rest_.tasks;
    for (size_t more = kPatternsMin / groups_.size();; --more) {
      double worth = 0;
      for (const auto& [c, count] : filling.tasks) {
        worth += static_cast<double>(count) *
                 (values_[c] - static_cast<double>(prices_[c]) +
                  master.ClassPrice(row_of_class_[c]) * unit_);
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
                                     MachineFilling::Effort::kRough);
    }
  }

  // What all tasks are worth at the prices, less what those are that wait.
  Int128 WorthOfTasks() const {
    struct Worth {
      int64_t price;
      WaitingStep step;
    };
    Int128 worth = 0;
    std::vector<Worth> steps;
    for (size_t row = 0; row < classes_.size(); ++row) {
      const int64_t price = prices_[classes_[row]];
      for (const WaitingStep& step : waiting_[row]) {
        const int64_t counted =
            waiting_cost_.has_value() ? price : std::min(price, step.cost);
        worth += static_cast<Int128>(step.count) * counted;
        steps.push_back({price, step});
      }
    }
    if (!waiting_cost_.has_value()) return worth;
    // Of that waiting cost the tasks that are worth the most for it, and a part
    // of the last.
    std::ranges::stable_sort(steps, [](const Worth& a, const Worth& b) {
      return static_cast<Int128>(a.price) * b.step.cost >
             static_cast<Int128>(b.price) * a.step.cost;
    });
    int64_t left = *waiting_cost_;
    for (const auto& [price, step] : steps) {
      if (left <= 0 || price == 0) break;
      const int64_t count = std::min(step.count, left / step.cost);
      worth -= static_cast<Int128>(count) * price;
      left -= count * step.cost;
      if (count == step.count) continue;
      worth -= (static_cast<Int128>(left) * price + step.cost - 1) / step.cost;
      left = 0;
    }
    return worth;
  }

  PatternRelaxation& owner_;
  const PackingProblem& problem_;
  const PackingRest& rest_;
  const std::optional<int64_t> waiting_cost_;
  const double unit_;     // Of prices.
  int64_t multiple_ = 0;  // Of what all costs are multiples.
  std::vector<size_t> classes_;
  std::vector<size_t> groups_;
  std::vector<size_t> row_of_class_;
  std::vector<std::vector<WaitingStep>> waiting_;  // By row of a class.
  std::vector<size_t> next_known_;  // By row of a group: the first not added.
  std::vector<size_t> of_master_;   // The pattern of each of its columns.
  std::vector<int64_t> prices_;     // By class.
  std::vector<double> values_;      // By class, on a group.
  Int128 worth_ = 0;                // Of all tasks at these values.
  Int128 best_ = 0;
};

PatternRelaxation::PatternRelaxation(const PackingProblem& problem,
                                     int64_t work_max)
    : problem_(problem),
      work_max_(work_max),
      filling_(problem),
      patterns_of_(problem.groups.size()),
      waiting_unit_(std::numeric_limits<int64_t>::max()) {
  for (const PackingClass& one : problem.classes) {
    for (const WaitingStep& step : one.waiting) {
      waiting_unit_ = std::min(waiting_unit_, step.cost);
    }
  }
  for (const std::vector<int64_t>& costs : problem.costs) {
    for (const int64_t cost : costs) {
      if (cost != kNotAllowed) cost_unit_ = std::max(cost_unit_, cost);
    }
  }
  if (!problem.groups.empty() && !problem.classes.empty()) FindPricesBySize();
}

bool PatternRelaxation::Learn(const Pattern& made) {
  const auto is_same = [&](size_t i) {
    return patterns_[i].tasks == made.tasks;
  };
  if (std::ranges::any_of(patterns_of_[made.group], is_same)) return false;
  const std::vector<int64_t>& costs =
      problem_.costs[problem_.groups[made.group].kind];
  KnownPattern pattern{made.group, made.tasks, 0};
  for (const auto& [task_class, count] : made.tasks) {
    pattern.cost += costs[task_class] * count;
  }
  patterns_of_[made.group].push_back(patterns_.size());
  patterns_.push_back(std::move(pattern));
  return true;
}

// As if all machines were one.
void PatternRelaxation::FindPricesBySize() {
  PackingProblem whole;
  whole.classes = problem_.classes;
  whole.costs.emplace_back(problem_.classes.size(), 0);
  PackingGroup& all = whole.groups.emplace_back();
  all.machines = 1;
  for (size_t d = 0; d < problem_.groups[0].free.size(); ++d) {
    Int128 free = 0;
    for (const PackingGroup& group : problem_.groups) {
      free += static_cast<Int128>(group.free[d]) * group.machines;
    }
    all.free.push_back(Saturated(free));
  }
  std::vector<double> values;
  std::vector<int64_t> counts;
  for (const PackingClass& one : problem_.classes) {
    values.push_back(
        one.waiting.empty() ? 0 : static_cast<double>(one.waiting.back().cost));
    counts.push_back(one.count());
  }
  MachineFilling filling(whole);
  const std::vector<double> prices = filling.PricesBySize(0, values, counts);
  for (size_t c = 0; c < prices.size(); ++c) {
    prices_by_size_.push_back(
        static_cast<int64_t>(std::min(prices[c], values[c])));
    values_by_size_.push_back(static_cast<double>(prices_by_size_[c]));
  }
  if (std::ranges::max(prices_by_size_) == 0) {
    for (size_t c = 0; c < prices.size(); ++c) {
      values_by_size_[c] = DominantShare(whole.classes[c], all);
    }
  }
  const double most = std::ranges::max(values_by_size_);
  for (double& value : values_by_size_) value /= most > 0 ? most : 1;
}

std::vector<std::vector<Pattern>> PatternRelaxation::Seed() {
  if (problem_.groups.empty() || problem_.classes.empty()) return {};
  PackingRest whole;
  for (const PackingClass& one : problem_.classes) {
    whole.tasks.push_back(one.count());
  }
  for (const PackingGroup& group : problem_.groups) {
    whole.machines.push_back(group.machines);
  }
  // All tasks alike, by their price, and by what they like.
  const std::vector<double> alike(whole.tasks.size(), 1);
  std::vector<std::vector<Pattern>> packings = {
      FillInTurn(whole, alike, kHardlyLiked),
      FillInTurn(whole, values_by_size_, kHardlyLiked),
      FillInTurn(whole, values_by_size_, 1)};
  for (const std::vector<Pattern>& packing : packings) {
    for (const Pattern& pattern : packing) Learn(pattern);
  }
  return packings;
}

std::vector<Pattern> PatternRelaxation::FillInTurn(
    const PackingRest& rest, const std::vector<double>& values, double liking) {
  std::vector<Pattern> packing;
  std::vector<double> liked(values.size());
  std::vector<int64_t> left = rest.tasks;
  for (size_t g = 0; g < rest.machines.size(); ++g) {
    if (rest.machines[g] == 0) continue;
    for (size_t c = 0; c < values.size(); ++c) {
      const int64_t cost = problem_.costs[problem_.groups[g].kind][c];
      if (cost == kNotAllowed) continue;
      const double dislike =
          static_cast<double>(cost) / static_cast<double>(cost_unit_);
      liked[c] = values[c] + liking * (1 - dislike);
    }
    for (int64_t machines = rest.machines[g]; machines > 0;) {
      const Filling filling =
          filling_.Fill(g, liked, left, MachineFilling::Effort::kRough);
      if (filling.tasks.empty() || IsSpent()) break;
      int64_t copies = machines;
      for (const auto& [c, count] : filling.tasks) {
        copies = std::min(copies, left[c] / count);
      }
      for (const auto& [c, count] : filling.tasks) left[c] -= count * copies;
      machines -= copies;
      packing.push_back({g, copies, filling.tasks});
    }
  }
  return packing;
}

PatternRelaxation::Relaxed PatternRelaxation::Relax(
    const PackingRest& rest, std::optional<int64_t> waiting_cost,
    Wanted wanted) {
  ColumnGeneration generation(this, rest, waiting_cost);
  if (generation.is_empty()) return {};
  return generation.Run(wanted);
}

int64_t PatternRelaxation::BoundAt(const PackingRest& rest,
                                   std::optional<int64_t> waiting_cost,
                                   const std::vector<int64_t>& prices) {
  return ColumnGeneration(this, rest, waiting_cost).ProvedAt(prices);
}

}  // namespace sluice
