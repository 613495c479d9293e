// Does a round place better than a scheduler that goes pod by pod?
//
// Runs the same tasks on the same machines through a round and through greedy
// placement (tasks in random order, each to the machine that the same policy
// finds cheapest among those it fits on), and prints both side by side:
// tasks placed, waiting cost left, standard deviation of utilization over the
// machines, passes, and placements refused at commit.
//
//   quality_benchmark                        the generated family, by seed
//   quality_benchmark --nodes=F --pods=F     and the openb trace, submitted
//                                            at once at several loads
//   quality_benchmark --smoke                a small size, for ctest
//
// Exit code 1 where the round left more waiting cost than greedy, or where both
// placed all and the round's deviation is over 1.1 times greedy's.

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "core/scheduler.h"
#include "cost/waiting_cost.h"
#include "solver/registry.h"
#include "solver/verify.h"

DEFINE_string(nodes, "", "node list of the openb trace");
DEFINE_string(pods, "", "pod list of the openb trace");
DEFINE_bool(smoke, false, "one small input of each kind");
DEFINE_uint64(seed, 1, "seed of the generated inputs");
DEFINE_string(only, "", "only inputs whose name contains this");

namespace sluice {
namespace {

struct Shape {
  int64_t cpu = 0;
  int64_t memory = 0;
  int64_t gpus = 0;

  NamedAmounts Named(int64_t pods) const {
    NamedAmounts amounts = {{"cpu", cpu}, {"memory", memory}};
    if (gpus > 0) amounts.emplace_back("nvidia.com/gpu", gpus);
    if (pods > 0) amounts.emplace_back("pods", pods);
    return amounts;
  }
};

struct Input {
  std::string name;
  std::vector<Shape> machines;
  std::vector<Shape> tasks;  // In the order of submission.
};

struct Outcome {
  int64_t placed = 0;
  int64_t waiting_cost = 0;
  double sd = 0;
  int64_t passes = 0;
  int64_t refused = 0;
  double seconds = 0;
  double solve_seconds = 0;
};

constexpr int64_t kGib = (int64_t{1} << 30) * 1000;  // In millibytes.

// Machines of three sizes; classes whose cpu differs 60-fold, some heavy on
// cpu and some on memory; as many tasks as make `load` of the scarcer
// resource.
Input Generate(uint64_t seed, int machine_count, int class_count, double load) {
  Rng rng(seed);
  Input input;
  input.name = StrCat("M=", machine_count, " C=", class_count, " load ",
                      static_cast<int64_t>(std::lround(load * 100)), "%");
  Shape total;
  for (int i = 0; i < machine_count; ++i) {
    const int64_t cores = int64_t{16} << (i % 3);
    input.machines.push_back({cores * 1000, cores * 4 * kGib});
    total.cpu += input.machines.back().cpu;
    total.memory += input.machines.back().memory;
  }
  const auto log_uniform = [&](double low, double high) {
    const double u = static_cast<double>(rng.Below(1 << 20)) / (1 << 20);
    return low * std::pow(high / low, u);
  };
  std::vector<Shape> classes;
  for (int i = 0; i < class_count; ++i) {
    const double cores = log_uniform(0.25, 15);
    const double gib_per_core = log_uniform(1, 16);
    classes.push_back(
        {std::lround(cores * 1000),
         std::lround(std::min(cores * gib_per_core, 60.0) * 1024) *
             (kGib / 1024)});
  }
  double cpu = 0;
  double memory = 0;
  while (true) {
    const Shape& shape = classes[rng.Below(classes.size())];
    cpu += static_cast<double>(shape.cpu) / static_cast<double>(total.cpu);
    memory +=
        static_cast<double>(shape.memory) / static_cast<double>(total.memory);
    if (std::max(cpu, memory) > load) break;
    input.tasks.push_back(shape);
  }
  return input;
}

std::vector<std::map<std::string, std::string>> ReadCsv(
    const std::string& path) {
  std::ifstream file(path);
  CHECK(file) << "cannot read " << path;
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> header;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) {
      cells.push_back(cell);
    }
    if (header.empty()) {
      header = cells;
      continue;
    }
    cells.resize(header.size());
    auto& row = rows.emplace_back();
    for (size_t i = 0; i < header.size(); ++i) row[header[i]] = cells[i];
  }
  return rows;
}

// The pods of the trace, `copies` times over: as submitted they ask for less
// than the machines have.
Input FromTrace(int copies) {
  Input input;
  input.name = StrCat("openb x", copies);
  constexpr int64_t kMib = kGib / 1024;
  for (auto& row : ReadCsv(FLAGS_nodes)) {
    input.machines.push_back({std::stoll(row["cpu_milli"]),
                              std::stoll(row["memory_mib"]) * kMib,
                              std::stoll(row["gpu"])});
  }
  for (int i = 0; i < copies; ++i) {
    for (auto& row : ReadCsv(FLAGS_pods)) {
      input.tasks.push_back({std::stoll(row["cpu_milli"]),
                             std::stoll(row["memory_mib"]) * kMib,
                             std::stoll(row["num_gpu"])});
    }
  }
  return input;
}

void Load(const Input& input, ClusterState* state) {
  for (size_t i = 0; i < input.machines.size(); ++i) {
    MachineSpec spec;
    spec.uuid = StrCat("machine-", i);
    spec.allocatable = spec.capacity = input.machines[i].Named(1000);
    CHECK(state->Apply(AddMachine{spec}, 0) == Ack::kOk);
  }
  for (size_t i = 0; i < input.tasks.size(); ++i) {
    SubmitTask submit;
    submit.task = {i + 1};
    submit.job_uuid = StrCat("job-", i / 100);
    submit.spec.request = input.tasks[i].Named(0);
    CHECK(state->Apply(submit, 0) == Ack::kOk);
  }
}

Outcome Measure(const ClusterState& state) {
  Outcome outcome;
  for (const auto& [id, task] : state.tasks()) {
    if (task->state == TaskState::kRunning) {
      ++outcome.placed;
    } else {
      outcome.waiting_cost += WaitingCost(0);
    }
  }
  double sum = 0;
  double squares = 0;
  for (const auto& [id, machine] : state.machines()) {
    const auto share = [&](ResourceIndex i) {
      return static_cast<double>(machine->used[i]) /
             static_cast<double>(machine->allocatable[i]);
    };
    const double utilization = (share(kCpu) + share(kMemory)) / 2;
    sum += utilization;
    squares += utilization * utilization;
    CHECK(machine->used.FitsIn(machine->allocatable)) << "overcommitted";
  }
  const auto count = static_cast<double>(state.machines().size());
  outcome.sd =
      std::sqrt(std::max(0.0, squares / count - sum / count * sum / count));
  return outcome;
}

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Outcome RunRound(const Input& input, const PolicySet& policies,
                 const ConstraintSet& constraints) {
  Scheduler scheduler(policies, constraints, RoundOptions());
  Load(input, &scheduler.mutable_state());
  const std::unique_ptr<Solver> solver = MakeSolver("cost_scaling");
  const double start = Seconds();
  double solve_seconds = 0;
  scheduler.StartRound(0);
  while (std::optional<FlowProblem> problem = scheduler.NextPass()) {
    const double solve_start = Seconds();
    const FlowSolution solution = solver->Solve(*problem);
    solve_seconds += Seconds() - solve_start;
    CHECK(VerifySolution(*problem, solution).ok()) << solution.error;
    scheduler.FinishPass(solution);
  }
  Outcome outcome = Measure(scheduler.state());
  outcome.seconds = Seconds() - start;
  outcome.solve_seconds = solve_seconds;
  outcome.passes = scheduler.round_stats().passes;
  outcome.refused = scheduler.round_stats().refused;
  for (const auto& [id, task] : scheduler.state().tasks()) {
    if (task->state == TaskState::kRunning) continue;
    for (const auto& [machine_id, machine] : scheduler.state().machines()) {
      CHECK(!constraints.Allows(task->class_key, *machine))
          << "task " << id << " waits although it fits";
    }
  }
  return outcome;
}

Outcome RunGreedy(const Input& input, const PolicySet& policies,
                  const ConstraintSet& constraints, uint64_t seed) {
  ClusterState state;
  Load(input, &state);
  std::vector<TaskId> order;
  for (const auto& [id, task] : state.tasks()) order.push_back(id);
  Rng rng(seed);
  rng.Shuffle(std::span<TaskId>(order));
  const double start = Seconds();
  for (const TaskId id : order) {
    const ClassKey& key = state.FindTask(id)->class_key;
    const Machine* best = nullptr;
    Cost best_cost = 0;
    for (const auto& [machine_id, machine] : state.machines()) {
      if (!constraints.Allows(key, *machine)) continue;
      const Cost cost = policies.LoadCost(*machine, machine->used) +
                        policies.PreferenceCost(*key.rules, *machine);
      if (best == nullptr || cost < best_cost) {
        best = machine.get();
        best_cost = cost;
      }
    }
    if (best != nullptr) state.Place(id, best->id, 0);
  }
  Outcome outcome = Measure(state);
  outcome.seconds = Seconds() - start;
  return outcome;
}

// Prints a row and returns whether the round is not the loser.
bool Compare(const Input& input, const PolicySet& policies,
             const ConstraintSet& constraints) {
  const Outcome round = RunRound(input, policies, constraints);
  const Outcome greedy = RunGreedy(input, policies, constraints, FLAGS_seed);
  const bool is_unbalanced = round.waiting_cost == 0 &&
                             greedy.waiting_cost == 0 &&
                             round.sd > 1.1 * greedy.sd;
  const bool is_lost =
      round.waiting_cost > greedy.waiting_cost || is_unbalanced;
  std::printf(
      "%-26s %7zu | %7ld %7ld | %9.2fM %9.2fM | %7.4f %7.4f | %5ld %5ld | "
      "%6.2f %6.2f %6.2f%s\n",
      input.name.c_str(), input.tasks.size(), round.placed, greedy.placed,
      static_cast<double>(round.waiting_cost) / 1e6,
      static_cast<double>(greedy.waiting_cost) / 1e6, round.sd, greedy.sd,
      round.passes, round.refused, round.seconds, round.solve_seconds,
      greedy.seconds, is_lost ? "  LOST" : "");
  std::fflush(stdout);
  return !is_lost;
}

int Main() {
  const PolicySet policies = *PolicySet::FromNames("cpu_memory");
  const ConstraintSet constraints;
  std::vector<Input> inputs;
  if (FLAGS_smoke) {
    inputs.push_back(Generate(FLAGS_seed, 60, 20, 0.6));
    inputs.push_back(Generate(FLAGS_seed, 60, 20, 1.15));
  } else {
    inputs.push_back(Generate(FLAGS_seed, 500, 20, 0.6));
    inputs.push_back(Generate(FLAGS_seed, 500, 20, 0.85));
    inputs.push_back(Generate(FLAGS_seed, 500, 50, 0.95));
    inputs.push_back(Generate(FLAGS_seed, 500, 50, 1.0));
    inputs.push_back(Generate(FLAGS_seed, 500, 50, 1.05));
    inputs.push_back(Generate(FLAGS_seed, 500, 50, 1.15));
    inputs.push_back(Generate(FLAGS_seed, 500, 200, 1.3));
    inputs.push_back(Generate(FLAGS_seed, 2000, 500, 1.1));
  }
  if (!FLAGS_nodes.empty()) {
    for (const int copies : {1, 2, 3}) inputs.push_back(FromTrace(copies));
  }
  std::printf(
      "%-26s %7s | %-15s | %-21s | %-15s | %-11s | %s\n%-26s %7s | %7s %7s | "
      "%10s %10s | %7s %7s | %5s %5s | %6s %6s %6s\n",
      "", "", "placed", "waiting cost left", "sd of util.", "", "seconds",
      "input", "tasks", "round", "greedy", "round", "greedy", "round", "greedy",
      "pass", "refus", "round", "solve", "greedy");
  bool is_won = true;
  for (const Input& input : inputs) {
    if (input.name.find(FLAGS_only) == std::string::npos) continue;
    is_won &= Compare(input, policies, constraints);
  }
  return is_won ? 0 : 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  gflags::SetUsageMessage("compares a round with greedy placement");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  google::InitGoogleLogging(argv[0]);
  return sluice::Main();
}
