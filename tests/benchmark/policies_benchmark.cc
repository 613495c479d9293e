// What each policy of load makes of a stream of tasks, and each that goes by
// more than descriptions beside the default: the pods of the openb
// trace on its machines or, without files, a drawn cluster.  Tasks come in
// batches, with a round after each, and stay.
//
//   policies_benchmark --nodes=openb_node_list_gpu_node.csv
//                      --pods=openb_pod_list_default.csv [--output=csv]

#include <gflags/gflags.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/strings.h"
#include "benchmark/quality_inputs.h"
#include "util/test_scheduler.h"

DEFINE_string(nodes, "", "node list of the openb trace; empty: drawn ones");
DEFINE_string(pods, "", "pod list of the openb trace");
DEFINE_int64(batch, 100, "tasks that come before each round");
DEFINE_int64(copies, 1, "how many times all pods come");
DEFINE_string(output, "table", "table, csv or markdown");

namespace sluice {
namespace {

constexpr char kWishes[] = "node_affinity,pod_affinity,taint,topology_spread";

struct Outcome {
  int64_t placed = 0;
  int64_t waiting = 0;
  double gpus = 0;  // In use, of all.
  int64_t machines_used = 0;
  double cpu_sd = 0;  // Of the parts in use, over machines.
  double p50_ms = 0;  // Of rounds.
  double p99_ms = 0;
};

double Millisecond(std::vector<double>* times, double part) {
  std::ranges::sort(*times);
  const auto index =
      static_cast<size_t>(part * static_cast<double>(times->size() - 1) + 0.5);
  return (*times)[index];
}

ResourceIndex GpuIndex(const ClusterState& state) {
  for (ResourceIndex i = kBuiltinResourceCount; i < state.resource_count();
       ++i) {
    if (state.ResourceName(i).ends_with("gpu")) return i;
  }
  return state.resource_count();
}

void Look(const ClusterState& state, Outcome* outcome) {
  const ResourceIndex gpu = GpuIndex(state);
  int64_t gpus = 0;
  int64_t gpus_used = 0;
  double sum = 0;
  double squares = 0;
  for (const auto& [id, machine] : state.machines()) {
    outcome->machines_used += machine->tasks.empty() ? 0 : 1;
    outcome->placed += std::ssize(machine->tasks);
    gpus += machine->allocatable[gpu];
    gpus_used += machine->used[gpu];
    const double part = static_cast<double>(machine->used[kCpu]) /
                        static_cast<double>(machine->allocatable[kCpu]);
    sum += part;
    squares += part * part;
  }
  const auto count = static_cast<double>(state.machines().size());
  outcome->cpu_sd =
      std::sqrt(std::max(0.0, squares / count - sum * sum / count / count));
  if (gpus > 0) {
    outcome->gpus = static_cast<double>(gpus_used) / static_cast<double>(gpus);
  }
  outcome->waiting = state.pending_count();
}

Outcome Run(const QualityInput& input, const std::string& policies) {
  TestScheduler scheduler(RoundOptions(), policies);
  std::vector<double> times;
  const auto round = [&] {
    const auto begin = std::chrono::steady_clock::now();
    scheduler.Round();
    times.push_back(std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - begin)
                        .count());
    scheduler.Deliver();
  };
  int64_t came = 0;
  for (const Command& command : input.commands) {
    scheduler.Apply(command);
    if (std::holds_alternative<SubmitTask>(command) &&
        ++came % FLAGS_batch == 0) {
      round();
    }
  }
  round();
  Outcome outcome;
  Look(scheduler.state(), &outcome);
  outcome.p50_ms = Millisecond(&times, 0.5);
  outcome.p99_ms = Millisecond(&times, 0.99);
  return outcome;
}

std::string Fixed(double number, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << number;
  return text.str();
}

void Print(const std::vector<std::string>& cells) {
  const bool is_csv = FLAGS_output == "csv";
  const bool is_markdown = FLAGS_output == "markdown";
  std::cout << (is_markdown ? "| " : "");
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) std::cout << (is_csv ? "," : is_markdown ? " | " : "  ");
    if (!is_csv && !is_markdown) std::cout << std::setw(i == 0 ? 28 : 9);
    std::cout << cells[i];
  }
  std::cout << (is_markdown ? " |\n" : "\n");
}

int Main() {
  const QualityInput input =
      FLAGS_nodes.empty() ? MakeSizesInput(/*seed=*/1, /*machine_count=*/60,
                                           /*class_count=*/12, /*load=*/0.7)
                          : ReadOpenbInput(FLAGS_nodes, FLAGS_pods,
                                           static_cast<int>(FLAGS_copies));
  Print({"policy", "placed", "waiting", "GPUs", "machines", "cpu sd", "p50 ms",
         "p99 ms"});
  if (FLAGS_output == "markdown") {
    Print(std::vector<std::string>(8, "---"));
  }
  std::vector<std::pair<std::string, std::string>> sets = {
      {"the default", kDefaultCostModels}};
  for (const CostModelEntry& entry : CostModels()) {
    if (entry.kind != CostKind::kLoad) continue;
    sets.emplace_back(entry.name, StrCat(entry.name, ",", kWishes));
  }
  const PolicySet defaults = *PolicySet::FromNames(kDefaultCostModels);
  for (const CostModelEntry& entry : CostModels()) {
    // Bounds are set as tasks come in over the wire.
    if (entry.kind == CostKind::kLoad || entry.kind == CostKind::kBounds ||
        defaults.Has(entry.name)) {
      continue;
    }
    // The trace has no racks.
    const char* label =
        entry.kind == CostKind::kAggregate ? ":label=gpu-model" : "";
    sets.emplace_back(entry.name,
                      StrCat(kDefaultCostModels, ",", entry.name, label));
  }
  for (const auto& [name, policies] : sets) {
    const Outcome outcome = Run(input, policies);
    Print({name, StrCat(outcome.placed), StrCat(outcome.waiting),
           Fixed(100 * outcome.gpus, 1) + " %", StrCat(outcome.machines_used),
           Fixed(outcome.cpu_sd, 3), Fixed(outcome.p50_ms, 1),
           Fixed(outcome.p99_ms, 1)});
  }
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return sluice::Main();
}
