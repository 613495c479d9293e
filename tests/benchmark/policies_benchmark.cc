// What each policy of load makes of a stream of tasks, and each that goes by
// more than descriptions beside the default: the pods of the openb
// trace on its machines or, without files, a drawn cluster.  Tasks come in
// batches, with a round after each, and stay.
//
//   policies_benchmark --nodes=openb_node_list_gpu_node.csv
//                      --pods=openb_pod_list_default.csv [--output=csv]
//
// In one order a hundredth of the rounds is one: by chance a round that packs,
// which takes several times as long as others, or none.  With --orders=12 the
// same tasks come in eleven drawn orders, too; then rounds are those of all
// orders, and all else is told in the mean.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "benchmark/quality_inputs.h"
#include "util/program_flags.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr char kWishes[] = "node_affinity,pod_affinity,taint,topology_spread";

enum class Output { kTable, kCsv, kMarkdown };

struct Flags {
  std::string nodes;
  std::string pods;
  int64_t batch = 100;
  int copies = 1;
  int64_t orders = 1;
  Output output = Output::kTable;

  void AddTo(FlagSet& flags) {
    flags.AddString(
        {"nodes", "FILE", "Node list of the openb trace; empty: drawn ones."},
        &nodes);
    flags.AddString({"pods", "FILE", "Pod list of the openb trace."}, &pods);
    flags.AddInteger({"batch", "COUNT", "Tasks that come before each round."},
                     kFromOne, &batch);
    flags.AddInteger({"copies", "COUNT", "How many times all pods come."},
                     kFromOne, &copies);
    flags.AddInteger(
        {"orders", "COUNT", "In how many orders they come, the list's first."},
        kFromOne, &orders);
    flags.AddChoice({"output", "table|csv|markdown", "What is printed."},
                    {{"table", Output::kTable},
                     {"csv", Output::kCsv},
                     {"markdown", Output::kMarkdown}},
                    &output);
  }
};

// The sums of all orders.
struct Outcome {
  int64_t placed = 0;
  int64_t waiting = 0;
  double gpus = 0;  // In use, of all.
  int64_t machines_used = 0;
  double cpu_sd = 0;             // Of the parts in use, over machines.
  std::vector<double> times_ms;  // Of rounds.
};

double Millisecond(std::vector<double> times, double part) {
  std::ranges::sort(times);
  const auto index =
      static_cast<size_t>(part * static_cast<double>(times.size() - 1) + 0.5);
  return times[index];
}

// The tasks change places with each other.
void Shuffle(uint64_t seed, std::vector<Command>* commands) {
  const auto is_task = [](const Command& command) {
    return std::holds_alternative<SubmitTask>(command);
  };
  std::vector<Command> tasks;
  std::ranges::copy_if(*commands, std::back_inserter(tasks), is_task);
  Rng(seed).Shuffle(tasks);
  auto next = tasks.begin();
  for (Command& command : *commands) {
    if (is_task(command)) command = std::move(*next++);
  }
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
  outcome->cpu_sd +=
      std::sqrt(std::max(0.0, squares / count - sum * sum / count / count));
  if (gpus > 0) {
    outcome->gpus += static_cast<double>(gpus_used) / static_cast<double>(gpus);
  }
  outcome->waiting += state.pending_count();
}

void Run(const std::vector<Command>& commands, int64_t batch,
         const std::string& policies, Outcome* outcome) {
  TestScheduler scheduler(RoundOptions(), policies);
  const auto round = [&] {
    const auto begin = std::chrono::steady_clock::now();
    scheduler.Round();
    outcome->times_ms.push_back(std::chrono::duration<double, std::milli>(
                                    std::chrono::steady_clock::now() - begin)
                                    .count());
    scheduler.Deliver();
  };
  int64_t came = 0;
  for (const Command& command : commands) {
    scheduler.Apply(command);
    if (std::holds_alternative<SubmitTask>(command) && ++came % batch == 0) {
      round();
    }
  }
  round();
  Look(scheduler.state(), outcome);
}

std::string Fixed(double number, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << number;
  return text.str();
}

void Print(const std::vector<std::string>& cells, Output output) {
  const bool is_csv = output == Output::kCsv;
  const bool is_markdown = output == Output::kMarkdown;
  std::cout << (is_markdown ? "| " : "");
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) std::cout << (is_csv ? "," : is_markdown ? " | " : "  ");
    if (!is_csv && !is_markdown) std::cout << std::setw(i == 0 ? 28 : 9);
    std::cout << cells[i];
  }
  std::cout << (is_markdown ? " |\n" : "\n");
}

std::vector<std::string> Cells(const std::string& name, int64_t order_count,
                               const Outcome& outcome) {
  const auto mean = [&](auto sum, int digits) {
    return Fixed(static_cast<double>(sum) / static_cast<double>(order_count),
                 digits);
  };
  return {name,
          mean(outcome.placed, 0),
          mean(outcome.waiting, 0),
          mean(100 * outcome.gpus, 1) + " %",
          mean(outcome.machines_used, 0),
          mean(outcome.cpu_sd, 3),
          Fixed(Millisecond(outcome.times_ms, 0.5), 1),
          Fixed(Millisecond(outcome.times_ms, 0.99), 1)};
}

int Main(const Flags& flags) {
  const QualityInput input =
      flags.nodes.empty()
          ? MakeSizesInput(/*seed=*/1, /*machine_count=*/60,
                           /*class_count=*/12, /*load=*/0.7)
          : ReadOpenbInput(flags.nodes, flags.pods, flags.copies);
  std::vector<std::vector<Command>> orders = {input.commands};
  for (int64_t i = 1; i < flags.orders; ++i) {
    Shuffle(static_cast<uint64_t>(i), &orders.emplace_back(input.commands));
  }
  Print({"policy", "placed", "waiting", "GPUs", "machines", "cpu sd", "p50 ms",
         "p99 ms"},
        flags.output);
  if (flags.output == Output::kMarkdown) {
    Print(std::vector<std::string>(8, "---"), flags.output);
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
    Outcome outcome;
    for (const std::vector<Command>& commands : orders) {
      Run(commands, flags.batch, policies, &outcome);
    }
    Print(Cells(name, flags.orders, outcome), flags.output);
  }
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  sluice::Flags flags;
  sluice::FlagSet set;
  flags.AddTo(set);
  sluice::ParseProgramFlags(argc, argv, set);
  return sluice::Main(flags);
}
