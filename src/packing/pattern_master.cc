#include "packing/pattern_master.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sluice {
namespace {

constexpr double kTolerance = 1e-9;
constexpr double kPivotMin = 1e-8;
// Right sides are perturbed by up to this, each by a different amount, so that
// no two rows limit a column equally and the method does not cycle.
constexpr double kShift = 1e-6;
// Entries of the inverse that are updated per unit of work.
constexpr size_t kEntriesPerWork = 16;
// Partial pricing: a pivot looks at one of this many parts of the columns and
// enters the best of it.  It goes on to the next part only if none is
// worthwhile.
constexpr size_t kParts = 4;
constexpr size_t kPartMin = 50;

// Groups have no rows.
size_t CountRows(const PatternMaster::Terms& terms) {
  size_t rows = terms.budgets.size() + terms.caps.size() + terms.levels.size();
  for (const PatternMaster::Spread& spread : terms.spreads) {
    rows += 1 + spread.caps.size();
  }
  // Each class has its own row, plus one for each step but the last.
  for (const auto& steps : terms.waiting) rows += steps.size();
  return rows;
}

}  // namespace

int64_t PatternMaster::LeastWork(const Terms& terms) {
  const size_t rows = CountRows(terms);
  const size_t steps = rows + terms.machines.size();
  return static_cast<int64_t>((rows * rows / kEntriesPerWork + steps) * steps);
}

PatternMaster::PatternMaster(const Terms& terms) {
  const size_t classes = terms.waiting.size();
  budget_row_ = classes;
  cap_row_ = budget_row_ + terms.budgets.size();
  const size_t level_row = cap_row_ + terms.caps.size();
  const size_t spread_row = level_row + terms.levels.size();
  row_count_ = CountRows(terms);
  group_count_ = terms.machines.size() + 1;
  // The rows of steps come last.
  size_t step_row = spread_row;
  for (const Spread& spread : terms.spreads) step_row += 1 + spread.caps.size();
  bounds_.assign(row_count_, 0);
  std::vector<size_t> last_step(classes);
  for (size_t c = 0; c < classes; ++c) {
    const std::vector<Step>& steps = terms.waiting[c];
    for (size_t i = 0; i < steps.size(); ++i) {
      bounds_[c] += steps[i].count;
      entries_.push_back({c, 1});
      if (steps[i].cost > 0) {
        entries_.push_back({level_row + steps[i].level, steps[i].cost});
      }
      if (c < terms.budgets_of.size()) {
        for (const size_t b : terms.budgets_of[c]) {
          entries_.push_back({budget_row_ + b, 1});
        }
      }
      if (i + 1 < steps.size()) {
        bounds_[step_row] = steps[i].count;
        entries_.push_back({step_row++, 1});
      }
      last_step[c] = AddColumn(0);
    }
    if (c < terms.is_exact.size() && terms.is_exact[c]) continue;
    AddColumn(0, {{c, -1}});  // More than its tasks.
  }
  for (size_t b = 0; b < terms.budgets.size(); ++b) {
    bounds_[budget_row_ + b] = terms.budgets[b].waiting_max;
  }
  std::ranges::copy(terms.caps,
                    bounds_.begin() + static_cast<int64_t>(cap_row_));
  for (size_t l = 0; l < terms.levels.size(); ++l) {
    bounds_[level_row + l] = terms.levels[l].free;
  }
  AddSpreads(terms, spread_row);
  bounds_.insert(bounds_.end(), terms.machines.begin(), terms.machines.end());
  bounds_.push_back(std::numeric_limits<double>::infinity());
  shifted_ = bounds_;
  for (size_t row = 0; row < shifted_.size(); ++row) {
    // A sequence whose fractional parts fill the unit interval evenly.
    const double sequence = static_cast<double>(row + 1) * 0.618034;
    shifted_[row] += kShift * (0.5 + sequence - std::floor(sequence));
  }
  StartFromWaiting(terms, level_row, last_step);
}

void PatternMaster::StartFromWaiting(const Terms& terms, size_t level_row,
                                     const std::vector<size_t>& last_step) {
  const size_t classes = last_step.size();
  inverse_.assign(row_count_ * row_count_, 0);
  amounts_ = shifted_;
  for (size_t row = 0; row < row_count_; ++row) {
    Inverse(row, row) = 1;
    basis_.push_back(row < classes ? last_step[row] : AddColumn(0, {{row, 1}}));
  }
  for (size_t g = 0; g < group_count_; ++g) basis_.push_back(AddColumn(0, g));
  std::vector<bool> is_exceeded;
  for (size_t b = 0; b < terms.budgets.size(); ++b) {
    const size_t row = budget_row_ + b;
    for (size_t c = 0; c < terms.budgets_of.size(); ++c) {
      if (std::ranges::count(terms.budgets_of[c], b) > 0) Inverse(row, c) = -1;
    }
    const Budget& budget = terms.budgets[b];
    const size_t excess =
        AddColumn(0, {{row, -1}, {level_row + budget.level, budget.cost}});
    is_exceeded.push_back(ExceedAtStart(row, excess));
  }
  for (size_t l = 0; l < terms.levels.size(); ++l) {
    const size_t row = level_row + l;
    for (size_t c = 0; c < classes; ++c) {
      const Step& last = terms.waiting[c].back();
      if (last.level == l) Inverse(row, c) = -last.cost;
    }
    for (size_t b = 0; b < terms.budgets.size(); ++b) {
      if (!is_exceeded[b] || terms.budgets[b].level != l) continue;
      for (size_t i = 0; i < cap_row_; ++i) {
        Inverse(row, i) -= terms.budgets[b].cost * Inverse(budget_row_ + b, i);
      }
    }
    ExceedAtStart(row, AddColumn(terms.levels[l].overflow_cost, {{row, -1}}));
  }
  for (const size_t column : basis_) is_basic_[column] = true;
  prices_.assign(basis_.size(), 0);
}

bool PatternMaster::ExceedAtStart(size_t row, size_t excess) {
  // Only rows of classes and budgets take part in it.
  double slack = 0;
  for (size_t i = 0; i < cap_row_; ++i) slack += Inverse(row, i) * shifted_[i];
  if (row >= cap_row_) slack += shifted_[row];
  amounts_[row] = std::abs(slack);
  if (slack >= 0) return false;
  basis_[row] = excess;
  for (size_t i = 0; i < cap_row_; ++i) Inverse(row, i) = -Inverse(row, i);
  if (row >= cap_row_) Inverse(row, row) = -1;
  return true;
}

void PatternMaster::AddSpreads(const Terms& terms, size_t row) {
  floor_rows_.resize(terms.caps.size());
  for (const Spread& spread : terms.spreads) {
    bounds_[row] = spread.rise_max;
    entries_.push_back({row++, 1});
    for (size_t i = 0; i < spread.caps.size(); ++i) {
      floor_rows_[spread.caps[i]] = row;
      bounds_[row] = spread.ahead[i];
      entries_.push_back({cap_row_ + spread.caps[i], -1});
      entries_.push_back({row++, 1});
    }
    AddColumn(0);
  }
}

size_t PatternMaster::AddColumn(double cost, size_t group) {
  const size_t begin = columns_.empty() ? 0 : columns_.back().end;
  columns_.push_back({cost, group, begin, entries_.size()});
  is_basic_.push_back(false);
  return columns_.size() - 1;
}

size_t PatternMaster::AddColumn(double cost,
                                std::initializer_list<Entry> entries) {
  entries_.insert(entries_.end(), entries);
  return AddColumn(cost, group_count_ - 1);
}

size_t PatternMaster::AddPattern(
    size_t group, std::span<const std::pair<size_t, int64_t>> tasks,
    double cost, std::span<const std::pair<size_t, int64_t>> counted) {
  for (const auto& [cap, count] : counted) {
    const auto value = static_cast<double>(count);
    entries_.push_back({cap_row_ + cap, value});
    if (floor_rows_[cap].has_value()) {
      entries_.push_back({*floor_rows_[cap], -value});
    }
  }
  for (const auto& [task_class, count] : tasks) {
    entries_.push_back({task_class, static_cast<double>(count)});
  }
  patterns_.push_back(AddColumn(cost, group));
  return patterns_.size() - 1;
}

void PatternMaster::AddInverse(size_t row, double times, double* sum) const {
  const double* const of_row = &inverse_[row * row_count_];
  for (size_t i = 0; i < row_count_; ++i) sum[i] += times * of_row[i];
}

std::vector<double> PatternMaster::Filling(
    const std::vector<double>& bounds) const {
  std::vector<double> left = bounds;
  for (size_t g = 0; g < group_count_; ++g) {
    for (const Entry& entry : EntriesOf(Key(g))) {
      left[entry.row] -= bounds[KeyOf(g)] * entry.value;
    }
  }
  std::vector<double> filling(basis_.size(), 0);
  for (size_t row = 0; row < row_count_; ++row) {
    if (left[row] != 0) AddInverse(row, left[row], filling.data());
  }
  for (size_t g = 0; g < group_count_; ++g) {
    filling[KeyOf(g)] = bounds[KeyOf(g)];
  }
  for (size_t i = 0; i < row_count_; ++i) {
    filling[KeyOf(Basic(i).group)] -= filling[i];
  }
  return filling;
}

void PatternMaster::FindPrices() {
  // Most basic columns cost nothing.
  std::vector<std::pair<size_t, double>> costs;
  for (size_t i = 0; i < row_count_; ++i) {
    const double cost = Basic(i).cost - Key(Basic(i).group).cost;
    if (cost != 0) costs.emplace_back(i, cost);
  }
  for (size_t row = 0; row < row_count_; ++row) {
    const double* const of_row = &inverse_[row * row_count_];
    double price = 0;
    for (const auto& [i, cost] : costs) price += cost * of_row[i];
    prices_[row] = price;
  }
  FindGroupPrices();
}

// Sets the prices at which the reduced cost of each key is 0.
void PatternMaster::FindGroupPrices() {
  for (size_t g = 0; g < group_count_; ++g) {
    prices_[KeyOf(g)] += ReducedCost(Key(g));
  }
}

double PatternMaster::ReducedCost(const Column& column) const {
  double cost = column.cost - prices_[KeyOf(column.group)];
  for (const Entry& entry : EntriesOf(column)) {
    cost -= prices_[entry.row] * entry.value;
  }
  return cost;
}

bool PatternMaster::Solve(int64_t work_max) {
  FindPrices();
  const size_t part = std::max<size_t>(columns_.size() / kParts, kPartMin);
  // The newest columns come first.
  size_t next = columns_.size();
  for (const int64_t end = work_ + work_max; work_ < end;) {
    double least = -kTolerance;
    std::optional<size_t> entering;
    size_t priced = 0;
    while (priced < columns_.size() &&
           (priced < part || !entering.has_value())) {
      ++priced;
      next = (next == 0 ? columns_.size() : next) - 1;
      if (is_basic_[next]) continue;
      const double cost = ReducedCost(columns_[next]);
      if (cost < least) {
        least = cost;
        entering = next;
      }
    }
    work_ += static_cast<int64_t>(priced + group_count_ +
                                  row_count_ * row_count_ / kEntriesPerWork);
    if (!entering.has_value()) return true;
    if (!Enter(*entering)) return false;
  }
  return false;
}

void PatternMaster::FindEntering(size_t column) {
  entering_.assign(basis_.size(), 0);
  const Column& entering = columns_[column];
  for (const Entry& entry : EntriesOf(entering)) {
    AddInverse(entry.row, entry.value, entering_.data());
  }
  for (const Entry& entry : EntriesOf(Key(entering.group))) {
    AddInverse(entry.row, -entry.value, entering_.data());
  }
  entering_[KeyOf(entering.group)] = 1;
  for (size_t i = 0; i < row_count_; ++i) {
    entering_[KeyOf(Basic(i).group)] -= entering_[i];
  }
}

std::optional<size_t> PatternMaster::FindLeaving() const {
  std::optional<size_t> leaving;
  double least = std::numeric_limits<double>::max();
  for (size_t i = 0; i < basis_.size(); ++i) {
    if (entering_[i] <= kPivotMin) continue;
    const double ratio = std::max(amounts_[i], 0.0) / entering_[i];
    if (ratio < least) {
      least = ratio;
      leaving = i;
    }
  }
  return leaving;
}

std::optional<size_t> PatternMaster::ReplaceKey(size_t group) {
  std::optional<size_t> place;
  for (size_t i = 0; i < row_count_; ++i) {
    if (Basic(i).group != group) continue;
    if (!place.has_value()) {
      place = i;
      continue;
    }
    for (size_t row = 0; row < row_count_; ++row) {
      Inverse(*place, row) += Inverse(i, row);
    }
  }
  if (!place.has_value()) return std::nullopt;
  for (size_t row = 0; row < row_count_; ++row) {
    Inverse(*place, row) = -Inverse(*place, row);
  }
  std::swap(basis_[*place], basis_[KeyOf(group)]);
  std::swap(amounts_[*place], amounts_[KeyOf(group)]);
  std::swap(entering_[*place], entering_[KeyOf(group)]);
  return place;
}

bool PatternMaster::Enter(size_t column) {
  FindEntering(column);
  std::optional<size_t> leaving = FindLeaving();
  if (!leaving.has_value()) return false;
  if (*leaving >= row_count_) {
    // If its group has no other basic column, the entering one becomes its key.
    leaving = ReplaceKey(*leaving - row_count_).value_or(*leaving);
  }
  const double cost = ReducedCost(columns_[column]);
  const double pivot = entering_[*leaving];
  const double amount = std::max(amounts_[*leaving], 0.0) / pivot;
  for (size_t i = 0; i < basis_.size(); ++i) {
    amounts_[i] -= entering_[i] * amount;
  }
  amounts_[*leaving] = amount;
  is_basic_[basis_[*leaving]] = false;
  is_basic_[column] = true;
  basis_[*leaving] = column;
  if (*leaving < row_count_) {
    entering_[*leaving] = pivot - 1;  // Its row is divided by the pivot.
    for (size_t row = 0; row < row_count_; ++row) {
      const double factor = Inverse(*leaving, row) / pivot;
      if (factor == 0) continue;
      double* const of_row = &inverse_[row * row_count_];
      for (size_t i = 0; i < row_count_; ++i) {
        of_row[i] -= factor * entering_[i];
      }
      prices_[row] += cost * factor;
    }
  }
  FindGroupPrices();
  return true;
}

double PatternMaster::objective() const {
  double sum = 0;
  for (size_t i = 0; i < basis_.size(); ++i) {
    if (Basic(i).cost != 0) sum += Basic(i).cost * amounts_[i];
  }
  return sum;
}

std::vector<double> PatternMaster::Amounts() const {
  const std::vector<double> filling = Filling(bounds_);
  std::vector<double> of_column(columns_.size(), 0);
  for (size_t i = 0; i < basis_.size(); ++i) {
    of_column[basis_[i]] = std::max(filling[i], 0.0);
  }
  std::vector<double> amounts;
  for (const size_t column : patterns_) amounts.push_back(of_column[column]);
  return amounts;
}

}  // namespace sluice
