#include "packing/pattern_master.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

constexpr double kTolerance = 1e-9;
constexpr double kPivotMin = 1e-8;
// Right sides move by up to this, each by another amount, so that no two rows
// limit a column alike and the method does not turn in circles.
constexpr double kShift = 1e-6;
// Entries of the inverse that are changed in the time of one look elsewhere.
constexpr size_t kEntriesPerWork = 16;

size_t CountRows(const PatternMaster::Terms& terms) {
  size_t rows = terms.machines.size() + terms.caps.size() + terms.levels.size();
  for (const PatternMaster::Spread& spread : terms.spreads) {
    rows += 1 + spread.caps.size();
  }
  // Of a class its own, and one for each step but the last.
  for (const auto& steps : terms.waiting) rows += steps.size();
  return rows;
}

}  // namespace

int64_t PatternMaster::LeastWork(const Terms& terms) {
  const size_t rows = CountRows(terms);
  return static_cast<int64_t>(rows * rows / kEntriesPerWork * rows);
}

PatternMaster::PatternMaster(const Terms& terms) {
  const size_t classes = terms.waiting.size();
  group_row_ = classes;
  cap_row_ = classes + terms.machines.size();
  const size_t level_row = cap_row_ + terms.caps.size();
  const size_t spread_row = level_row + terms.levels.size();
  row_count_ = CountRows(terms);
  // The rows of steps are the last.
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
      if (i + 1 < steps.size()) {
        bounds_[step_row] = steps[i].count;
        entries_.push_back({step_row++, 1});
      }
      last_step[c] = AddColumn(0);
    }
    if (c < terms.is_exact.size() && terms.is_exact[c]) continue;
    AddColumn(0, {{c, -1}});  // More than its tasks.
  }
  std::ranges::copy(terms.machines,
                    bounds_.begin() + static_cast<int64_t>(group_row_));
  std::ranges::copy(terms.caps,
                    bounds_.begin() + static_cast<int64_t>(cap_row_));
  for (size_t l = 0; l < terms.levels.size(); ++l) {
    bounds_[level_row + l] = terms.levels[l].free;
  }
  AddSpreads(terms, spread_row);
  shifted_ = bounds_;
  for (size_t row = 0; row < row_count_; ++row) {
    // A sequence that fills the unit interval evenly.
    const double part = std::fmod(static_cast<double>(row + 1) * 0.618034, 1.0);
    shifted_[row] += kShift * (0.5 + part);
  }
  StartFromWaiting(terms, level_row, last_step);
}

void PatternMaster::StartFromWaiting(const Terms& terms, size_t level_row,
                                     const std::vector<size_t>& last_step) {
  const size_t classes = last_step.size();
  basis_.resize(row_count_);
  inverse_.assign(row_count_ * row_count_, 0);
  for (size_t row = 0; row < row_count_; ++row) {
    Inverse(row, row) = 1;
    basis_[row] = row < classes ? last_step[row] : AddColumn(0, {{row, 1}});
  }
  for (size_t l = 0; l < terms.levels.size(); ++l) {
    const size_t row = level_row + l;
    double waiting_cost = 0;
    for (size_t c = 0; c < classes; ++c) {
      const Step& last = terms.waiting[c].back();
      if (last.level != l) continue;
      waiting_cost += shifted_[c] * last.cost;
      Inverse(row, c) = -last.cost;
    }
    const size_t overflow =
        AddColumn(terms.levels[l].overflow_cost, {{row, -1}});
    if (waiting_cost <= shifted_[row]) continue;
    basis_[row] = overflow;
    for (size_t i = 0; i <= row; ++i) Inverse(row, i) = -Inverse(row, i);
  }
  for (const size_t column : basis_) is_basic_[column] = true;
  amounts_.assign(row_count_, 0);
  for (size_t row = 0; row < row_count_; ++row) {
    for (size_t i = 0; i < row_count_; ++i) {
      amounts_[row] += Inverse(row, i) * shifted_[i];
    }
  }
  prices_.assign(row_count_, 0);
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

size_t PatternMaster::AddColumn(double cost) {
  const size_t begin = columns_.empty() ? 0 : columns_.back().end;
  columns_.push_back({cost, begin, entries_.size()});
  is_basic_.push_back(false);
  return columns_.size() - 1;
}

size_t PatternMaster::AddColumn(double cost,
                                std::initializer_list<Entry> entries) {
  entries_.insert(entries_.end(), entries);
  return AddColumn(cost);
}

size_t PatternMaster::AddPattern(
    size_t group, std::span<const std::pair<size_t, int64_t>> tasks,
    double cost, std::span<const std::pair<size_t, int64_t>> counted) {
  entries_.push_back({group_row_ + group, 1});
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
  patterns_.push_back(AddColumn(cost));
  return patterns_.size() - 1;
}

void PatternMaster::FindPrices() {
  std::ranges::fill(prices_, 0);
  for (size_t row = 0; row < row_count_; ++row) {
    const double cost = columns_[basis_[row]].cost;
    if (cost == 0) continue;
    const double* of_row = &inverse_[row * row_count_];
    for (size_t i = 0; i < row_count_; ++i) prices_[i] += cost * of_row[i];
  }
}

double PatternMaster::ReducedCost(const Column& column) const {
  double cost = column.cost;
  for (const Entry& entry : EntriesOf(column)) {
    cost -= prices_[entry.row] * entry.value;
  }
  return cost;
}

bool PatternMaster::Solve(int64_t work_max) {
  FindPrices();
  for (const int64_t end = work_ + work_max; work_ < end;) {
    double least = -kTolerance;
    size_t entering = columns_.size();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (is_basic_[i]) continue;
      const double cost = ReducedCost(columns_[i]);
      if (cost < least) {
        least = cost;
        entering = i;
      }
    }
    work_ += static_cast<int64_t>(columns_.size() +
                                  row_count_ * row_count_ / kEntriesPerWork);
    if (entering == columns_.size()) return true;
    if (!Enter(entering)) return false;
  }
  return false;
}

bool PatternMaster::Enter(size_t column) {
  entering_.assign(row_count_, 0);
  const std::span<const Entry> entries = EntriesOf(columns_[column]);
  for (size_t row = 0; row < row_count_; ++row) {
    const double* of_row = &inverse_[row * row_count_];
    for (const Entry& entry : entries) {
      entering_[row] += of_row[entry.row] * entry.value;
    }
  }
  size_t leaving = row_count_;
  double least = std::numeric_limits<double>::max();
  for (size_t row = 0; row < row_count_; ++row) {
    if (entering_[row] <= kPivotMin) continue;
    const double ratio = std::max(amounts_[row], 0.0) / entering_[row];
    if (ratio < least) {
      least = ratio;
      leaving = row;
    }
  }
  if (leaving == row_count_) return false;
  const double cost = ReducedCost(columns_[column]);
  const double pivot = entering_[leaving];
  double* const of_leaving = &inverse_[leaving * row_count_];
  for (size_t i = 0; i < row_count_; ++i) of_leaving[i] /= pivot;
  amounts_[leaving] = least;
  for (size_t row = 0; row < row_count_; ++row) {
    const double factor = entering_[row];
    if (row == leaving || factor == 0) continue;
    double* const of_row = &inverse_[row * row_count_];
    for (size_t i = 0; i < row_count_; ++i) of_row[i] -= factor * of_leaving[i];
    amounts_[row] -= factor * least;
  }
  for (size_t i = 0; i < row_count_; ++i) prices_[i] += cost * of_leaving[i];
  is_basic_[basis_[leaving]] = false;
  is_basic_[column] = true;
  basis_[leaving] = column;
  return true;
}

double PatternMaster::objective() const {
  double sum = 0;
  for (size_t row = 0; row < row_count_; ++row) {
    sum += columns_[basis_[row]].cost * amounts_[row];
  }
  return sum;
}

std::vector<double> PatternMaster::Amounts() const {
  std::vector<double> of_column(columns_.size(), 0);
  for (size_t row = 0; row < row_count_; ++row) {
    double amount = 0;
    for (size_t i = 0; i < row_count_; ++i) {
      amount += Inverse(row, i) * bounds_[i];
    }
    of_column[basis_[row]] = std::max(amount, 0.0);
  }
  std::vector<double> amounts;
  for (const size_t column : patterns_) amounts.push_back(of_column[column]);
  return amounts;
}

}  // namespace sluice
