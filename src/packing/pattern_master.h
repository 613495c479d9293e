// The restricted master problem of the pattern relaxation (Dantzig and Wolfe:
// Decomposition principle for linear programs, 1960): so many machines of each
// group hold each pattern, so many tasks wait, and no integer is asked for.
//
//   minimize   sum cost(p) x(p) + sum overflow_cost(l) s(l)
//   class c    sum count(c, p) x(p) + sum of u(c, step)  >=  its tasks, or  =
//   group g    sum of x(p) over its patterns             <=  its machines
//   cap k      sum of what x(p) counts for it - t(s)     <=  what it lets in
//   its floor  t(s) - sum of what x(p) counts for it     <=  what is ahead
//   spread s   t(s)                                      <=  how far it rises
//   budget b   sum of u(c, step) that counts - e(b)      <=  what may wait
//   level l    sum waiting cost * u(c, step)
//                + sum excess cost * e(b) - s(l)         <=  free(l)
//   step       u(c, step)                                <=  its tasks
//
// Uses the primal simplex method with an explicit inverse of the basis.  The
// inverse has one row per constraint except those of groups, which are the most
// numerous (Dantzig and Van Slyke: Generalized upper bounding techniques,
// 1967).  A pattern counts for exactly one group, and each group has a basic
// column, its slack or a pattern.  One of these is its key: it takes the
// machines that the others leave.  So each of the others counts by its
// difference from the key, and the row of the group disappears.  Columns are
// added between solves; the prices say which ones would help.
//
// Units: doubles, scaled by the caller so that costs are near 1.  Conclusions
// from prices are proved in integers elsewhere (pattern_relaxation.h).
// Threads: none.  Determinism: the same calls give the same prices.

#ifndef SLUICE_PACKING_PATTERN_MASTER_H_
#define SLUICE_PACKING_PATTERN_MASTER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

class PatternMaster {
 public:
  struct Step {
    double count = 0;
    double cost = 0;  // 0: they may wait for free.
    size_t level = 0;
  };
  // This much waiting cost is free; each unit over it costs `overflow_cost`.
  struct Level {
    double free = 0;
    double overflow_cost = 1;
  };
  struct Spread {
    std::vector<size_t> caps;
    std::vector<double> ahead;  // By these.
    double rise_max = 0;
  };
  // `waiting_max` of the tasks that count may wait; each further one costs
  // `cost`.
  struct Budget {
    double waiting_max = 0;
    double cost = 1;
    size_t level = 0;
  };
  struct Terms {
    std::vector<std::vector<Step>> waiting;  // By class, the cheapest first.
    // By class: true if no more than its tasks may be placed either, since
    // other classes would gain by more.  If empty, false for all.
    std::vector<bool> is_exact = {};
    // By class: the budgets that its tasks count for.  If empty, none.
    std::vector<std::vector<size_t>> budgets_of = {};
    std::vector<Budget> budgets = {};
    std::vector<double> machines;  // By group.
    std::vector<double> caps = {};
    std::vector<Spread> spreads = {};
    std::vector<Level> levels;
  };

  explicit PatternMaster(const Terms& terms);
  // The least work to reach the optimum, if each row and each group takes one
  // step.  The space is quadratic in the rows.
  static int64_t LeastWork(const Terms& terms);

  // `tasks`: class and count; `counted`: cap and count.  Returns the pattern's
  // index, counted from 0.
  size_t AddPattern(size_t group,
                    std::span<const std::pair<size_t, int64_t>> tasks,
                    double cost,
                    std::span<const std::pair<size_t, int64_t>> counted = {});

  // Returns true if it reached the optimum within about this much work.
  bool Solve(int64_t work_max);

  double objective() const;
  // The cost of one more task of the class; not negative unless the class is
  // exact.
  double ClassPrice(size_t task_class) const { return prices_[task_class]; }
  // The saving of one more machine of the group; not negative.
  double GroupPrice(size_t group) const { return -prices_[KeyOf(group)]; }
  // The saving of one more task that may wait under a budget; not negative.
  double BudgetPrice(size_t budget) const {
    return -prices_[budget_row_ + budget];
  }
  // The saving of one more task that a cap allows; not negative.
  double CapPrice(size_t cap) const { return -prices_[cap_row_ + cap]; }
  // The saving of one more task ahead under the cap of a spread; not negative;
  // 0 for other caps.
  double FloorPrice(size_t cap) const {
    return floor_rows_[cap].has_value() ? -prices_[*floor_rows_[cap]] : 0;
  }
  // How many machines hold each pattern, by index.
  std::vector<double> Amounts() const;
  // Over all solves.
  int64_t work() const { return work_; }

 private:
  struct Entry {
    size_t row;
    double value;
  };
  struct Column {
    double cost = 0;
    size_t group = 0;
    size_t begin = 0;  // Of its entries, and
    size_t end = 0;
  };

  // Index of the group's key in the basis.
  size_t KeyOf(size_t group) const { return row_count_ + group; }
  const Column& Basic(size_t place) const { return columns_[basis_[place]]; }
  const Column& Key(size_t group) const { return Basic(KeyOf(group)); }
  double& Inverse(size_t place, size_t row) {
    return inverse_[row * row_count_ + place];
  }
  std::span<const Entry> EntriesOf(const Column& column) const {
    return std::span(entries_).subspan(column.begin, column.end - column.begin);
  }
  // Takes the entries that were added since the last one.
  size_t AddColumn(double cost, size_t group);
  // A column without a group.
  size_t AddColumn(double cost, std::initializer_list<Entry> entries = {});
  // Their rows begin at `row`.
  void AddSpreads(const Terms& terms, size_t row);
  // Starts with all classes waiting and their last steps in the basis.  All
  // else is slack, except what is exceeded then.
  void StartFromWaiting(const Terms& terms, size_t level_row,
                        const std::vector<size_t>& last_step);
  // Makes `excess` basic in its row if the start exceeds that row.  Returns
  // whether it does.
  bool ExceedAtStart(size_t row, size_t excess);
  // The amounts of the basic columns for these right sides.
  std::vector<double> Filling(const std::vector<double>& bounds) const;
  void FindPrices();
  void FindGroupPrices();
  double ReducedCost(const Column& column) const;
  // Finds what one unit of `column` takes from each basic column.
  void FindEntering(size_t column);
  // Adds `times` the column of the inverse.
  void AddInverse(size_t row, double times, double* sum) const;
  // The place of the basic column that leaves first; nullopt if nothing limits
  // the entering one.
  std::optional<size_t> FindLeaving() const;
  // Makes another column of the group its key, if there is one.  Returns the
  // place that the former key takes.
  std::optional<size_t> ReplaceKey(size_t group);
  // Makes `column` basic.  Returns false if nothing limits it.
  bool Enter(size_t column);

  size_t budget_row_ = 0;                          // First row of budgets.
  size_t cap_row_ = 0;                             // First row of caps.
  std::vector<std::optional<size_t>> floor_rows_;  // By cap.
  size_t row_count_ = 0;
  // One more than there are: the last one is for columns without a group.  Its
  // key is empty and unlimited.
  size_t group_count_ = 0;
  std::vector<Entry> entries_;  // Column by column.
  std::vector<Column> columns_;
  std::vector<size_t> patterns_;  // Their columns.
  std::vector<double> bounds_;    // Right sides by row, then by group.
  std::vector<double> shifted_;   // The same, perturbed.
  std::vector<size_t> basis_;     // One a row, then the keys.
  std::vector<bool> is_basic_;    // By column.
  std::vector<double> inverse_;   // Without the keys; column by column.
  std::vector<double> amounts_;   // Of the basic columns; shifted.
  std::vector<double> prices_;    // By row, then by group.
  std::vector<double> entering_;  // By basic column.
  int64_t work_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_PATTERN_MASTER_H_
