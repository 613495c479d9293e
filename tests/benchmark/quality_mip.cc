#include "benchmark/quality_mip.h"

#include <glog/logging.h>
#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace sluice {
namespace {

class PlacementProgram {
 public:
  // `policies`: whose preference cost is to be least; without, as many as
  // possible are to be placed.
  PlacementProgram(const ClusterState& state, const PolicySet* policies,
                   const ConstraintSet& constraints)
      : state_(state),
        policies_(policies),
        constraints_(constraints),
        program_(glp_create_prob()),
        units_(state.resource_count()) {
    glp_term_out(GLP_OFF);
    for (const auto& [key, tasks] : state.pending()) {
      for (size_t i = 0; i < units_.size(); ++i) {
        units_[i] = std::gcd(units_[i], key.request[i]);
      }
    }
    placed_row_ = AddRow(GLP_LO, 0, 0);
    for (const auto& [key, tasks] : state.pending()) {
      AddClass(key, static_cast<int64_t>(tasks.size()));
    }
    for (const auto& [job, columns] : gangs_) {
      AddAllOrNone(*state.FindJob(job), columns);
    }
    for (int i = 1; i <= glp_get_num_cols(program_); ++i) {
      glp_set_obj_coef(
          program_, i,
          glp_get_obj_coef(program_, i) / static_cast<double>(CostUnit()));
    }
  }
  PlacementProgram(const PlacementProgram&) = delete;
  PlacementProgram& operator=(const PlacementProgram&) = delete;
  ~PlacementProgram() {
    glp_delete_prob(program_);
    glp_free_env();
  }

  // Places at least so many tasks at the least cost.
  MipAnswer Solve(int64_t placed, double seconds_max) {
    glp_set_row_bnds(program_, placed_row_, GLP_LO, static_cast<double>(placed),
                     0);
    glp_load_matrix(program_, static_cast<int>(rows_.size()) - 1, rows_.data(),
                    columns_.data(), values_.data());
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    CHECK_EQ(glp_simplex(program_, &simplex), 0);
    CHECK_EQ(glp_get_status(program_), GLP_OPT);
    bound_ = glp_get_obj_val(program_);

    glp_iocp options;
    glp_init_iocp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.tm_lim = static_cast<int>(1000 * seconds_max);
    options.bt_tech = GLP_BT_BPH;
    options.gmi_cuts = options.mir_cuts = options.cov_cuts = GLP_ON;
    options.cb_func = &NoteBound;
    options.cb_info = this;
    glp_intopt(program_, &options);
    MipAnswer answer;
    const int status = glp_mip_status(program_);
    if (status == GLP_OPT || status == GLP_FEAS) {
      answer.found = CostUnit() * std::llround(glp_mip_obj_val(program_));
    }
    // Costs are whole numbers of units.
    answer.bound =
        status == GLP_OPT
            ? *answer.found
            : CostUnit() * static_cast<Cost>(std::ceil(bound_ - 1e-6));
    return answer;
  }

 private:
  Cost CostUnit() const { return std::max<Cost>(cost_unit_, 1); }

  int AddRow(int kind, double low, double high) {
    const int row = glp_add_rows(program_, 1);
    glp_set_row_bnds(program_, row, kind, low, high);
    return row;
  }

  int AddColumn(int64_t high, Cost cost) {
    const int column = glp_add_cols(program_, 1);
    glp_set_col_kind(program_, column, GLP_IV);
    glp_set_col_bnds(program_, column, GLP_DB, 0, static_cast<double>(high));
    glp_set_obj_coef(program_, column, static_cast<double>(cost));
    cost_unit_ = std::gcd(cost_unit_, cost);
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
                            ? -1
                            : policies_->PreferenceCost(*key.rules, *machine);
      const int column =
          AddColumn(key.request.TimesIn(machine->Free(), count), cost);
      Enter(placed_row_, column, 1);
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
    const int does_run = AddColumn(1, 0);
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
  glp_prob* program_;
  std::vector<int64_t> units_;  // What all requests of a resource divide by.
  int placed_row_ = 0;
  std::map<std::pair<MachineId, size_t>, int> room_rows_;
  std::map<JobId, std::vector<int>> gangs_;  // Their columns.
  // The matrix as triplets, which GLPK numbers from 1.
  std::vector<int> rows_ = {0};
  std::vector<int> columns_ = {0};
  std::vector<double> values_ = {0};
  Cost cost_unit_ = 0;  // What all costs divide by.
  double bound_ = 0;    // Proved so far, in units.
};

}  // namespace

MipAnswer MostPlaced(const ClusterState& state,
                     const ConstraintSet& constraints, double seconds_max) {
  PlacementProgram program(state, nullptr, constraints);
  MipAnswer answer = program.Solve(0, seconds_max);
  if (answer.found.has_value()) answer.found = -*answer.found;
  answer.bound = -answer.bound;
  return answer;
}

MipAnswer LeastPreferenceCost(const ClusterState& state,
                              const PolicySet& policies,
                              const ConstraintSet& constraints, int64_t placed,
                              double seconds_max) {
  return PlacementProgram(state, &policies, constraints)
      .Solve(placed, seconds_max);
}

}  // namespace sluice
