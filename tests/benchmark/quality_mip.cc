#include "benchmark/quality_mip.h"

#include <glog/logging.h>
#include <glpk.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "benchmark/quality_oracle.h"

namespace sluice {
namespace {

class PlacementProgram {
 public:
  // Without `policies` no placement costs anything.
  PlacementProgram(const QualityInput& input, const ClusterState& state,
                   const PolicySet* policies, const ConstraintSet& constraints,
                   double seconds_max)
      : input_(input),
        state_(state),
        policies_(policies),
        constraints_(constraints),
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
      levels_.try_emplace(key.priority);
    }
    for (auto& [priority, level] : levels_) {
      level.kept_row = AddRow(GLP_LO, 0, 0);
      level.placed_row = AddRow(GLP_LO, 0, 0);
    }
    AddRunning();
    for (const auto& [key, tasks] : state.pending()) {
      const TaskId task = tasks.begin()->second->id;
      AddClass(key, tasks, input.classes_of_tasks[task.value - 1]);
    }
    for (const auto& [id, columns] : gangs_) {
      const Job& job = *state.FindJob(id);
      const auto minimum = static_cast<int64_t>(job.gang.minimum);
      AddAllOrNone(minimum, job.pending_count, columns);
    }
    for (size_t i = 0; i < input.classes.size(); ++i) AddPeerRule(i);
    glp_load_matrix(program_, static_cast<int>(rows_.size()) - 1, rows_.data(),
                    columns_.data(), values_.data());
  }
  PlacementProgram(const PlacementProgram&) = delete;
  PlacementProgram& operator=(const PlacementProgram&) = delete;
  ~PlacementProgram() {
    glp_delete_prob(program_);
    glp_free_env();
  }

  // The most urgent first.
  std::vector<uint32_t> Priorities() const {
    std::vector<uint32_t> priorities;
    for (const auto& [priority, level] : levels_) {
      priorities.push_back(priority);
    }
    return priorities;
  }

  // At least so many tasks of the level are to be kept, by their price, or
  // placed.
  void HoldKept(uint32_t priority, int64_t kept) {
    Hold(levels_.at(priority).kept_row, kept);
  }
  void HoldPlaced(uint32_t priority, int64_t placed) {
    Hold(levels_.at(priority).placed_row, placed);
  }

  MipAnswer MostKept(uint32_t priority) {
    return MostOf(levels_.at(priority).kept);
  }
  MipAnswer MostPlaced(uint32_t priority) {
    return MostOf(levels_.at(priority).placed);
  }

  MipAnswer LeastCost() {
    Cost unit = 0;  // What all costs divide by.
    for (const Count& it : counts_) unit = std::gcd(unit, it.cost);
    unit = std::max<Cost>(unit, 1);
    ClearObjective();
    for (const Count& it : counts_) {
      glp_set_obj_coef(program_, it.column,
                       static_cast<double>(it.cost / unit));
    }
    return Minimize(unit, 0);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // How many tasks of a class are on a machine.
  struct Count {
    int column = 0;
    Cost cost = 0;  // Of each.
    const ClusterState::PendingTasks* tasks = nullptr;
    MachineId machine;
  };

  // What a class can have somewhere: the columns that count it, and a bound of
  // their sum.
  struct Part {
    std::vector<int> columns;
    int64_t high = 0;
    std::vector<int64_t> prices = {};  // Of each, where they are not all 1.
  };

  // The tasks of one priority.
  struct Level {
    int kept_row = 0;
    int placed_row = 0;
    Part kept;
    Part placed;
  };

  void Hold(int row, int64_t count) {
    glp_set_row_bnds(program_, row, GLP_LO, static_cast<double>(count), 0);
  }

  void ClearObjective() {
    for (int column = 1; column <= glp_get_num_cols(program_); ++column) {
      glp_set_obj_coef(program_, column, 0);
    }
  }

  MipAnswer MostOf(const Part& part) {
    if (part.high == 0) return {0, 0, {}};
    ClearObjective();
    for (size_t i = 0; i < part.columns.size(); ++i) {
      const int64_t price = part.prices.empty() ? 1 : part.prices[i];
      glp_set_obj_coef(program_, part.columns[i], static_cast<double>(-price));
    }
    MipAnswer answer = Minimize(1, -part.high);
    if (answer.found.has_value()) answer.found = -*answer.found;
    answer.bound = -answer.bound;
    return answer;
  }

  int MsLeft() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - Clock::now());
    return std::max(static_cast<int>(left.count()), 1);
  }

  // The objective is in units of `unit`, and certainly not below `least`.
  MipAnswer Minimize(int64_t unit, int64_t least) {
    // GLPK ends the process over a program without columns.
    if (glp_get_num_cols(program_) == 0) return {0, 0, {}};
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    simplex.tm_lim = MsLeft();
    const int simplex_code = glp_simplex(program_, &simplex);
    if (simplex_code == GLP_ETMLIM) return {std::nullopt, least, {}};
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
      answer.placement = Placement();
    }
    // Costs are whole numbers of units.
    answer.bound = status == GLP_OPT
                       ? *answer.found
                       : unit * static_cast<int64_t>(std::ceil(bound_ - 1e-6));
    return answer;
  }

  // As the columns were found.
  std::vector<std::pair<TaskId, MachineId>> Placement() const {
    std::vector<std::pair<TaskId, MachineId>> placement;
    const ClusterState::PendingTasks* tasks = nullptr;
    ClusterState::PendingTasks::const_iterator next;
    for (const Count& it : counts_) {
      if (it.tasks != tasks) {
        tasks = it.tasks;
        next = tasks->begin();
      }
      int64_t left = std::llround(glp_mip_col_val(program_, it.column));
      for (; left > 0; --left, ++next) {
        CHECK(next != tasks->end());
        placement.emplace_back(next->second->id, it.machine);
      }
    }
    return placement;
  }

  int AddRow(int kind, double low, double high) {
    const int row = glp_add_rows(program_, 1);
    glp_set_row_bnds(program_, row, kind, low, high);
    return row;
  }

  int AddColumn(int64_t high) {
    const int column = glp_add_cols(program_, 1);
    glp_set_col_kind(program_, column, GLP_IV);
    // GLPK refuses two bounds that are equal.
    glp_set_col_bnds(program_, column, high == 0 ? GLP_FX : GLP_DB, 0,
                     static_cast<double>(high));
    return column;
  }

  void Enter(int row, int column, int64_t value) {
    rows_.push_back(row);
    columns_.push_back(column);
    values_.push_back(static_cast<double>(value));
  }

  void Enter(int row, const Part& part, int64_t value) {
    for (const int column : part.columns) Enter(row, column, value);
  }

  // How many tasks of one priority, size, job and price each machine keeps.
  void AddRunning() {
    std::map<JobId, int> budget_rows;
    std::map<JobId, std::vector<int>> gangs;
    for (const auto& [id, machine] : state_.machines()) {
      std::map<std::tuple<uint32_t, Resources, JobId, int64_t>, int64_t> counts;
      for (const TaskId task_id : machine->tasks) {
        const Task& task = *state_.FindTask(task_id);
        const ClassKey& key = task.class_key;
        ++counts[{key.priority, key.request, task.job, StopPrice(task)}];
      }
      for (const auto& [what, count] : counts) {
        const auto& [priority, request, job, price] = what;
        const int column = AddColumn(count);
        if (state_.FindJob(job)->budget.has_value()) {
          const auto [it, is_new] = budget_rows.try_emplace(job);
          if (is_new) {
            it->second =
                AddRow(GLP_LO, static_cast<double>(LeastKept(job, state_)), 0);
          }
          Enter(it->second, column, 1);
        }
        if (state_.FindJob(job)->gang.minimum > 0) gangs[job].push_back(column);
        Level& level = levels_.at(priority);
        level.kept.columns.push_back(column);
        level.kept.prices.push_back(price);
        level.kept.high += price * count;
        Enter(level.kept_row, column, price);
        UseRoom(*machine, request, column);
      }
    }
    for (const auto& [id, columns] : gangs) {
      const Job& job = *state_.FindJob(id);
      const auto minimum = static_cast<int64_t>(job.gang.minimum);
      AddAllOrNone(minimum, job.running_count, columns);
    }
  }

  // How many of the class, which is one of those of the input's class, each
  // machine has.
  void AddClass(const ClassKey& key, const ClusterState::PendingTasks& tasks,
                size_t input_class) {
    const int64_t count = std::ssize(tasks);
    const int class_row = AddRow(GLP_UP, 0, static_cast<double>(count));
    Level& level = levels_.at(key.priority);
    level.placed.high += count;
    for (const auto& [id, machine] : state_.machines()) {
      if (!MayEverRunOn(key, *machine)) continue;
      const Cost cost = policies_ == nullptr
                            ? 0
                            : policies_->PreferenceCost(*key.rules, *machine);
      const int64_t high = key.request.TimesIn(RoomOf(*machine), count);
      const int column = AddColumn(high);
      counts_.push_back(
          {.column = column, .cost = cost, .tasks = &tasks, .machine = id});
      Part& part = parts_[{input_class, machine->uuid}];
      part.columns.push_back(column);
      part.high += high;
      level.placed.columns.push_back(column);
      Enter(level.placed_row, column, 1);
      Enter(class_row, column, 1);
      UseRoom(*machine, key.request, column);
      // One that runs has started.
      if (key.gang.has_value() && !state_.FindJob(*key.gang)->HasStarted()) {
        gangs_[*key.gang].push_back(column);
      }
    }
  }

  // With all that runs gone.
  bool MayEverRunOn(const ClassKey& key, const Machine& machine) const {
    return std::ranges::all_of(constraints_.entries(), [&](const auto& entry) {
      return entry.aspect == MachineAspect::kLoad ||
             entry.constraint->Allows(key, machine);
    });
  }

  // Each task that the column counts asks for this much.
  void UseRoom(const Machine& machine, const Resources& request, int column) {
    for (size_t i = 0; i < units_.size(); ++i) {
      if (request[i] == 0) continue;
      Enter(RoomRow(machine, i), column, request[i] / units_[i]);
    }
  }

  // What there is for tasks that wait and those that run together.
  Resources RoomOf(const Machine& machine) const {
    Resources room = machine.Free();
    for (const TaskId task : machine.tasks) {
      room += state_.FindTask(task)->class_key.request;
    }
    return room;
  }

  // What tasks may use of the resource on the machine.
  int RoomRow(const Machine& machine, size_t resource) {
    int& row = room_rows_[{machine.id, resource}];
    if (row == 0) {
      row = AddRow(
          GLP_UP, 0,
          static_cast<double>(RoomOf(machine)[resource] / units_[resource]));
    }
    return row;
  }

  // The tasks in these columns are at least the minimum, or none.
  void AddAllOrNone(int64_t minimum, int64_t count,
                    const std::vector<int>& columns) {
    const int does_run = AddColumn(1);
    const int enough = AddRow(GLP_LO, 0, 0);
    const int none = AddRow(GLP_UP, 0, 0);
    for (const int column : columns) {
      Enter(enough, column, 1);
      Enter(none, column, 1);
    }
    Enter(enough, does_run, -minimum);
    Enter(none, does_run, -count);
  }

  const Part& PartOn(size_t input_class, const std::string& uuid) const {
    static const Part none;
    const auto it = parts_.find({input_class, uuid});
    return it == parts_.end() ? none : it->second;
  }

  // By zone; of all that the class selects.
  std::map<std::string, Part> PartsByZone(size_t input_class) const {
    std::map<std::string, Part> zones;
    for (const QualityMachine& machine : input_.machines) {
      if (input_.classes[input_class].needs_ssd && !machine.has_ssd) continue;
      Part& zone = zones[machine.zone];
      const Part& part = PartOn(input_class, machine.uuid);
      zone.columns.insert(zone.columns.end(), part.columns.begin(),
                          part.columns.end());
    }
    return zones;
  }

  void AddPeerRule(size_t input_class) {
    const QualityClass& it = input_.classes[input_class];
    if (!it.rule.has_value()) return;
    switch (*it.rule) {
      case PeerRule::kApartByZone:
        for (const auto& [zone, part] : PartsByZone(input_class)) {
          Enter(AddRow(GLP_UP, 0, 1), part, 1);
        }
        return;
      case PeerRule::kSpreadByZone:
        AddSpread(PartsByZone(input_class));
        return;
      case PeerRule::kWishesSpread:
      case PeerRule::kWishesNear:
        return;
      case PeerRule::kApartByHost:
      case PeerRule::kKeepsAway:
      case PeerRule::kFollows:
        for (const QualityMachine& machine : input_.machines) {
          const Part& own = PartOn(input_class, machine.uuid);
          if (own.columns.empty()) continue;
          AddHostRule(*it.rule, own, PartOn(it.other, machine.uuid));
        }
        return;
    }
  }

  // None of the zones has two more than another.
  void AddSpread(const std::map<std::string, Part>& zones) {
    for (const auto& [fuller, part] : zones) {
      for (const auto& [emptier, other] : zones) {
        if (fuller == emptier) continue;
        const int row = AddRow(GLP_UP, 0, 1);
        Enter(row, part, 1);
        Enter(row, other, -1);
      }
    }
  }

  // `own` and `other` are on one machine.
  void AddHostRule(PeerRule rule, const Part& own, const Part& other) {
    if (rule == PeerRule::kApartByHost) {
      Enter(AddRow(GLP_UP, 0, 1), own, 1);
      return;
    }
    const int has_own = AddRow(GLP_UP, 0, 0);
    Enter(has_own, own, 1);
    if (rule == PeerRule::kFollows) {
      Enter(has_own, other, -own.high);
      return;
    }
    // One of the two is there, as the column says.
    const int is_own = AddColumn(1);
    const int has_other = AddRow(GLP_UP, 0, static_cast<double>(other.high));
    Enter(has_own, is_own, -own.high);
    Enter(has_other, other, 1);
    Enter(has_other, is_own, other.high);
  }

  static void NoteBound(glp_tree* tree, void* self) {
    const int best = glp_ios_best_node(tree);
    if (best == 0) return;
    double& bound = static_cast<PlacementProgram*>(self)->bound_;
    bound = std::max(bound, glp_ios_node_bound(tree, best));
  }

  const QualityInput& input_;
  const ClusterState& state_;
  const PolicySet* policies_;
  const ConstraintSet& constraints_;
  const Clock::time_point deadline_;
  glp_prob* program_;
  std::vector<int64_t> units_;  // What all requests of a resource divide by.
  std::map<uint32_t, Level, std::greater<>> levels_;  // By priority.
  std::map<std::pair<MachineId, size_t>, int> room_rows_;
  std::map<JobId, std::vector<int>> gangs_;  // Their columns.
  // By the input's class and the machine's uuid.
  std::map<std::pair<size_t, std::string>, Part> parts_;
  // The matrix as triplets, which GLPK numbers from 1.
  std::vector<int> rows_ = {0};
  std::vector<int> columns_ = {0};
  std::vector<double> values_ = {0};
  std::vector<Count> counts_;
  double bound_ = 0;  // Proved so far, in units of the objective.
};

}  // namespace

std::vector<LevelAnswer> MostPlaced(const QualityInput& input,
                                    const ClusterState& state,
                                    const ConstraintSet& constraints,
                                    double seconds_max) {
  PlacementProgram program(input, state, nullptr, constraints, seconds_max);
  std::vector<LevelAnswer> answers;
  for (const uint32_t priority : program.Priorities()) {
    const MipAnswer kept = program.MostKept(priority);
    if (kept.found != kept.bound) break;
    program.HoldKept(priority, kept.bound);
    const MipAnswer placed = program.MostPlaced(priority);
    answers.push_back({kept, placed});
    if (placed.found != placed.bound) break;
    program.HoldPlaced(priority, placed.bound);
  }
  return answers;
}

MipAnswer LeastPreferenceCost(const QualityInput& input,
                              const ClusterState& state,
                              const PolicySet& policies,
                              const ConstraintSet& constraints,
                              const std::vector<int64_t>& placed,
                              double seconds_max) {
  PlacementProgram program(input, state, &policies, constraints, seconds_max);
  size_t level = 0;
  for (const uint32_t priority : program.Priorities()) {
    program.HoldPlaced(priority, placed[level++]);
  }
  return program.LeastCost();
}

}  // namespace sluice
