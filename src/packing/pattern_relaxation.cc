#include "packing/pattern_relaxation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

// In which units the master counts, and of what all costs are multiples.
struct PatternRelaxation::Goal {
  std::optional<int64_t> waiting_cost;
  std::vector<std::vector<WaitingStep>> waiting;  // By class.
  double unit = 1;                                // Of prices.
  int64_t multiple = 1;
};

PatternRelaxation::PatternRelaxation(const PackingProblem& problem,
                                     int64_t work_max)
    : problem_(problem),
      work_max_(work_max),
      filling_(problem),
      patterns_of_(problem.groups.size()) {
  waiting_unit_ = std::numeric_limits<int64_t>::max();
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
  Seed();
}

void PatternRelaxation::Learn(size_t group, const Filling& filling) {
  const auto is_same = [&](size_t i) {
    return patterns_[i].tasks == filling.tasks;
  };
  if (std::ranges::any_of(patterns_of_[group], is_same)) return;
  const std::vector<int64_t>& costs =
      problem_.costs[problem_.groups[group].kind];
  KnownPattern pattern{group, filling.tasks, 0};
  for (const auto& [task_class, count] : filling.tasks) {
    pattern.cost += costs[task_class] * count;
  }
  patterns_of_[group].push_back(patterns_.size());
  patterns_.push_back(std::move(pattern));
}

Int128 PatternRelaxation::BoundAt(const Goal& goal,
                                  const std::vector<int64_t>& prices,
                                  Int128 filled) const {
  Int128 bound = -filled;
  struct Worth {
    int64_t price;
    WaitingStep step;
  };
  std::vector<Worth> waiting;
  for (size_t c = 0; c < goal.waiting.size(); ++c) {
    for (const WaitingStep& step : goal.waiting[c]) {
      if (goal.waiting_cost.has_value()) {
        bound += static_cast<Int128>(step.count) * prices[c];
        waiting.push_back({prices[c], step});
      } else {
        bound +=
            static_cast<Int128>(step.count) * std::min(prices[c], step.cost);
      }
    }
  }
  // The most that tasks of that waiting cost are worth: the dearest by waiting
  // cost, and a part of the last.
  std::ranges::sort(waiting, [](const Worth& a, const Worth& b) {
    return static_cast<Int128>(a.price) * b.step.cost >
           static_cast<Int128>(b.price) * a.step.cost;
  });
  int64_t left = goal.waiting_cost.value_or(0);
  for (const auto& [price, step] : waiting) {
    if (left <= 0 || price == 0) break;
    const int64_t count = std::min(step.count, left / step.cost);
    bound -= static_cast<Int128>(count) * price;
    left -= count * step.cost;
    if (count < step.count) {
      bound -= (static_cast<Int128>(left) * price + step.cost - 1) / step.cost;
      left = 0;
    }
  }
  return bound;
}

void PatternRelaxation::Seed() {
  std::vector<double> total;
  for (const PackingGroup& group : problem_.groups) {
    total.resize(group.free.size(), 0);
    for (size_t d = 0; d < total.size(); ++d) {
      total[d] += static_cast<double>(group.free[d]) *
                  static_cast<double>(group.machines);
    }
  }
  const size_t classes = problem_.classes.size();
  std::vector<double> share(classes, 0);
  for (size_t c = 0; c < classes; ++c) {
    for (size_t d = 0; d < total.size(); ++d) {
      if (total[d] <= 0) continue;
      share[c] = std::max(
          share[c],
          static_cast<double>(problem_.classes[c].request[d]) / total[d]);
    }
  }
  const double largest = std::ranges::max(share);
  if (largest <= 0) return;
  std::vector<double> values(classes);
  for (const auto& [weight, liking] :
       {std::pair(0.0, 1e-3), std::pair(1.0, 1e-3), std::pair(1.0, 1.0)}) {
    std::vector<int64_t> left;
    for (const PackingClass& one : problem_.classes)
      left.push_back(one.count());
    for (size_t g = 0; g < problem_.groups.size(); ++g) {
      for (size_t c = 0; c < classes; ++c) {
        const int64_t cost = problem_.costs[problem_.groups[g].kind][c];
        const double dislike =
            cost == kNotAllowed
                ? 0
                : static_cast<double>(cost) / static_cast<double>(cost_unit_);
        values[c] = weight * (share[c] / largest) + (1 - weight) +
                    liking * (1 - dislike);
      }
      for (int64_t machines = problem_.groups[g].machines; machines > 0;) {
        const Filling filling =
            filling_.Fill(g, values, left, MachineFilling::Effort::kRough);
        if (filling.tasks.empty()) break;
        Learn(g, filling);
        int64_t copies = machines;
        for (const auto& [c, count] : filling.tasks) {
          copies = std::min(copies, left[c] / count);
        }
        for (const auto& [c, count] : filling.tasks) left[c] -= count * copies;
        machines -= copies;
      }
    }
  }
}

PatternRelaxation::Relaxed PatternRelaxation::Relax(
    const PackingRest& rest, std::optional<int64_t> waiting_cost,
    Wanted wanted) {
  Goal goal;
  goal.waiting_cost = waiting_cost;
  goal.unit = static_cast<double>(waiting_cost.has_value() ? cost_unit_
                                                           : waiting_unit_);
  goal.multiple = 0;
  // Classes and groups of which something is left, and their rows.
  std::vector<size_t> classes;
  std::vector<size_t> groups;
  const std::vector<int64_t>& counts = rest.tasks;
  std::vector<size_t> row_of_class(rest.tasks.size(), 0);
  PatternMaster::Terms terms;
  for (size_t c = 0; c < rest.tasks.size(); ++c) {
    goal.waiting.push_back(FirstSteps(problem_.classes[c], rest.tasks[c]));
    for (const WaitingStep& step : goal.waiting[c]) {
      if (!waiting_cost.has_value()) {
        goal.multiple = std::gcd(goal.multiple, step.cost);
      }
    }
    if (counts[c] == 0) continue;
    row_of_class[c] = classes.size();
    classes.push_back(c);
    terms.waiting.push_back(
        MasterSteps(goal.waiting[c], static_cast<double>(waiting_unit_)));
  }
  for (size_t g = 0; g < rest.machines.size(); ++g) {
    if (rest.machines[g] == 0) continue;
    groups.push_back(g);
    terms.machines.push_back(static_cast<double>(rest.machines[g]));
    if (!waiting_cost.has_value()) continue;
    for (const size_t c : classes) {
      const int64_t cost = problem_.costs[problem_.groups[g].kind][c];
      if (cost != kNotAllowed) goal.multiple = std::gcd(goal.multiple, cost);
    }
  }
  Relaxed relaxed;
  if (classes.empty()) return relaxed;
  if (waiting_cost.has_value()) {
    terms.waiting_free =
        static_cast<double>(*waiting_cost) / static_cast<double>(waiting_unit_);
    terms.overflow_cost = kOverflow;
  }
  PatternMaster master(terms);
  std::vector<size_t> of_master;  // The pattern of each of its columns.
  std::vector<size_t> begins(groups.size(), 0);  // Those not yet seen.
  std::vector<std::pair<size_t, int64_t>> tasks;
  const auto add_new_patterns = [&] {
    for (size_t row = 0; row < groups.size(); ++row) {
      const std::vector<size_t>& known = patterns_of_[groups[row]];
      for (; begins[row] < known.size(); ++begins[row]) {
        const KnownPattern& pattern = patterns_[known[begins[row]]];
        tasks.clear();
        double cost = 0;
        for (const auto& [c, count] : pattern.tasks) {
          const int64_t useful = std::min(count, counts[c]);
          if (useful == 0) continue;
          tasks.emplace_back(row_of_class[c], useful);
          cost += static_cast<double>(
              useful * problem_.costs[problem_.groups[groups[row]].kind][c]);
        }
        if (tasks.empty()) continue;
        of_master.push_back(known[begins[row]]);
        master.AddPattern(row, tasks,
                          waiting_cost.has_value() ? cost / goal.unit : 0);
      }
    }
  };
  add_new_patterns();
  std::vector<double> values(rest.tasks.size(), 0);
  std::vector<int64_t> prices(rest.tasks.size(), 0);
  Int128 best_bound = 0;
  std::vector<int64_t> best_prices;
  std::vector<double> lp_prices(rest.tasks.size(), 0);
  bool is_exact = false;
  bool has_failed = false;
  for (int round = 0; round < kRoundsMax; ++round) {
    const int64_t work_before = master.work();
    const bool is_solved =
        master.Solve(20 * (std::ssize(classes) + std::ssize(groups)) + 200);
    work_ += (master.work() - work_before) *
             (std::ssize(classes) + std::ssize(groups)) / 16;
    // Between the master's prices and those of the best bound so far, which
    // keeps them from swinging (Wentges 1997), unless that finds nothing.
    const double weight =
        best_prices.empty() || is_exact || has_failed ? 0 : kSmoothing;
    for (const size_t c : classes) {
      double price = master.ClassPrice(row_of_class[c]) * goal.unit;
      lp_prices[c] = price;
      if (weight > 0)
        price =
            weight * static_cast<double>(best_prices[c]) + (1 - weight) * price;
      prices[c] =
          static_cast<int64_t>(std::llround(std::clamp(price, 0.0, 1e15)));
    }
    Int128 filled = 0;
    bool has_new = false;
    size_t kind = problem_.costs.size();
    for (size_t row = 0; row < groups.size(); ++row) {
      const size_t g = groups[row];
      if (kind != problem_.groups[g].kind) {
        kind = problem_.groups[g].kind;
        for (const size_t c : classes) {
          const int64_t cost = problem_.costs[kind][c];
          values[c] =
              cost == kNotAllowed
                  ? 0
                  : static_cast<double>(prices[c] -
                                        (waiting_cost.has_value() ? cost : 0));
        }
      }
      const Filling filling =
          filling_.Fill(g, values, counts,
                        is_exact ? MachineFilling::Effort::kExact
                                 : MachineFilling::Effort::kRough);
      filled +=
          static_cast<Int128>(std::ceil(filling.bound)) * rest.machines[g];
      double worth = 0;
      for (const auto& [c, count] : filling.tasks) {
        worth += static_cast<double>(count) *
                 (values[c] - static_cast<double>(prices[c]) + lp_prices[c]);
      }
      if (worth > (master.GroupPrice(row) + kWorthwhile) * goal.unit) {
        const size_t known = patterns_.size();
        Learn(g, filling);
        has_new = has_new || patterns_.size() > known;
      }
    }
    const Int128 bound = BoundAt(goal, prices, filled);
    if (best_prices.empty() || bound > best_bound) {
      best_bound = bound;
      relaxed.bound = RoundUp(Saturated(bound), goal.multiple);
      best_prices = prices;
    }
    relaxed.is_cut_short = IsSpent() || !is_solved;
    const double met = master.objective() * goal.unit;
    const double near = wanted == Wanted::kAmounts ? 1e-3 : 1e-9;
    if (relaxed.is_cut_short ||
        static_cast<double>(relaxed.bound) >= met * (1 - near))
      break;
    if (has_new) {
      has_failed = false;
      add_new_patterns();
    } else if (weight > 0) {
      has_failed = true;
    } else if (is_exact || wanted == Wanted::kAmounts) {
      break;
    } else {
      is_exact = true;
    }
  }
  const std::vector<double> amounts = master.Amounts();
  for (size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] > 1e-7)
      relaxed.amounts.push_back({of_master[i], amounts[i]});
  }
  return relaxed;
}

}  // namespace sluice
