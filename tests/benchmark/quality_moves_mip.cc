#include "benchmark/quality_moves_mip.h"

#include <glog/logging.h>
#include <glpk.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

class MovesProgram {
 public:
  MovesProgram(const ClusterState& state, const PolicySet& policies,
               Cost move_cost, double seconds_max)
      : state_(state),
        policies_(policies),
        move_cost_(move_cost),
        deadline_(Clock::now() +
                  std::chrono::milliseconds(std::llround(1000 * seconds_max))),
        program_(glp_create_prob()),
        units_(state.resource_count()) {
    glp_term_out(GLP_OFF);
    for (const auto& [id, task] : state.tasks()) {
      const ClassKey& key = task->class_key;
      for (size_t i = 0; i < units_.size(); ++i) {
        units_[i] = std::gcd(units_[i], key.request[i]);
      }
      Level& level = levels_[key.priority];
      if (task->state == TaskState::kRunning) {
        ++level.running;
      } else {
        highest_waiting_ = std::max(highest_waiting_, key.priority);
      }
    }
    for (auto& [priority, level] : levels_) {
      level.kept_row = AddRow(GLP_FR, 0, 0);
      level.placed_row = AddRow(GLP_FR, 0, 0);
    }
    AddRunning();
    AddWaiting();
    values_.assign(static_cast<size_t>(glp_get_num_cols(program_)) + 1, 0);
    glp_load_matrix(program_, static_cast<int>(rows_.size()) - 1, rows_.data(),
                    columns_.data(), entries_.data());
  }
  MovesProgram(const MovesProgram&) = delete;
  MovesProgram& operator=(const MovesProgram&) = delete;
  ~MovesProgram() {
    glp_delete_prob(program_);
    glp_free_env();
  }

  MovesOptimum Solve() {
    MovesOptimum optimum;
    for (auto& [priority, level] : levels_) {
      const Answer kept = Minimize(level.kept, /*is_last=*/false);
      HoldAtLeast(level.kept_row, -kept.found);
      const Answer placed = Minimize(level.placed, /*is_last=*/false);
      HoldAtLeast(level.placed_row, -placed.found);
      optimum.found.push_back({level.running - kept.found, -placed.found});
      optimum.bound.push_back({level.running - kept.bound, -placed.bound});
    }
    Cost unit = 0;  // What all costs divide by.
    for (const auto& [column, cost] : costs_) unit = std::gcd(unit, cost);
    unit = std::max<Cost>(unit, 1);
    Objective objective = costs_;
    for (auto& [column, cost] : objective) cost /= unit;
    const Answer least = Minimize(objective, /*is_last=*/true);
    optimum.cost = cost_of_running_ + unit * least.found;
    optimum.cost_bound = cost_of_running_ + unit * least.bound;
    for (const int column : arrivals_) optimum.moves += ValueOf(column);
    return optimum;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Objective = std::vector<std::pair<int, int64_t>>;  // By column.

  struct Answer {
    int64_t found = 0;
    int64_t bound = 0;
  };

  // The tasks of one priority.  Both objectives are to be minimized: those that
  // are stopped, and those that are placed, less than none.
  struct Level {
    int64_t running = 0;
    int kept_row = 0;
    int placed_row = 0;
    Objective kept;
    Objective placed;
  };

  // Tasks of one job that run.
  struct RunningJob {
    const Task* any = nullptr;
    int64_t count = 0;
    std::map<const Machine*, int64_t> on;
  };
  // Those of its columns that say what becomes of a machine.
  struct Place {
    const Resources* request = nullptr;
    int column = 0;
    int64_t high = 0;
    bool is_arrival = false;
  };

  // Tasks that wait and differ in their jobs at most.
  struct Waiting {
    const ClassKey* key = nullptr;
    int64_t singles = 0;
    std::map<JobId, int64_t> gangs;
  };

  void HoldAtLeast(int row, int64_t count) {
    glp_set_row_bnds(program_, row, GLP_LO, static_cast<double>(count), 0);
  }

  int64_t ValueOf(int column) const {
    return std::llround(values_[static_cast<size_t>(column)]);
  }
  int64_t ValueOf(const Objective& objective) const {
    int64_t sum = 0;
    for (const auto& [column, factor] : objective) {
      sum += factor * ValueOf(column);
    }
    return sum;
  }

  // Half of what is left, where another solve comes behind.
  int MsLeft(bool is_last) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - Clock::now());
    return std::max(static_cast<int>(left.count() / (is_last ? 1 : 2)), 1);
  }

  // Begins at the solution that was found before, and keeps it where none is
  // better.
  Answer Minimize(const Objective& objective, bool is_last) {
    int64_t least = 0;  // Of what the bounds of the columns allow.
    for (int column = 1; column <= glp_get_num_cols(program_); ++column) {
      glp_set_obj_coef(program_, column, 0);
    }
    for (const auto& [column, factor] : objective) {
      glp_set_obj_coef(program_, column, static_cast<double>(factor));
      const auto high = std::llround(glp_get_col_ub(program_, column));
      least += std::min<int64_t>(0, factor * high);
    }
    Answer answer = {ValueOf(objective), least};
    if (answer.found == answer.bound) return answer;
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    simplex.tm_lim = MsLeft(is_last);
    if (glp_simplex(program_, &simplex) == GLP_ETMLIM) return answer;
    CHECK_EQ(glp_get_status(program_), GLP_OPT);
    bound_ = glp_get_obj_val(program_);
    answer.bound = std::max(answer.bound, Whole(bound_));
    if (answer.found == answer.bound) return answer;

    glp_iocp options;
    glp_init_iocp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.tm_lim = MsLeft(is_last);
    options.bt_tech = GLP_BT_BPH;
    options.gmi_cuts = options.mir_cuts = options.cov_cuts = GLP_ON;
    options.cb_func = &Note;
    options.cb_info = this;
    glp_intopt(program_, &options);
    const int status = glp_mip_status(program_);
    if (status == GLP_OPT || status == GLP_FEAS) {
      for (int column = 1; column < std::ssize(values_); ++column) {
        values_[static_cast<size_t>(column)] =
            std::round(glp_mip_col_val(program_, column));
      }
      CHECK_LE(ValueOf(objective), answer.found);
      answer.found = ValueOf(objective);
    }
    answer.bound = status == GLP_OPT ? answer.found
                                     : std::max(answer.bound, Whole(bound_));
    return answer;
  }

  // Objectives are whole numbers.
  static int64_t Whole(double bound) {
    return static_cast<int64_t>(std::ceil(bound - 1e-6));
  }

  static void Note(glp_tree* tree, void* self) {
    auto& program = *static_cast<MovesProgram*>(self);
    if (glp_ios_reason(tree) == GLP_IHEUR && glp_ios_curr_node(tree) == 1) {
      glp_ios_heur_sol(tree, program.values_.data());
    }
    const int best = glp_ios_best_node(tree);
    if (best == 0) return;
    program.bound_ = std::max(program.bound_, glp_ios_node_bound(tree, best));
  }

  int AddRow(int kind, double low, double high) {
    const int row = glp_add_rows(program_, 1);
    glp_set_row_bnds(program_, row, kind, low, high);
    return row;
  }

  // REQUIRES: high > 0.
  int AddColumn(int64_t high) {
    const int column = glp_add_cols(program_, 1);
    glp_set_col_kind(program_, column, GLP_IV);
    glp_set_col_bnds(program_, column, GLP_DB, 0, static_cast<double>(high));
    return column;
  }

  void Enter(int row, int column, int64_t value) {
    rows_.push_back(row);
    columns_.push_back(column);
    entries_.push_back(static_cast<double>(value));
  }

  // What there is for tasks that wait and those that run together.
  Resources RoomOf(const Machine& machine) const {
    Resources room = machine.Free();
    for (const TaskId task : machine.tasks) {
      room += state_.FindTask(task)->class_key.request;
    }
    return room;
  }

  // Each task that the column counts uses this much more, or less.
  void UseRoom(const Machine& machine, const Resources& request, int column,
               int sign) {
    for (size_t i = 0; i < units_.size(); ++i) {
      if (request[i] == 0) continue;
      int& row = room_rows_[{machine.id, i}];
      if (row == 0) {
        row = AddRow(GLP_UP, 0,
                     static_cast<double>(machine.Free()[i] / units_[i]));
      }
      Enter(row, column, sign * request[i] / units_[i]);
    }
  }

  void AddRunning() {
    std::map<JobId, RunningJob> jobs;
    for (const auto& [id, task] : state_.tasks()) {
      if (task->state != TaskState::kRunning) continue;
      const Machine& machine = *state_.FindMachine(task->machine);
      cost_of_running_ +=
          policies_.PreferenceCost(*task->class_key.rules, machine);
      RunningJob& job = jobs[task->job];
      if (job.any == nullptr) job.any = task.get();
      CHECK(job.any->class_key == task->class_key) << "tasks of a job differ";
      ++job.count;
      ++job.on[&machine];
    }
    for (const auto& [id, job] : jobs) AddRunningJob(*state_.FindJob(id), job);
  }

  void AddRunningJob(const Job& job, const RunningJob& running) {
    const ClassKey& key = running.any->class_key;
    int64_t spare = running.count;
    if (job.budget.has_value()) {
      CHECK(job.budget->limit == DisruptionBudget::Limit::kMinAvailable);
      spare = std::min(spare, running.count - job.budget->amount);
    }
    const bool may_move = !running.any->owner.empty();
    const bool may_stop = key.priority < highest_waiting_;
    if (spare <= 0 || (!may_move && !may_stop)) return;
    Level& level = levels_.at(key.priority);
    // Of those that leave, more than those that come.
    const int stops = may_stop ? AddRow(GLP_DB, 0, static_cast<double>(spare))
                               : AddRow(GLP_FX, 0, 0);
    for (const auto& [id, machine] : state_.machines()) {
      const Cost preference = policies_.PreferenceCost(*key.rules, *machine);
      const auto add = [&](int64_t high, int sign) {
        const int column = AddColumn(high);
        Enter(stops, column, -sign);
        Enter(level.kept_row, column, sign);
        level.kept.emplace_back(column, -sign);
        costs_.emplace_back(column,
                            sign * preference + (sign > 0 ? move_cost_ : 0));
        if (sign > 0) arrivals_.push_back(column);
        UseRoom(*machine, key.request, column, sign);
        places_[id].push_back({.request = &key.request,
                               .column = column,
                               .high = high,
                               .is_arrival = sign > 0});
      };
      const auto here = running.on.find(machine.get());
      if (here != running.on.end()) add(here->second, -1);
      const int64_t high = key.request.TimesIn(RoomOf(*machine), running.count);
      if (may_move && high > 0) add(high, 1);
    }
  }

  void AddWaiting() {
    std::map<std::tuple<uint32_t, Resources, uint32_t>, Waiting> all;
    for (const auto& [key, tasks] : state_.pending()) {
      Waiting& waiting = all[{key.priority, key.request, key.rules->id}];
      waiting.key = &key;
      (key.gang.has_value() ? waiting.gangs[*key.gang] : waiting.singles) +=
          std::ssize(tasks);
    }
    for (const auto& [what, waiting] : all) AddAlike(waiting);
  }

  void AddAlike(const Waiting& waiting) {
    const ClassKey& key = *waiting.key;
    Level& level = levels_.at(key.priority);
    // Of those that are placed, more than those of gangs.
    const int singles =
        waiting.singles > 0
            ? AddRow(GLP_DB, 0, static_cast<double>(waiting.singles))
            : AddRow(GLP_FX, 0, 0);
    int64_t count = waiting.singles;
    for (const auto& [id, gang] : waiting.gangs) {
      count += gang;
      const int of_gang = AddColumn(gang);
      Enter(singles, of_gang, -1);
      AddAllOrNone(*state_.FindJob(id), gang, of_gang);
    }
    for (const auto& [id, machine] : state_.machines()) {
      const Resources room = RoomOf(*machine);
      const int64_t high = key.request.TimesIn(room, count);
      if (high == 0) continue;
      const int column = AddColumn(high);
      Enter(singles, column, 1);
      Enter(level.placed_row, column, 1);
      level.placed.emplace_back(column, -1);
      costs_.emplace_back(column,
                          policies_.PreferenceCost(*key.rules, *machine));
      UseRoom(*machine, key.request, column, 1);
      if (key.request.TimesIn(room, 2) == 1) {
        Displace(room - key.request, column, places_[id]);
      }
    }
  }

  // The tasks that the column counts are at least the job's minimum, or none.
  void AddAllOrNone(const Job& job, int64_t count, int column) {
    const int does_run = AddColumn(1);
    const int enough = AddRow(GLP_LO, 0, 0);
    const int none = AddRow(GLP_UP, 0, 0);
    Enter(enough, column, 1);
    Enter(none, column, 1);
    Enter(enough, does_run,
          -static_cast<int64_t>(
              std::min<uint64_t>(job.gang.minimum, uint64_t{1} << 40)));
    Enter(none, does_run, -count);
  }

  // What follows for whole numbers: no more stay, or come, than there is room
  // for beside the task, of which there is one at most.
  void Displace(const Resources& left, int column,
                const std::vector<Place>& places) {
    for (const Place& place : places) {
      const int64_t beside = place.request->TimesIn(left, place.high);
      if (beside == place.high) continue;
      const int64_t displaced = place.high - beside;
      const int row = place.is_arrival
                          ? AddRow(GLP_UP, 0, static_cast<double>(place.high))
                          : AddRow(GLP_LO, 0, 0);
      Enter(row, place.column, 1);
      Enter(row, column, place.is_arrival ? displaced : -displaced);
    }
  }

  const ClusterState& state_;
  const PolicySet& policies_;
  const Cost move_cost_;
  const Clock::time_point deadline_;
  glp_prob* program_;
  std::vector<int64_t> units_;  // What all requests of a resource divide by.
  std::map<uint32_t, Level, std::greater<>> levels_;  // By priority.
  uint32_t highest_waiting_ = 0;
  Cost cost_of_running_ = 0;  // As it stands to begin with.
  std::map<std::pair<MachineId, size_t>, int> room_rows_;
  std::map<MachineId, std::vector<Place>> places_;
  Objective costs_;
  std::vector<int> arrivals_;  // Columns.
  // The matrix as triplets, which GLPK numbers from 1.
  std::vector<int> rows_ = {0};
  std::vector<int> columns_ = {0};
  std::vector<double> entries_ = {0};
  // By column, the best that was found: to begin with, nothing changes.
  std::vector<double> values_;
  double bound_ = 0;  // Proved so far.
};

}  // namespace

MovesOptimum BestWithMoves(const ClusterState& state, const PolicySet& policies,
                           Cost move_cost, double seconds_max) {
  return MovesProgram(state, policies, move_cost, seconds_max).Solve();
}

}  // namespace sluice
