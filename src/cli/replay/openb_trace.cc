#include "cli/replay/openb_trace.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/replay/csv.h"

namespace sluice {
namespace {

// A float holds every whole number up to here, and the contract's millicores
// are floats.
constexpr int64_t kCpuMilliMax = 16'777'216;
// A pebibyte; in thousandths of a byte it still fits into 63 bits.
constexpr int64_t kMemoryMibMax = 1 << 30;
constexpr int64_t kGpusMax = 1'000'000;
constexpr int64_t kSecondsMax = 1'000'000'000'000;

constexpr uint64_t kMillibytesPerMib = 1000ull << 20;

absl::StatusOr<std::string> UniqueName(const CsvReader& csv, size_t column,
                                       std::set<std::string>& names) {
  const std::string& name = csv.Text(column);
  if (name.empty()) return csv.ErrorAt(column, "is empty");
  if (!names.insert(name).second) {
    return csv.ErrorAt(column, StrCat(name, " appears in the file twice"));
  }
  return name;
}

std::string TextOrNothing(const CsvReader& csv, std::optional<size_t> column) {
  return column.has_value() ? csv.Text(*column) : "";
}

void SetAmounts(int64_t cpu_milli, int64_t memory_mib, int64_t gpus,
                firmament::ResourceVector& amounts) {
  amounts.set_cpu_cores(static_cast<float>(cpu_milli));
  amounts.set_ram_cap(static_cast<uint64_t>(memory_mib) * kMillibytesPerMib);
  if (gpus > 0) (*amounts.mutable_extended_resources())[kGpuResource] = gpus;
}

// Reads the times of the current row into `pod`.
absl::Status ReadTimes(const CsvReader& csv, size_t creation,
                       std::optional<size_t> deletion, TracePod& pod) {
  ASSIGN_OR_RETURN(pod.creation_s,
                   csv.Integer(creation, {.min = 0, .max = kSecondsMax}));
  if (deletion.has_value() && !csv.Text(*deletion).empty()) {
    ASSIGN_OR_RETURN(
        pod.deletion_s,
        csv.Integer(*deletion, {.min = pod.creation_s, .max = kSecondsMax}));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<TraceMachine>> ReadTraceMachines(
    std::string name, std::istream& input) {
  ASSIGN_OR_RETURN(CsvReader csv, CsvReader::Open(std::move(name), input));
  ASSIGN_OR_RETURN(const size_t sn, csv.Column("sn"));
  ASSIGN_OR_RETURN(const size_t cpu, csv.Column("cpu_milli"));
  ASSIGN_OR_RETURN(const size_t memory, csv.Column("memory_mib"));
  ASSIGN_OR_RETURN(const size_t gpu, csv.Column("gpu"));
  ASSIGN_OR_RETURN(const size_t model, csv.Column("model"));
  std::vector<TraceMachine> machines;
  std::set<std::string> names;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, csv.Next());
    if (!has_row) return machines;
    TraceMachine& machine = machines.emplace_back();
    ASSIGN_OR_RETURN(machine.sn, UniqueName(csv, sn, names));
    ASSIGN_OR_RETURN(machine.cpu_milli,
                     csv.Integer(cpu, {.min = 0, .max = kCpuMilliMax}));
    ASSIGN_OR_RETURN(machine.memory_mib,
                     csv.Integer(memory, {.min = 0, .max = kMemoryMibMax}));
    ASSIGN_OR_RETURN(machine.gpus,
                     csv.Integer(gpu, {.min = 0, .max = kGpusMax}));
    machine.model = csv.Text(model);
  }
}

absl::StatusOr<TracePods> ReadTracePods(std::string name, std::istream& input) {
  ASSIGN_OR_RETURN(CsvReader csv, CsvReader::Open(std::move(name), input));
  ASSIGN_OR_RETURN(const size_t name_column, csv.Column("name"));
  ASSIGN_OR_RETURN(const size_t cpu, csv.Column("cpu_milli"));
  ASSIGN_OR_RETURN(const size_t memory, csv.Column("memory_mib"));
  ASSIGN_OR_RETURN(const size_t gpus, csv.Column("num_gpu"));
  const std::optional<size_t> gpu_spec = csv.FindColumn("gpu_spec");
  const std::optional<size_t> qos = csv.FindColumn("qos");
  const std::optional<size_t> creation = csv.FindColumn("creation_time");
  const std::optional<size_t> deletion = csv.FindColumn("deletion_time");
  TracePods trace;
  trace.has_times = creation.has_value();
  std::set<std::string> names;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, csv.Next());
    if (!has_row) return trace;
    TracePod& pod = trace.pods.emplace_back();
    ASSIGN_OR_RETURN(pod.name, UniqueName(csv, name_column, names));
    ASSIGN_OR_RETURN(pod.cpu_milli,
                     csv.Integer(cpu, {.min = 0, .max = kCpuMilliMax}));
    ASSIGN_OR_RETURN(pod.memory_mib,
                     csv.Integer(memory, {.min = 0, .max = kMemoryMibMax}));
    ASSIGN_OR_RETURN(pod.gpus, csv.Integer(gpus, {.min = 0, .max = kGpusMax}));
    pod.gpu_spec = TextOrNothing(csv, gpu_spec);
    pod.qos = TextOrNothing(csv, qos);
    if (creation.has_value()) {
      RETURN_IF_ERROR(ReadTimes(csv, *creation, deletion, pod));
    }
  }
}

firmament::ResourceTopologyNodeDescriptor MachineMessage(
    const TraceMachine& machine) {
  firmament::ResourceTopologyNodeDescriptor node;
  firmament::ResourceDescriptor& resource = *node.mutable_resource_desc();
  resource.set_uuid(machine.sn);
  resource.set_friendly_name(machine.sn);
  resource.set_state(firmament::ResourceDescriptor::RESOURCE_IDLE);
  resource.set_type(firmament::ResourceDescriptor::RESOURCE_MACHINE);
  SetAmounts(machine.cpu_milli, machine.memory_mib, machine.gpus,
             *resource.mutable_available_resources());
  *resource.mutable_resource_capacity() = resource.available_resources();
  if (!machine.model.empty()) {
    firmament::Label& label = *resource.add_labels();
    label.set_key(kGpuModelLabel);
    label.set_value(machine.model);
  }
  firmament::ResourceTopologyNodeDescriptor& child = *node.add_children();
  child.set_parent_id(machine.sn);
  firmament::ResourceDescriptor& pu = *child.mutable_resource_desc();
  pu.set_uuid(StrCat(machine.sn, "_PU #0"));
  pu.set_friendly_name(pu.uuid());
  pu.set_state(firmament::ResourceDescriptor::RESOURCE_IDLE);
  pu.set_type(firmament::ResourceDescriptor::RESOURCE_PU);
  *pu.mutable_resource_capacity() = resource.available_resources();
  return node;
}

firmament::TaskDescription PodMessage(const TracePod& pod, uint64_t uid) {
  firmament::TaskDescription description;
  firmament::JobDescriptor& job = *description.mutable_job_descriptor();
  job.set_uuid(StrCat("openb-", pod.cpu_milli, "m-", pod.memory_mib, "Mi-",
                      pod.gpus, "gpu", pod.qos.empty() ? "" : "-", pod.qos));
  job.set_name(job.uuid());
  job.set_state(firmament::JobDescriptor::CREATED);

  firmament::TaskDescriptor& task = *description.mutable_task_descriptor();
  task.set_uid(uid);
  task.set_name(StrCat("openb/", pod.name));
  task.set_namespace_("openb");
  task.set_state(firmament::TaskDescriptor::CREATED);
  task.set_job_id(job.uuid());
  SetAmounts(pod.cpu_milli, pod.memory_mib, pod.gpus,
             *task.mutable_resource_request());
  if (!pod.qos.empty()) {
    firmament::Label& label = *task.add_labels();
    label.set_key("qos");
    label.set_value(pod.qos);
  }
  if (!pod.gpu_spec.empty()) {
    firmament::LabelSelector& selector = *task.add_label_selectors();
    selector.set_type(firmament::LabelSelector::IN_SET);
    selector.set_key(kGpuModelLabel);
    std::string_view rest = pod.gpu_spec;
    while (true) {
      const size_t bar = rest.find('|');
      selector.add_values(std::string(rest.substr(0, bar)));
      if (bar == std::string_view::npos) break;
      rest.remove_prefix(bar + 1);
    }
  }
  return description;
}

}  // namespace sluice
