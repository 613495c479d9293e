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
// The primal simplex method with an explicit inverse of the basis, which is as
// large as the rows without those of the groups, of which there are the most
// (Dantzig and Van Slyke: Generalized upper bounding techniques, 1967).  A
// pattern counts for one group only, once, and each group has a basic column,
// its slack or a pattern.  One of these is its key: it takes what machines the
// others leave, so that each of the others counts as what it has more than the
// key, and the row of the group is gone.  Columns are added between two solves;
// its prices say which ones would help.
//
// Units: doubles, scaled by the caller so that costs are near 1.  What is
// concluded from prices is proved in integers elsewhere (pattern_relaxation.h).
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
    double cost = 0;  // 0: they may wait for nothing.
    size_t level = 0;
  };
  // So much waiting cost is free, and what is over it costs so much a unit.
  struct Level {
    double free = 0;
    double overflow_cost = 1;
  };
  struct Spread {
    std::vector<size_t> caps;
    std::vector<double> ahead;  // By these.
    double rise_max = 0;
  };
  // Of the tasks that count so many may wait; each further one costs so much.
  struct Budget {
    double waiting_max = 0;
    double cost = 1;
    size_t level = 0;
  };
  struct Terms {
    std::vector<std::vector<Step>> waiting;  // By class, the cheapest first.
    // By class: no more than its tasks may be placed, either, since others
    // would gain by that.  Empty: of none.
    std::vector<bool> is_exact = {};
    // By class: the budgets that its tasks count for.  Empty: of none.
    std::vector<std::vector<size_t>> budgets_of = {};
    std::vector<Budget> budgets = {};
    std::vector<double> machines;  // By group.
    std::vector<double> caps = {};
    std::vector<Spread> spreads = {};
    std::vector<Level> levels;
  };

  explicit PatternMaster(const Terms& terms);
  // What it takes to come to the optimum, if each row and each group is to be
  // decided on: a step each.  Its space is that of the square of its rows.
  static int64_t LeastWork(const Terms& terms);

  // `tasks`: class and count; `counted`: cap and count.  Returns its index: 0,
  // 1, ...
  size_t AddPattern(size_t group,
                    std::span<const std::pair<size_t, int64_t>> tasks,
                    double cost,
                    std::span<const std::pair<size_t, int64_t>> counted = {});

  // Returns whether it came to the optimum within about so much work.
  bool Solve(int64_t work_max);

  double objective() const;
  // What one more task of the class costs: at least 0, if it is not exact.
  double ClassPrice(size_t task_class) const { return prices_[task_class]; }
  // What one more machine of the group saves, at least 0.
  double GroupPrice(size_t group) const { return -prices_[KeyOf(group)]; }
  // What one more task that may wait for a budget saves, at least 0.
  double BudgetPrice(size_t budget) const {
    return -prices_[budget_row_ + budget];
  }
  // What one more task that a cap lets in saves, at least 0.
  double CapPrice(size_t cap) const { return -prices_[cap_row_ + cap]; }
  // What one more that is ahead under the cap of a spread saves, at least 0; 0
  // for other caps.
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

  // Where the basis has the key of the group.
  size_t KeyOf(size_t group) const { return row_count_ + group; }
  const Column& Basic(size_t place) const { return columns_[basis_[place]]; }
  const Column& Key(size_t group) const { return Basic(KeyOf(group)); }
  double& Inverse(size_t place, size_t row) {
    return inverse_[row * row_count_ + place];
  }
  std::span<const Entry> EntriesOf(const Column& column) const {
    return std::span(entries_).subspan(column.begin, column.end - column.begin);
  }
  // Of the entries that were added since the last one.
  size_t AddColumn(double cost, size_t group);
  // Of no group.
  size_t AddColumn(double cost, std::initializer_list<Entry> entries = {});
  // Their rows begin at `row`.
  void AddSpreads(const Terms& terms, size_t row);
  // Each class waits, its last step in the basis; all else is slack, but for
  // what is exceeded then.
  void StartFromWaiting(const Terms& terms, size_t level_row,
                        const std::vector<size_t>& last_step);
  // Makes `excess` basic in its row if the start exceeds that row.  Returns
  // whether it does.
  bool ExceedAtStart(size_t row, size_t excess);
  // How much of each basic column fills these right sides.
  std::vector<double> Filling(const std::vector<double>& bounds) const;
  void FindPrices();
  void FindGroupPrices();
  double ReducedCost(const Column& column) const;
  // What one of `column` takes from each basic column.
  void FindEntering(size_t column);
  // Adds so many times the column of the inverse.
  void AddInverse(size_t row, double times, double* sum) const;
  // Where the first basic column is to leave; nowhere if nothing limits it.
  std::optional<size_t> FindLeaving() const;
  // Makes another column of the group its key, if there is one.  Returns the
  // place that the former key takes.
  std::optional<size_t> ReplaceKey(size_t group);
  // Makes `column` basic.  Returns false where nothing limits it.
  bool Enter(size_t column);

  size_t budget_row_ = 0;                          // The first of budgets'.
  size_t cap_row_ = 0;                             // The first of the caps'.
  std::vector<std::optional<size_t>> floor_rows_;  // By cap.
  size_t row_count_ = 0;
  // One more than there are: the last is that of what is of no group.  Its key
  // is empty, and there is no end of it.
  size_t group_count_ = 0;
  std::vector<Entry> entries_;  // Column by column.
  std::vector<Column> columns_;
  std::vector<size_t> patterns_;  // Their columns.
  std::vector<double> bounds_;    // By row, then by group: the right side, and
  std::vector<double> shifted_;   // the same without ties.
  std::vector<size_t> basis_;     // Basic columns, one a row, then the keys.
  std::vector<bool> is_basic_;    // By column.
  std::vector<double> inverse_;   // Without the keys; column by column.
  std::vector<double> amounts_;   // Of the basic columns; shifted.
  std::vector<double> prices_;    // By row, then by group.
  std::vector<double> entering_;  // By basic column.
  int64_t work_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_PATTERN_MASTER_H_
