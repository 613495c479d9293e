#include "oracle/packing_mip.h"

#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sluice {
namespace {

// So many tasks of each class on each machine, and so many of each step wait.
class PlacementProgram {
 public:
  PlacementProgram(const PackingProblem& problem, bool is_waiting_wanted)
      : problem_(problem),
        is_waiting_wanted_(is_waiting_wanted),
        program_(glp_create_prob()) {
    glp_term_out(GLP_OFF);
    waiting_row_ = AddRow(GLP_FR, 0);
    for (const PackingClass& one : problem.classes) AddClass(one);
    for (const PackingCap& cap : problem.caps) {
      cap_rows_.push_back(AddRow(GLP_UP, cap.most));
      floor_rows_.push_back(AddRow(GLP_FR, 0));
    }
    for (const PackingSpread& spread : problem.spreads) {
      const int rise = AddColumn(spread.rise_max, 0);
      for (size_t i = 0; i < spread.caps.size(); ++i) {
        Enter(cap_rows_[spread.caps[i]], rise, -1);
        const int row = floor_rows_[spread.caps[i]];
        glp_set_row_bnds(program_, row, GLP_UP, 0,
                         static_cast<double>(spread.ahead[i]));
        Enter(row, rise, 1);
      }
    }
    for (const PackingGroup& group : problem.groups) {
      for (int64_t i = 0; i < group.machines; ++i) AddMachine(group);
    }
    for (const PackingGang& gang : problem.gangs) AddGang(gang);
    for (size_t b = 0; b < problem.budgets.size(); ++b) AddBudget(b);
    glp_load_matrix(program_, static_cast<int>(rows_.size()) - 1, rows_.data(),
                    columns_.data(), values_.data());
  }
  PlacementProgram(const PlacementProgram&) = delete;
  PlacementProgram& operator=(const PlacementProgram&) = delete;
  ~PlacementProgram() {
    glp_delete_prob(program_);
    glp_free_env();
  }

  void LimitWaiting(int64_t cost) {
    glp_set_row_bnds(program_, waiting_row_, GLP_UP, 0,
                     static_cast<double>(cost));
  }

  // Ends once so many linear programs were solved.
  PackingMipAnswer Solve(int64_t programs_max) {
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    if (glp_simplex(program_, &simplex) != 0) return {};
    glp_iocp options;
    glp_init_iocp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.cb_func = &EndAtLimit;
    options.cb_info = &programs_max;
    options.mir_cuts = GLP_ON;
    glp_intopt(program_, &options);
    PackingMipAnswer answer;
    const int status = glp_mip_status(program_);
    if (status == GLP_OPT || status == GLP_FEAS) {
      answer.found = std::llround(glp_mip_obj_val(program_));
      answer.is_least = status == GLP_OPT;
    }
    return answer;
  }

 private:
  // GLPK asks for rows when it has solved one.
  static void EndAtLimit(glp_tree* tree, void* programs_left) {
    auto* left = static_cast<int64_t*>(programs_left);
    if (glp_ios_reason(tree) == GLP_IROWGEN && --*left <= 0) {
      glp_ios_terminate(tree);
    }
  }

  int AddRow(int kind, int64_t bound) {
    const int row = glp_add_rows(program_, 1);
    const auto value = static_cast<double>(bound);
    glp_set_row_bnds(program_, row, kind, value, value);
    return row;
  }

  int AddColumn(int64_t high, int64_t cost) {
    const int column = glp_add_cols(program_, 1);
    glp_set_col_kind(program_, column, GLP_IV);
    glp_set_col_bnds(program_, column, high > 0 ? GLP_DB : GLP_FX, 0,
                     static_cast<double>(high));
    glp_set_obj_coef(program_, column, static_cast<double>(cost));
    return column;
  }

  void Enter(int row, int column, int64_t value) {
    if (value == 0) return;
    rows_.push_back(row);
    columns_.push_back(column);
    values_.push_back(static_cast<double>(value));
  }

  void AddClass(const PackingClass& one) {
    int64_t tasks = 0;
    for (const WaitingStep& step : one.waiting) tasks += step.count;
    class_rows_.push_back(AddRow(GLP_FX, tasks));
    limits_.push_back(std::min(tasks, one.per_machine_max));
    waiting_columns_.emplace_back();
    for (const WaitingStep& step : one.waiting) {
      const int column =
          AddColumn(step.count, is_waiting_wanted_ ? step.cost : 0);
      waiting_columns_.back().push_back(column);
      Enter(class_rows_.back(), column, 1);
      Enter(waiting_row_, column, step.cost);
    }
  }

  // What waits is all of it, or leaves at least the minimum: a column says
  // whether it is started.
  void AddGang(const PackingGang& gang) {
    int64_t tasks = 0;
    for (const size_t c : gang.classes) {
      for (const WaitingStep& step : problem_.classes[c].waiting) {
        tasks += step.count;
      }
    }
    const int is_started = AddColumn(1, 0);
    // waiting + minimum * started <= tasks, waiting + tasks * started >= tasks.
    const int least = AddRow(GLP_UP, tasks);
    Enter(least, is_started, gang.minimum);
    const int most = AddRow(GLP_LO, tasks);
    Enter(most, is_started, tasks);
    for (const size_t c : gang.classes) {
      for (const int column : waiting_columns_[c]) {
        Enter(least, column, 1);
        Enter(most, column, 1);
      }
    }
  }

  // What waits of it is at most what it lets, and its excess.
  void AddBudget(size_t b) {
    const PackingBudget& budget = problem_.budgets[b];
    const int row = AddRow(GLP_UP, budget.waiting_max);
    int64_t tasks = 0;
    for (size_t c = 0; c < problem_.classes.size(); ++c) {
      const PackingClass& one = problem_.classes[c];
      if (std::ranges::count(one.budgets, b) == 0) continue;
      for (const int column : waiting_columns_[c]) Enter(row, column, 1);
      for (const WaitingStep& step : one.waiting) tasks += step.count;
    }
    const int excess = AddColumn(tasks, is_waiting_wanted_ ? budget.cost : 0);
    Enter(row, excess, -1);
    Enter(waiting_row_, excess, budget.cost);
  }

  void AddMachine(const PackingGroup& group) {
    std::vector<int> room;
    for (const int64_t free : group.free) room.push_back(AddRow(GLP_UP, free));
    std::vector<int> columns(class_rows_.size(), 0);  // GLPK has no column 0.
    for (size_t c = 0; c < class_rows_.size(); ++c) {
      const int64_t cost = problem_.costs[group.kind][c];
      if (cost == kNotAllowed) continue;
      int64_t limit = limits_[c];
      const bool may_move = problem_.classes[c].move_cost != kNotAllowed;
      if (problem_.classes[c].runs && !may_move) {
        limit = std::min(limit, CountStaying(group.kind, c));
      }
      const int column = AddColumn(limit, is_waiting_wanted_ ? 0 : cost);
      columns[c] = column;
      if (problem_.classes[c].runs && may_move) {
        const int moved = AddColumn(
            limit, is_waiting_wanted_ ? 0 : problem_.classes[c].move_cost);
        const int row = AddRow(GLP_UP, CountStaying(group.kind, c));
        Enter(row, column, 1);
        Enter(row, moved, -1);
      }
      Enter(class_rows_[c], column, 1);
      for (const size_t cap : group.caps) {
        if (!problem_.caps[cap].Counts(c)) continue;
        const int64_t weight =
            problem_.classes[c].runs ? problem_.caps[cap].of_running : 1;
        Enter(cap_rows_[cap], column, weight);
        Enter(floor_rows_[cap], column, -weight);
      }
      for (size_t d = 0; d < room.size(); ++d) {
        Enter(room[d], column, problem_.classes[c].request[d]);
      }
      for (const size_t other : problem_.classes[c].apart_from) {
        if (other < c && columns[other] > 0) KeepApart(c, other, columns);
      }
    }
    for (size_t c = 0; c < class_rows_.size(); ++c) {
      if (columns[c] > 0 && problem_.classes[c].needs_company &&
          !HasCompanyByWhatStays(group.kind, c)) {
        NeedCompany(c, columns);
      }
    }
  }

  int64_t CountStaying(size_t kind, size_t c) const {
    if (kind >= problem_.staying.size()) return 0;
    for (const auto& [of, count] : problem_.staying[kind]) {
      if (of == c) return count;
    }
    return 0;
  }

  bool HasCompanyByWhatStays(size_t kind, size_t c) const {
    return kind < problem_.company.size() &&
           std::ranges::binary_search(problem_.company[kind], c);
  }

  // One task of its company lets all of the class in.
  void NeedCompany(size_t c, const std::vector<int>& columns) {
    const int row = AddRow(GLP_UP, 0);
    Enter(row, columns[c], 1);
    for (const size_t other : problem_.classes[c].company) {
      if (columns[other] > 0) Enter(row, columns[other], -limits_[c]);
    }
  }

  // Only one of the two may be there: a column says which.
  void KeepApart(size_t a, size_t b, const std::vector<int>& columns) {
    const int choice = AddColumn(1, 0);
    const int row_a = AddRow(GLP_UP, 0);
    Enter(row_a, columns[a], 1);
    Enter(row_a, choice, -limits_[a]);
    const int row_b = AddRow(GLP_UP, limits_[b]);
    Enter(row_b, columns[b], 1);
    Enter(row_b, choice, limits_[b]);
  }

  const PackingProblem& problem_;
  const bool is_waiting_wanted_;
  glp_prob* program_;
  int waiting_row_;
  std::vector<int> class_rows_;
  std::vector<std::vector<int>> waiting_columns_;  // By class.
  std::vector<int> cap_rows_;
  std::vector<int> floor_rows_;  // By cap.
  std::vector<int64_t> limits_;  // By class, on one machine.
  // The matrix as triplets, which GLPK numbers from 1.
  std::vector<int> rows_ = {0};
  std::vector<int> columns_ = {0};
  std::vector<double> values_ = {0};
};

}  // namespace

PackingMipAnswer LeastWaitingByMip(const PackingProblem& problem,
                                   int64_t programs_max) {
  return PlacementProgram(problem, true).Solve(programs_max);
}

PackingMipAnswer LeastPlacedByMip(const PackingProblem& problem,
                                  int64_t waiting_cost, int64_t programs_max) {
  PlacementProgram program(problem, false);
  program.LimitWaiting(waiting_cost);
  return program.Solve(programs_max);
}

}  // namespace sluice
