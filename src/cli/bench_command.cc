#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/contract_client.h"
#include "cli/percentile.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "firmament/firmament_scheduler.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "bench",
    .arguments = "",
    .summary = "Measures the daemon end to end over gRPC",
    .description =
        R"(Adds equal machines, submits tasks of several classes, has rounds run until all
tasks are placed or nothing changes any more, prints what that took, and
removes everything it added.

The sizes of the classes follow from --seed: 50m to 500m of cpu, 64 MiB to
1 GiB of memory.  A machine holds an equal part of the tasks even if all were
of the largest size, so that everything fits.  The tasks have the uids from
1000000000001 up, the machines are bench-machine-1 and so on.

With --profile=node_affinity each task requires a machine of zone1, which every
second one is: the case that Kubernetes' scheduler_perf calls
SchedulingNodeAffinity.

Times are the client's: "first submission to last delta" is from the first
TaskSubmitted to the last Schedule reply with a placement.  Use a daemon of its
own: decisions about other tasks that come with a round are dropped here.
)"};

constexpr uint64_t kUidBase = 1'000'000'000'000;
constexpr int64_t kCpuStepMilli = 50;
constexpr int64_t kCpuSteps = 10;
constexpr int64_t kMemoryStepMib = 64;
constexpr int64_t kMemorySteps = 16;
constexpr uint64_t kMillibytesPerMib = 1000ull << 20;

constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";
// Of the machines in turn.  Tasks with an affinity require the first.
constexpr const char* kZones[] = {"zone1", "zone2"};
constexpr int64_t kZoneCount = std::ssize(kZones);

constexpr int64_t kBasicMachineCount = 1000;
constexpr int64_t kNodeAffinityMachineCount = 5000;

struct TaskClass {
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
};

void SetAmounts(const TaskClass& amounts, int64_t times,
                firmament::ResourceVector& resources) {
  resources.set_cpu_cores(static_cast<float>(amounts.cpu_milli * times));
  resources.set_ram_cap(static_cast<uint64_t>(amounts.memory_mib * times) *
                        kMillibytesPerMib);
}

std::string MachineUuid(int64_t index) {
  return StrCat("bench-machine-", index + 1);
}

// What one run measures, in microseconds of the client's clock.
struct Measurement {
  int64_t adding_us = 0;
  int64_t submitting_us = 0;
  // From the first submission to the last placement.
  int64_t placing_us = 0;
  int64_t removing_us = 0;
  int64_t placed = 0;
  std::vector<int64_t> round_us;
};

class BenchCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    flags.AddChoice({.name = "profile",
                     .value = "PROFILE",
                     .help = "basic (default), or node_affinity."},
                    {"basic", "node_affinity"}, &profile_);
    flags.AddInteger({.name = "machines",
                      .value = "N",
                      .help = "How many (1000; for node_affinity 5000)."},
                     {.min = 1, .max = 1'000'000}, &machine_count_);
    flags.AddInteger(
        {.name = "tasks", .value = "N", .help = "How many (10000)."},
        {.min = 1, .max = 10'000'000}, &task_count_);
    flags.AddInteger({.name = "classes",
                      .value = "N",
                      .help = "Kinds of tasks; each is a job (10)."},
                     {.min = 1, .max = 1'000'000}, &class_count_);
    flags.AddInteger({.name = "concurrency",
                      .value = "N",
                      .help = "Calls in flight at once (128)."},
                     {.min = 1, .max = 100'000}, &concurrency_);
    flags.AddInteger(
        {.name = "seed",
         .value = "S",
         .help = "Fixes the sizes and the order of the tasks (1)."},
        {.min = 0, .max = INT64_MAX}, &seed_);
    flags.AddSwitch("keep", "Leaves machines and tasks where they are.",
                    &keeps_);
  }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 0));
    if (machine_count_ == 0) {
      machine_count_ =
          HasAffinity() ? kNodeAffinityMachineCount : kBasicMachineCount;
    }
    // A float of the contract holds millicores exactly up to 2^24.
    if (TasksPerMachine() > (1 << 24) / (kCpuSteps * kCpuStepMilli)) {
      return absl::InvalidArgumentError(
          StrCat("--tasks=", task_count_,
                 " are too many for --machines=", machine_count_));
    }
    return absl::OkStatus();
  }

  absl::Status Run(const CommandContext& context) override;

 private:
  bool HasAffinity() const { return profile_ == "node_affinity"; }
  // On the machines that take tasks; rounded up.
  int64_t TasksPerMachine() const {
    const int64_t taking = HasAffinity()
                               ? (machine_count_ + kZoneCount - 1) / kZoneCount
                               : machine_count_;
    return (task_count_ + taking - 1) / taking;
  }

  firmament::ResourceTopologyNodeDescriptor MakeMachine(int64_t index) const;
  firmament::TaskDescription MakeTask(int64_t index, int64_t class_index) const;
  void DrawTasks();

  absl::Status AddMachines(const CommandContext& context,
                           ContractClient& client);
  absl::Status PlaceTasks(const CommandContext& context,
                          ContractClient& client);
  absl::Status RemoveAll(const CommandContext& context, ContractClient& client);
  // Adds what `deltas` place of our tasks to `measured_`.
  void CountPlacements(const firmament::SchedulingDeltas& deltas);
  Report MakeReport() const;

  std::string profile_ = "basic";
  int64_t machine_count_ = 0;  // 0: as the profile has it.
  int64_t task_count_ = 10'000;
  int64_t class_count_ = 10;
  int64_t concurrency_ = 128;
  int64_t seed_ = 1;
  bool keeps_ = false;

  std::vector<TaskClass> classes_;
  // The class of each task.
  std::vector<int64_t> class_of_task_;
  Measurement measured_;
};

firmament::ResourceTopologyNodeDescriptor BenchCommand::MakeMachine(
    int64_t index) const {
  const TaskClass largest = {.cpu_milli = kCpuSteps * kCpuStepMilli,
                             .memory_mib = kMemorySteps * kMemoryStepMib};
  firmament::ResourceTopologyNodeDescriptor node;
  firmament::ResourceDescriptor& machine = *node.mutable_resource_desc();
  machine.set_uuid(MachineUuid(index));
  machine.set_friendly_name(machine.uuid());
  machine.set_state(firmament::ResourceDescriptor::RESOURCE_IDLE);
  machine.set_type(firmament::ResourceDescriptor::RESOURCE_MACHINE);
  SetAmounts(largest, TasksPerMachine(),
             *machine.mutable_available_resources());
  *machine.mutable_resource_capacity() = machine.available_resources();
  // As many of the smallest tasks as it has cpu for.
  machine.set_max_pods(static_cast<uint64_t>(TasksPerMachine() * kCpuSteps));
  if (HasAffinity()) {
    firmament::Label& zone = *machine.add_labels();
    zone.set_key(kZoneLabel);
    zone.set_value(kZones[index % kZoneCount]);
  }
  firmament::ResourceTopologyNodeDescriptor& child = *node.add_children();
  child.set_parent_id(machine.uuid());
  firmament::ResourceDescriptor& pu = *child.mutable_resource_desc();
  pu.set_uuid(StrCat(machine.uuid(), "_PU #0"));
  pu.set_type(firmament::ResourceDescriptor::RESOURCE_PU);
  *pu.mutable_resource_capacity() = machine.available_resources();
  return node;
}

firmament::TaskDescription BenchCommand::MakeTask(int64_t index,
                                                  int64_t class_index) const {
  firmament::TaskDescription description;
  firmament::JobDescriptor& job = *description.mutable_job_descriptor();
  job.set_uuid(StrCat("bench-job-", class_index + 1));
  job.set_name(job.uuid());
  job.set_state(firmament::JobDescriptor::CREATED);
  firmament::TaskDescriptor& task = *description.mutable_task_descriptor();
  task.set_uid(kUidBase + static_cast<uint64_t>(index) + 1);
  task.set_name(StrCat("bench/task-", index + 1));
  task.set_namespace_("bench");
  task.set_job_id(job.uuid());
  SetAmounts(classes_[static_cast<size_t>(class_index)], 1,
             *task.mutable_resource_request());
  if (HasAffinity()) {
    firmament::NodeSelectorRequirement& requirement =
        *task.mutable_affinity()
             ->mutable_node_affinity()
             ->mutable_requiredduringschedulingignoredduringexecution()
             ->add_nodeselectorterms()
             ->add_matchexpressions();
    requirement.set_key(kZoneLabel);
    requirement.set_operator_("In");
    requirement.add_values(kZones[0]);
  }
  return description;
}

void BenchCommand::DrawTasks() {
  Rng rng(static_cast<uint64_t>(seed_));
  for (int64_t i = 0; i < class_count_; ++i) {
    classes_.push_back(
        {.cpu_milli = kCpuStepMilli * rng.Between(1, kCpuSteps),
         .memory_mib = kMemoryStepMib * rng.Between(1, kMemorySteps)});
  }
  for (int64_t i = 0; i < task_count_; ++i) {
    class_of_task_.push_back(rng.Between(0, class_count_ - 1));
  }
}

absl::Status BenchCommand::AddMachines(const CommandContext& context,
                                       ContractClient& client) {
  Progress progress(context, "machines added", machine_count_);
  const int64_t started_us = context.clock.MonotonicUs();
  for (int64_t i = 0; i < machine_count_; ++i) {
    RETURN_IF_ERROR(client.AddMachine(MakeMachine(i)));
    progress.Show(i);
  }
  RETURN_IF_ERROR(client.Drain());
  measured_.adding_us = context.clock.MonotonicUs() - started_us;
  return absl::OkStatus();
}

absl::Status BenchCommand::PlaceTasks(const CommandContext& context,
                                      ContractClient& client) {
  const int64_t started_us = context.clock.MonotonicUs();
  {
    Progress progress(context, "tasks submitted", task_count_);
    for (int64_t i = 0; i < task_count_; ++i) {
      RETURN_IF_ERROR(client.SubmitTask(
          MakeTask(i, class_of_task_[static_cast<size_t>(i)])));
      progress.Show(i);
    }
    RETURN_IF_ERROR(client.Drain());
  }
  measured_.submitting_us = context.clock.MonotonicUs() - started_us;
  while (measured_.placed < task_count_) {
    ASSIGN_OR_RETURN(const firmament::SchedulingDeltas deltas,
                     client.Schedule());
    const int64_t before = measured_.placed;
    CountPlacements(deltas);
    if (measured_.placed == before) break;
    measured_.placing_us = context.clock.MonotonicUs() - started_us;
  }
  measured_.round_us = client.round_us();
  return absl::OkStatus();
}

void BenchCommand::CountPlacements(const firmament::SchedulingDeltas& deltas) {
  const uint64_t uid_max = kUidBase + static_cast<uint64_t>(task_count_);
  measured_.placed += std::ranges::count_if(
      deltas.deltas(), [uid_max](const firmament::SchedulingDelta& delta) {
        return delta.type() == firmament::SchedulingDelta::PLACE &&
               delta.task_id() > kUidBase && delta.task_id() <= uid_max;
      });
}

absl::Status BenchCommand::RemoveAll(const CommandContext& context,
                                     ContractClient& client) {
  Progress progress(context, "tasks removed", task_count_);
  const int64_t started_us = context.clock.MonotonicUs();
  for (int64_t i = 0; i < task_count_; ++i) {
    RETURN_IF_ERROR(client.RemoveTask(kUidBase + static_cast<uint64_t>(i) + 1));
    progress.Show(i);
  }
  RETURN_IF_ERROR(client.Drain());
  for (int64_t i = 0; i < machine_count_; ++i) {
    RETURN_IF_ERROR(client.RemoveMachine(MachineUuid(i)));
  }
  RETURN_IF_ERROR(client.Drain());
  measured_.removing_us = context.clock.MonotonicUs() - started_us;
  return absl::OkStatus();
}

Report BenchCommand::MakeReport() const {
  Report report;
  report.AddText({"profile", "profile"}, profile_);
  report.AddCount({"machines", "machines"}, machine_count_);
  report.AddCount({"tasks", "tasks"}, task_count_);
  report.AddCount({"classes", "classes"}, class_count_);
  report.AddCount({"seed", "seed"}, seed_);
  report.AddCount({"concurrency", "calls in flight"}, concurrency_);
  report.AddRate({"machines_per_s", "machines added"}, machine_count_,
                 measured_.adding_us);
  report.AddRate({"submissions_per_s", "tasks submitted"}, task_count_,
                 measured_.submitting_us);
  report.AddCount({"rounds", "rounds"},
                  static_cast<int64_t>(measured_.round_us.size()));
  report.AddMicroseconds({"round_p50_us", "round p50"},
                         Percentile(measured_.round_us, 50));
  report.AddMicroseconds({"round_max_us", "round max"},
                         Percentile(measured_.round_us, 100));
  report.AddCount({"placed", "placed"}, measured_.placed);
  report.AddMicroseconds({"placing_us", "first submission to last delta"},
                         measured_.placing_us);
  report.AddRate({"tasks_per_s", "tasks placed"}, measured_.placed,
                 measured_.placing_us);
  if (!keeps_) {
    report.AddRate({"removals_per_s", "tasks and machines removed"},
                   task_count_ + machine_count_, measured_.removing_us);
  }
  return report;
}

absl::Status BenchCommand::Run(const CommandContext& context) {
  DrawTasks();
  ContractClient client(context, static_cast<size_t>(concurrency_));
  RETURN_IF_ERROR(AddMachines(context, client));
  RETURN_IF_ERROR(PlaceTasks(context, client));
  if (!keeps_) RETURN_IF_ERROR(RemoveAll(context, client));
  const Report report = MakeReport();
  std::ostream& out = context.console.out;
  if (context.options.wants_json()) {
    report.PrintJson(out);
  } else {
    report.PrintTable(out);
  }
  if (measured_.placed < task_count_) {
    return absl::InternalError(StrCat(task_count_ - measured_.placed,
                                      " tasks were not placed, though all "
                                      "fit"));
  }
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<Command> MakeBenchCommand() {
  return std::make_unique<BenchCommand>();
}

}  // namespace sluice
