#include "cli/bench/bench_workload.h"

#include <optional>

#include "base/rng.h"
#include "base/strings.h"

namespace sluice {
namespace {

constexpr uint64_t kUidBase = 1'000'000'000'000;
constexpr int64_t kCpuStepMilli = 50;
constexpr int64_t kCpuSteps = 10;
constexpr int64_t kMemoryStepMib = 64;
constexpr int64_t kMemorySteps = 16;
constexpr uint64_t kMillibytesPerMib = 1000ull << 20;

// A float of the contract holds millicores exactly up to 2^24.
constexpr int64_t kTasksPerMachineMax = (1 << 24) / (kCpuSteps * kCpuStepMilli);

// The sizes and the priority of tasks of which some displace others.
constexpr int64_t kFillerCpuMilli = 900;
constexpr int64_t kUrgentCpuMilli = 3000;
constexpr int64_t kPreemptingMemoryMib = 500;
constexpr uint32_t kUrgentPriority = 10;
constexpr const char* kFillerJob = "bench-fillers";

void SetAmounts(int64_t cpu_milli, int64_t memory_mib,
                firmament::ResourceVector* resources) {
  resources->set_cpu_cores(static_cast<float>(cpu_milli));
  resources->set_ram_cap(static_cast<uint64_t>(memory_mib) * kMillibytesPerMib);
}

}  // namespace

absl::StatusOr<BenchWorkload> BenchWorkload::Make(const BenchProfile& profile,
                                                  const BenchSize& size,
                                                  int64_t seed) {
  const std::optional<int64_t> tasks_per_machine =
      TasksPerMachine(profile, size);
  if (tasks_per_machine.value_or(INT64_MAX) > kTasksPerMachineMax) {
    return absl::InvalidArgumentError(
        StrCat("--tasks=", size.task_count,
               " are too many for --machines=", size.machine_count));
  }
  return BenchWorkload(profile, size, seed, *tasks_per_machine);
}

BenchWorkload::BenchWorkload(const BenchProfile& profile, const BenchSize& size,
                             int64_t seed, int64_t tasks_per_machine)
    : profile_(profile), size_(size), tasks_per_machine_(tasks_per_machine) {
  Rng rng(static_cast<uint64_t>(seed));
  for (int64_t i = 0; i < size_.class_count; ++i) {
    classes_.push_back(
        {.cpu_milli = kCpuStepMilli * rng.Between(1, kCpuSteps),
         .memory_mib = kMemoryStepMib * rng.Between(1, kMemorySteps)});
  }
  for (int64_t i = 0; i < size_.task_count; ++i) {
    class_of_task_.push_back(profile_.HasPeers()
                                 ? i % size_.class_count
                                 : rng.Between(0, size_.class_count - 1));
  }
}

std::string BenchWorkload::MachineUuid(int64_t index) {
  return StrCat("bench-machine-", index + 1);
}

uint64_t BenchWorkload::TaskUid(int64_t index) {
  return kUidBase + static_cast<uint64_t>(index) + 1;
}

void BenchWorkload::DescribeMachine(
    int64_t index, firmament::ResourceTopologyNodeDescriptor* node) const {
  firmament::ResourceDescriptor& machine = *node->mutable_resource_desc();
  machine.set_uuid(MachineUuid(index));
  machine.set_friendly_name(machine.uuid());
  machine.set_state(firmament::ResourceDescriptor::RESOURCE_IDLE);
  machine.set_type(firmament::ResourceDescriptor::RESOURCE_MACHINE);
  SetAmounts(kCpuSteps * kCpuStepMilli * tasks_per_machine_,
             kMemorySteps * kMemoryStepMib * tasks_per_machine_,
             machine.mutable_available_resources());
  *machine.mutable_resource_capacity() = machine.available_resources();
  // Its cpu has room for this many of the smallest tasks.
  machine.set_max_pods(static_cast<uint64_t>(tasks_per_machine_ * kCpuSteps));
  sluice::DescribeMachine(profile_, index, &machine);
  firmament::ResourceTopologyNodeDescriptor& child = *node->add_children();
  child.set_parent_id(machine.uuid());
  firmament::ResourceDescriptor& pu = *child.mutable_resource_desc();
  pu.set_uuid(StrCat(machine.uuid(), "_PU #0"));
  pu.set_type(firmament::ResourceDescriptor::RESOURCE_PU);
  *pu.mutable_resource_capacity() = machine.available_resources();
}

void BenchWorkload::DescribeTask(
    int64_t index, firmament::TaskDescription* description) const {
  const bool is_filler = index < filler_count();
  const int64_t class_index =
      is_filler ? 0
                : class_of_task_[static_cast<size_t>(index - filler_count())];
  firmament::JobDescriptor& job = *description->mutable_job_descriptor();
  job.set_uuid(is_filler ? kFillerJob : StrCat("bench-job-", class_index + 1));
  job.set_name(job.uuid());
  job.set_state(firmament::JobDescriptor::CREATED);
  firmament::TaskDescriptor& task = *description->mutable_task_descriptor();
  task.set_uid(TaskUid(index));
  task.set_job_id(job.uuid());
  sluice::DescribeTask(profile_, index, &task);
  task.set_name(StrCat(task.namespace_(), "/task-", index + 1));
  TaskClass amounts = classes_[static_cast<size_t>(class_index)];
  if (profile_.Preempts()) {
    amounts = {.cpu_milli = is_filler ? kFillerCpuMilli : kUrgentCpuMilli,
               .memory_mib = kPreemptingMemoryMib};
    task.set_priority(is_filler ? 0 : kUrgentPriority);
  }
  SetAmounts(amounts.cpu_milli, amounts.memory_mib,
             task.mutable_resource_request());
}

}  // namespace sluice
