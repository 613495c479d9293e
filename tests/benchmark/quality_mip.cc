#include "benchmark/quality_mip.h"

#include <glog/logging.h>
#include <glpk.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace sluice {
namespace {

class PlacementProgram {
 public:
  // Without `policies` no placement costs anything.
  PlacementProgram(const ClusterState& state, const PolicySet* policies,
                   const ConstraintSet& constraints, double seconds_max)
      : state_(state),
        policies_(policies),
        constraints_(constraints),
        deadline_(Clock::now() +
                  std::chrono::milliseconds(std::llround(1000 * seconds_max))),
        program_(glp_create_prob()),
        units_(state.resource_count()) {
    glp_term_out(GLP_OFF);
    for (const auto& [key, tasks] : state.pending()) {
      for (size_t i = 0; i < units_.size(); ++i) {
        units_[i] = std::gcd(units_[i], key.request[i]);
      }
    }
    std::optional<uint32_t> priority;  // Of the last level.
    for (const auto& [key, tasks] : state.pending()) {
      if (priority != key.priority) {
        priority = key.priority;
        levels_.push_back({.placed_row = AddRow(GLP_LO, 0, 0)});
      }
      levels_.back().task_count += std::ssize(tasks);
      AddClass(key, static_cast<int64_t>(tasks.size()));
    }
    for (const auto& [job, columns] : gangs_) {
      AddAllOrNone(*state.FindJob(job), columns);
    }
    glp_load_matrix(program_, static_cast<int>(rows_.size()) - 1, rows_.data(),
                    columns_.data(), values_.data());
  }
  PlacementProgram(const PlacementProgram&) = delete;
  PlacementProgram& operator=(const PlacementProgram&) = delete;
  ~PlacementProgram() {
    glp_delete_prob(program_);
    glp_free_env();
  }

  size_t level_count() const { return levels_.size(); }

  // At least so many tasks of the level are to be placed.
  void Hold(size_t level, int64_t placed) {
    glp_set_row_bnds(program_, levels_[level].placed_row, GLP_LO,
                     static_cast<double>(placed), 0);
  }

  MipAnswer MostOfLevel(size_t level) {
    for (size_t i = 1; i < costs_.size(); ++i) {
      glp_set_obj_coef(program_, static_cast<int>(i),
                       column_levels_[i] == level ? -1 : 0);
    }
    MipAnswer answer = Minimize(1, -levels_[level].task_count);
    if (answer.found.has_value()) answer.found = -*answer.found;
    answer.bound = -answer.bound;
    return answer;
  }

  MipAnswer LeastCost() {
    Cost unit = 0;  // What all costs divide by.
    for (const Cost cost : costs_) unit = std::gcd(unit, cost);
    unit = std::max<Cost>(unit, 1);
    for (size_t i = 1; i < costs_.size(); ++i) {
      glp_set_obj_coef(program_, static_cast<int>(i),
                       static_cast<double>(costs_[i] / unit));
    }
    return Minimize(unit, 0);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // The tasks of one priority.
  struct Level {
    int placed_row = 0;
    int64_t task_count = 0;
  };

  int MsLeft() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - Clock::now());
    return std::max(static_cast<int>(left.count()), 1);
  }

  // The objective is in units of `unit`, and certainly not below `least`.
  MipAnswer Minimize(int64_t unit, int64_t least) {
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    simplex.tm_lim = MsLeft();
    const int simplex_code = glp_simplex(program_, &simplex);
    if (simplex_code == GLP_ETMLIM) return {std::nullopt, least};
    CHECK_EQ(simplex_code, 0);
    CHECK_EQ(glp_get_status(program_), GLP_OPT);
    bound_ = glp_get_obj_val(program_);

    glp_iocp options;
    glp_init_iocp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.tm_lim = MsLeft();
    options.bt_tech = GLP_BT_BPH;
    options.gmi_cuts = options.mir_cuts = options.cov_cuts = GLP_ON;
    options.cb_func = &NoteBound;
    options.cb_info = this;
    glp_intopt(program_, &options);
    MipAnswer answer;
    const int status = glp_mip_status(program_);
    if (status == GLP_OPT || status == GLP_FEAS) {
      answer.found = unit * std::llround(glp_mip_obj_val(program_));
    }
    // Costs are whole numbers of units.
    answer.bound = status == GLP_OPT
                       ? *answer.found
                       : unit * static_cast<int64_t>(std::ceil(bound_ - 1e-6));
    return answer;
  }

  int AddRow(int kind, double low, double high) {
    const int row = glp_add_rows(program_, 1);
    glp_set_row_bnds(program_, row, kind, low, high);
    return row;
  }

  // `level`: of the tasks that it counts; without, it counts none.
  int AddColumn(int64_t high, std::optional<size_t> level = {}, Cost cost = 0) {
    const int column = glp_add_cols(program_, 1);
    glp_set_col_kind(program_, column, GLP_IV);
    glp_set_col_bnds(program_, column, GLP_DB, 0, static_cast<double>(high));
    column_levels_.push_back(level);
    costs_.push_back(cost);
    return column;
  }

  void Enter(int row, int column, int64_t value) {
    rows_.push_back(row);
    columns_.push_back(column);
    values_.push_back(static_cast<double>(value));
  }

  // How many of the class each machine has.
  void AddClass(const ClassKey& key, int64_t count) {
    const int class_row = AddRow(GLP_UP, 0, static_cast<double>(count));
    for (const auto& [id, machine] : state_.machines()) {
      if (!constraints_.Allows(key, *machine)) continue;
      const Cost cost = policies_ == nullptr
                            ? 0
                            : policies_->PreferenceCost(*key.rules, *machine);
      const int column = AddColumn(key.request.TimesIn(machine->Free(), count),
                                   levels_.size() - 1, cost);
      Enter(levels_.back().placed_row, column, 1);
      Enter(class_row, column, 1);
      for (size_t i = 0; i < units_.size(); ++i) {
        if (key.request[i] == 0) continue;
        Enter(RoomRow(*machine, i), column, key.request[i] / units_[i]);
      }
      if (key.gang.has_value()) gangs_[*key.gang].push_back(column);
    }
  }

  // What tasks may use of the resource on the machine.
  int RoomRow(const Machine& machine, size_t resource) {
    int& row = room_rows_[{machine.id, resource}];
    if (row == 0) {
      row = AddRow(
          GLP_UP, 0,
          static_cast<double>(machine.Free()[resource] / units_[resource]));
    }
    return row;
  }

  // The tasks in these columns are at least the job's minimum, or none.
  void AddAllOrNone(const Job& job, const std::vector<int>& columns) {
    const auto minimum = static_cast<int64_t>(job.gang.minimum);
    const int does_run = AddColumn(1);
    const int enough = AddRow(GLP_LO, 0, 0);
    const int none = AddRow(GLP_UP, 0, 0);
    for (const int column : columns) {
      Enter(enough, column, 1);
      Enter(none, column, 1);
    }
    Enter(enough, does_run, -minimum);
    Enter(none, does_run, -job.pending_count);
  }

  static void NoteBound(glp_tree* tree, void* self) {
    const int best = glp_ios_best_node(tree);
    if (best == 0) return;
    double& bound = static_cast<PlacementProgram*>(self)->bound_;
    bound = std::max(bound, glp_ios_node_bound(tree, best));
  }

  const ClusterState& state_;
  const PolicySet* policies_;
  const ConstraintSet& constraints_;
  const Clock::time_point deadline_;
  glp_prob* program_;
  std::vector<int64_t> units_;  // What all requests of a resource divide by.
  std::vector<Level> levels_;   // The most urgent first.
  std::map<std::pair<MachineId, size_t>, int> room_rows_;
  std::map<JobId, std::vector<int>> gangs_;  // Their columns.
  // The matrix as triplets, which GLPK numbers from 1.
  std::vector<int> rows_ = {0};
  std::vector<int> columns_ = {0};
  std::vector<double> values_ = {0};
  // By column.
  std::vector<std::optional<size_t>> column_levels_ = {std::nullopt};
  std::vector<Cost> costs_ = {0};
  double bound_ = 0;  // Proved so far, in units of the objective.
};

}  // namespace

std::vector<MipAnswer> MostPlaced(const ClusterState& state,
                                  const ConstraintSet& constraints,
                                  double seconds_max) {
  PlacementProgram program(state, nullptr, constraints, seconds_max);
  std::vector<MipAnswer> answers;
  for (size_t level = 0; level < program.level_count(); ++level) {
    const MipAnswer& answer = answers.emplace_back(program.MostOfLevel(level));
    if (answer.found != answer.bound) break;
    program.Hold(level, answer.bound);
  }
  return answers;
}

MipAnswer LeastPreferenceCost(const ClusterState& state,
                              const PolicySet& policies,
                              const ConstraintSet& constraints,
                              const std::vector<int64_t>& placed,
                              double seconds_max) {
  PlacementProgram program(state, &policies, constraints, seconds_max);
  for (size_t level = 0; level < placed.size(); ++level) {
    program.Hold(level, placed[level]);
  }
  return program.LeastCost();
}

}  // namespace sluice
