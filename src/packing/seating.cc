#include "packing/seating.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "base/int128.h"

namespace sluice {
namespace {

// The maximum of other orders that begin with another gang, and of those that
// leave one out.
constexpr size_t kVariantsMax = 6;
// The number of answers kept per table.
constexpr size_t kKnownMax = 64;

// Compares the mean cost of a task in the two: positive, zero or negative if it
// is higher, equal or lower in the first.
int CompareMeans(const LevelCosts& a, int64_t a_count, const LevelCosts& b,
                 int64_t b_count) {
  for (size_t level = 0; level < std::max(a.size(), b.size()); ++level) {
    const Int128 of_a = static_cast<Int128>(a[level]) * b_count;
    const Int128 of_b = static_cast<Int128>(b[level]) * a_count;
    if (of_a != of_b) return of_a > of_b ? 1 : -1;
  }
  return 0;
}

size_t FirstLevelOf(const LevelCosts& costs) {
  size_t level = 0;
  while (level < costs.size() && costs[level] == 0) ++level;
  return level;
}

}  // namespace

Seating::Seating(const PackingProblem& problem,
                 std::span<const size_t> merged_of)
    : classes_(problem.classes.size()), levels_(problem.level_count()) {
  FindSteps(problem, merged_of);
  FindGangs(problem);
  FindKinds();
  FindTables();
  FindTurns();
}

void Seating::FindSteps(const PackingProblem& problem,
                        std::span<const size_t> merged_of) {
  for (size_t c = 0; c < problem.classes.size(); ++c) {
    const size_t merged = merged_of[c];
    totals_.resize(std::max(totals_.size(), merged + 1), 0);
    for (const WaitingStep& step : problem.classes[c].waiting) {
      steps_.push_back({c, merged, step.count, step.cost, step.level});
      totals_[merged] += step.count;
    }
  }
}

void Seating::FindGangs(const PackingProblem& problem) {
  std::vector<std::optional<size_t>> gang_of(classes_);
  for (size_t g = 0; g < problem.gangs.size(); ++g) {
    if (problem.gangs[g].minimum <= 0) continue;
    for (const size_t c : problem.gangs[g].classes) gang_of[c] = g;
  }
  std::vector<std::vector<size_t>> steps_of(problem.gangs.size());
  for (size_t s = 0; s < steps_.size(); ++s) {
    steps_[s].gang = gang_of[steps_[s].task_class];
    if (steps_[s].gang.has_value()) steps_of[*steps_[s].gang].push_back(s);
  }
  for (size_t g = 0; g < problem.gangs.size(); ++g) {
    std::ranges::stable_sort(steps_of[g], [this](size_t a, size_t b) {
      return std::tie(steps_[a].level, steps_[b].cost) <
             std::tie(steps_[b].level, steps_[a].cost);
    });
    std::map<size_t, int64_t> tasks;
    Gang gang{.index = g, .minimum = problem.gangs[g].minimum};
    int64_t missing = gang.minimum;
    for (const size_t s : steps_of[g]) {
      const int64_t count = std::min(missing, steps_[s].count);
      gang.cost.Add(steps_[s].level, count * steps_[s].cost);
      missing -= count;
      tasks[steps_[s].merged] += steps_[s].count;
    }
    if (missing > 0 || gang.minimum <= 0) continue;
    gang.tasks.assign(tasks.begin(), tasks.end());
    gangs_.push_back(std::move(gang));
  }
  // Among equals the larger one goes first: it is harder to fit in later.
  std::ranges::stable_sort(gangs_, [](const Gang& a, const Gang& b) {
    const int order = CompareMeans(a.cost, a.minimum, b.cost, b.minimum);
    return order > 0 || (order == 0 && a.minimum > b.minimum);
  });
  std::vector<std::optional<size_t>> rank_of(problem.gangs.size());
  for (size_t i = 0; i < gangs_.size(); ++i) {
    rank_of[gangs_[i].index] = i;
    steps_of_gang_.push_back(std::move(steps_of[gangs_[i].index]));
  }
  for (Step& step : steps_) {
    if (!step.gang.has_value()) continue;
    step.gang = rank_of[*step.gang];
    // Tasks of a gang with too few wait in any case.
    if (!step.gang.has_value()) step.is_left_out = true;
  }
}

void Seating::FindKinds() {
  std::map<std::pair<int64_t, std::vector<std::pair<size_t, int64_t>>>, size_t>
      kinds;
  has_gangs_.assign(totals_.size(), false);
  manifold_.resize(totals_.size());
  for (size_t i = 0; i < gangs_.size(); ++i) {
    Gang& gang = gangs_[i];
    gang.kind = kinds.try_emplace({gang.minimum, gang.tasks}, kinds.size())
                    .first->second;
    for (const auto& [merged, count] : gang.tasks) {
      has_gangs_[merged] = true;
      if (gang.tasks.size() > 1) manifold_[merged].push_back(i);
    }
  }
}

void Seating::FindTables() {
  // The lowest class that each is linked to, directly or through others.
  std::vector<size_t> bound_to(totals_.size());
  std::iota(bound_to.begin(), bound_to.end(), size_t{0});
  const auto root = [&](size_t c) {
    while (bound_to[c] != c) c = bound_to[c] = bound_to[bound_to[c]];
    return c;
  };
  for (const Gang& gang : gangs_) {
    for (const auto& [c, count] : gang.tasks) {
      const size_t one = root(c);
      const size_t other = root(gang.tasks.front().first);
      bound_to[std::max(one, other)] = std::min(one, other);
    }
  }
  for (size_t c = 0; c < totals_.size(); ++c) {
    if (root(c) == c) tables_.emplace_back();
    table_of_.push_back(root(c) == c ? tables_.size() - 1 : table_of_[root(c)]);
    Table& table = tables_[table_of_[c]];
    class_at_.push_back(table.classes.size());
    table.classes.push_back(c);
  }
  for (size_t i = 0; i < gangs_.size(); ++i) {
    Table& table = tables_[table_of_[gangs_[i].tasks.front().first]];
    gang_at_.push_back(table.gangs.size());
    table.gangs.push_back(i);
  }
  for (size_t s = 0; s < steps_.size(); ++s) {
    Table& table = tables_[table_of_[steps_[s].merged]];
    step_at_.push_back(table.steps.size());
    table.steps.push_back(s);
    table.all.Add(steps_[s].level, steps_[s].count * steps_[s].cost);
  }
}

void Seating::FindTurns() {
  struct Order {
    LevelCosts cost;
    int64_t count = 0;
    Turn turn = {};
  };
  for (Table& table : tables_) {
    std::vector<Order> order;
    for (const size_t i : table.gangs) {
      const Gang& gang = gangs_[i];
      order.push_back({gang.cost,
                       gang.minimum,
                       {.gang = i, .level = FirstLevelOf(gang.cost)}});
    }
    for (const size_t s : table.steps) {
      const Step& step = steps_[s];
      if (step.is_left_out) continue;
      LevelCosts cost;
      cost.Add(step.level, step.cost);
      order.push_back({cost, 1, {.step = s, .level = step.level}});
    }
    std::ranges::stable_sort(order, [](const Order& a, const Order& b) {
      const int means = CompareMeans(a.cost, a.count, b.cost, b.count);
      return means > 0 || (means == 0 && a.turn.gang.has_value() &&
                           !b.turn.gang.has_value());
    });
    for (const Order& one : order) table.turns.push_back(one.turn);
  }
}

Seating::Seated Seating::Seat(std::span<const int64_t> places) {
  Seated seated;
  seated.empty.resize(totals_.size());
  seated.tasks.resize(classes_, 0);
  seated.has_started.resize(gangs_.size());
  for (Table& table : tables_) {
    std::vector<int64_t> of_table;
    for (const size_t c : table.classes) of_table.push_back(places[c]);
    const Trial& trial = SeatAt(&table, std::move(of_table), kAllLevels);
    seated.waiting.Add(WaitingAt(table, trial));
    for (const size_t c : table.classes) {
      seated.empty[c] = trial.left[class_at_[c]];
    }
    for (const size_t s : table.steps) {
      seated.tasks[steps_[s].task_class] += trial.taken[step_at_[s]];
    }
    for (const size_t i : table.gangs) {
      seated.has_started[i] = trial.has_started[gang_at_[i]];
    }
  }
  return seated;
}

LevelCosts Seating::CostOf(std::span<const int64_t> waiting) {
  LevelCosts cost;
  for (Table& table : tables_) {
    cost.Add(WaitingAt(table, SeatBeside(&table, waiting)));
  }
  return cost;
}

bool Seating::HasStarted(size_t gang, std::span<const int64_t> waiting) {
  Table& table = tables_[table_of_[gangs_[gang].tasks.front().first]];
  return SeatBeside(&table, waiting).has_started[gang_at_[gang]];
}

int64_t Seating::EmptyOf(size_t merged, std::span<const int64_t> waiting,
                         size_t level_max) {
  Table& table = tables_[table_of_[merged]];
  return SeatBeside(&table, waiting, level_max).left[class_at_[merged]];
}

const Seating::Trial& Seating::SeatBeside(Table* table,
                                          std::span<const int64_t> waiting,
                                          size_t level_max) {
  std::vector<int64_t> places;
  for (const size_t c : table->classes) {
    places.push_back(totals_[c] - waiting[c]);
  }
  return SeatAt(table, std::move(places), level_max);
}

const Seating::Trial& Seating::SeatAt(Table* table, std::vector<int64_t> places,
                                      size_t level_max) {
  ++work_;
  if (table->known.size() >= kKnownMax) table->known.clear();
  const auto [it, is_new] =
      table->known.try_emplace({std::move(places), level_max});
  if (!is_new) return it->second;
  const std::vector<int64_t>& given = it->first.first;
  Trial best = Try(*table, given, level_max, {});
  if (!best.squeezed.empty()) {
    for (const Variant& variant : VariantsOf(*table, best)) {
      Trial other = Try(*table, given, level_max, variant);
      if (other.worth > best.worth) best = std::move(other);
    }
  }
  it->second = std::move(best);
  return it->second;
}

LevelCosts Seating::WaitingAt(const Table& table, const Trial& trial) const {
  LevelCosts waiting;
  for (size_t level = levels_; level-- > 0;) {
    waiting.Add(level, table.all[level] - trial.worth[level]);
  }
  return waiting;
}

void Seating::Take(size_t step, int64_t count_max, Trial* trial) const {
  const Step& of = steps_[step];
  int64_t& taken = trial->taken[step_at_[step]];
  int64_t& left = trial->left[class_at_[of.merged]];
  const int64_t count = std::min({of.count - taken, left, count_max});
  taken += count;
  left -= count;
  trial->worth[of.level] += count * of.cost;
}

bool Seating::Start(size_t gang, Trial* trial) const {
  int64_t found = 0;
  for (const auto& [merged, count] : gangs_[gang].tasks) {
    found += std::min(count, trial->left[class_at_[merged]]);
  }
  if (found < gangs_[gang].minimum) return found == 0;
  int64_t missing = gangs_[gang].minimum;
  for (const size_t s : steps_of_gang_[gang]) {
    const int64_t before = trial->taken[step_at_[s]];
    Take(s, missing, trial);
    missing -= trial->taken[step_at_[s]] - before;
  }
  trial->has_started[gang_at_[gang]] = true;
  return true;
}

Seating::Trial Seating::Try(const Table& table, std::span<const int64_t> places,
                            size_t level_max, const Variant& variant) {
  Trial trial;
  trial.left.assign(places.begin(), places.end());
  trial.taken.resize(table.steps.size(), 0);
  trial.has_started.resize(table.gangs.size(), false);
  trial.worth.resize(levels_, 0);
  work_ += std::ssize(table.turns);
  if (variant.first.has_value()) Start(*variant.first, &trial);
  for (const Turn& turn : table.turns) {
    if (turn.level > level_max) continue;
    if (!turn.gang.has_value()) {
      const std::optional<size_t>& gang = steps_[turn.step].gang;
      if (gang.has_value() && !trial.has_started[gang_at_[*gang]]) continue;
      Take(turn.step, std::numeric_limits<int64_t>::max(), &trial);
    } else if (turn.gang != variant.without &&
               !trial.has_started[gang_at_[*turn.gang]] &&
               !Start(*turn.gang, &trial)) {
      trial.squeezed.push_back(*turn.gang);
    }
  }
  return trial;
}

std::vector<Seating::Variant> Seating::VariantsOf(const Table& table,
                                                  const Trial& trial) const {
  std::vector<Variant> variants;
  std::set<size_t> kinds;
  std::set<size_t> classes;  // Those with too few places.
  for (const size_t gang : trial.squeezed) {
    if (kinds.size() == kVariantsMax) break;
    if (!kinds.insert(gangs_[gang].kind).second) continue;
    variants.push_back({.first = gang});
    for (const auto& [merged, count] : gangs_[gang].tasks) {
      classes.insert(merged);
    }
  }
  kinds.clear();
  for (size_t i = table.gangs.size(); i-- > 0;) {
    if (kinds.size() == kVariantsMax) break;
    const Gang& gang = gangs_[table.gangs[i]];
    if (trial.has_started[i] &&
        std::ranges::any_of(
            gang.tasks,
            [&](const auto& tasks) { return classes.contains(tasks.first); }) &&
        kinds.insert(gang.kind).second) {
      variants.push_back({.without = table.gangs[i]});
    }
  }
  return variants;
}

}  // namespace sluice
