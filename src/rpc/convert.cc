#include "rpc/convert.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "rpc/checks.h"
#include "rpc/convert_budget.h"
#include "rpc/convert_data.h"
#include "rpc/convert_peers.h"
#include "rpc/convert_rules.h"
#include "state/requeues.h"

namespace sluice {
namespace {

using firmament::ResourceDescriptor;
using firmament::ResourceTopologyNodeDescriptor;
using firmament::ResourceVector;
using firmament::TaskDescription;
using firmament::TaskDescriptor;
using AmountMap = std::map<std::string, int64_t>;
using Labels = google::protobuf::RepeatedPtrField<firmament::Label>;

// AddTaskInfo states bytes, and a gang's time-out is in seconds.  The state
// counts in thousandths of both.
constexpr int64_t kMilli = 1000;

// A higher limit is taken for an error.
constexpr int32_t kFailuresMax = 1000000;

// What is kept of a name: all of it, or the shown part if it is too long.
std::string KeptName(std::string_view name) {
  return name.size() <= kNameBytesMax ? std::string(name)
                                      : Printable(name, kShownBytes);
}

absl::Status TooLarge(std::string_view field) {
  return Invalid(StrCat(field, ": more than ", kAmountMax));
}

// ---------------------------------------------------------------------------
// Amounts

// An amount of 0 is the same as one that is not stated.
void SetAmount(std::string_view name, int64_t amount, AmountMap* amounts) {
  if (amount != 0) (*amounts)[std::string(name)] = amount;
}

absl::Status AddUnsigned(std::string_view field, std::string_view name,
                         uint64_t amount, AmountMap* amounts) {
  if (amount > static_cast<uint64_t>(kAmountMax)) return TooLarge(field);
  SetAmount(name, static_cast<int64_t>(amount), amounts);
  return absl::OkStatus();
}

// Requests are rounded up to millicores, and what machines offer is rounded
// down, so that rounding never overcommits a machine.
enum class Rounding { kUp, kDown };

absl::Status AddCpu(float millicores, Rounding rounding, AmountMap* amounts) {
  if (std::isnan(millicores)) return Invalid("cpu_cores: not a number");
  if (millicores < 0) return Invalid(StrCat("cpu_cores: ", millicores, " < 0"));
  // As double, in which kAmountMax is exact and no float rounds up to it.
  const double exact = millicores;
  const double whole =
      rounding == Rounding::kUp ? std::ceil(exact) : std::floor(exact);
  if (whole > static_cast<double>(kAmountMax)) return TooLarge("cpu_cores");
  SetAmount("cpu", static_cast<int64_t>(whole), amounts);
  return absl::OkStatus();
}

absl::Status AddExtended(const std::string& name, int64_t amount,
                         AmountMap* amounts) {
  const std::string field =
      StrCat("extended resource '", Printable(name, kShownBytes), "'");
  RETURN_IF_ERROR(CheckSize(field, name, kNameBytesMax));
  if (name.empty()) return Invalid("extended resource: its name is empty");
  for (const std::string_view builtin :
       {"cpu", "memory", "ephemeral-storage", "pods"}) {
    if (name == builtin) {
      return Invalid(StrCat(field, ": has a field of its own"));
    }
  }
  if (amount < 0) return Invalid(StrCat(field, ": ", amount, " < 0"));
  if (amount > kAmountMax) return TooLarge(field);
  if (amounts->contains(name)) {
    return Invalid(StrCat(field, ": is also stated by its field"));
  }
  SetAmount(name, amount, amounts);
  return absl::OkStatus();
}

absl::Status AddVector(const ResourceVector& vector, Rounding rounding,
                       AmountMap* amounts) {
  RETURN_IF_ERROR(AddCpu(vector.cpu_cores(), rounding, amounts));
  RETURN_IF_ERROR(AddUnsigned("ram_cap", "memory", vector.ram_cap(), amounts));
  RETURN_IF_ERROR(AddUnsigned("ephemeral_cap", "ephemeral-storage",
                              vector.ephemeral_cap(), amounts));
  RETURN_IF_ERROR(
      AddUnsigned("net_rx_bw", kNetRx, vector.net_rx_bw(), amounts));
  RETURN_IF_ERROR(
      AddUnsigned("net_tx_bw", kNetTx, vector.net_tx_bw(), amounts));
  if (vector.extended_resources_size() >
      static_cast<int>(kExtendedResourceNamesMax)) {
    return Invalid(StrCat(
        "extended_resources: ", vector.extended_resources_size(),
        " of them, at most ", kExtendedResourceNamesMax, " are allowed"));
  }
  // In the order of the names, so that the same one of several faults is always
  // named.
  const AmountMap extended(vector.extended_resources().begin(),
                           vector.extended_resources().end());
  for (const auto& [name, amount] : extended) {
    RETURN_IF_ERROR(AddExtended(name, amount, amounts));
  }
  return absl::OkStatus();
}

NamedAmounts ToNamedAmounts(AmountMap amounts) {
  return NamedAmounts(amounts.begin(), amounts.end());
}

// ---------------------------------------------------------------------------
// Labels

absl::Status CheckLabel(std::string_view key, std::string_view value) {
  RETURN_IF_ERROR(CheckSize("label key", key, kLabelBytesMax));
  return CheckSize(StrCat("value of label ", Quoted(key)), value,
                   kLabelBytesMax);
}

// A key given twice has its last value.  The result ascends by key.
absl::StatusOr<LabelPairs> ToLabels(const Labels& labels) {
  if (labels.size() > static_cast<int>(kLabelsMax)) {
    return Invalid(StrCat("labels: ", labels.size(), " of them, at most ",
                          kLabelsMax, " are allowed"));
  }
  std::map<std::string, std::string> by_key;
  for (const firmament::Label& label : labels) {
    RETURN_IF_ERROR(CheckLabel(label.key(), label.value()));
    by_key[label.key()] = label.value();
  }
  return LabelPairs(by_key.begin(), by_key.end());
}

// Without the label that every namespace has.
absl::StatusOr<LabelPairs> ToNamespaceLabels(const TaskDescriptor& task) {
  std::map<std::string, std::string> by_key(task.namespace_labels().begin(),
                                            task.namespace_labels().end());
  by_key.erase(std::string(kNamespaceNameLabel));
  if (by_key.size() > kLabelsMax) {
    return Invalid(StrCat("namespace_labels: ", by_key.size(),
                          " of them, at most ", kLabelsMax, " are allowed"));
  }
  for (const auto& [key, value] : by_key) {
    RETURN_IF_ERROR(Annotate(CheckLabel(key, value), "namespace_labels"));
  }
  return LabelPairs(by_key.begin(), by_key.end());
}

// ---------------------------------------------------------------------------
// Tasks

absl::StatusOr<Gang> ToGang(const TaskDescription& description) {
  const firmament::JobDescriptor& job = description.job_descriptor();
  Gang gang;
  if (description.task_descriptor().global() ==
      TaskDescriptor::EVERYWHERE_AT_ONCE) {
    gang.minimum = Gang::kEveryMachine;
  } else if (!job.is_gang_scheduling_job()) {
    if (!job.gang_group().empty()) {
      return Invalid("gang_group: requires is_gang_scheduling_job");
    }
    return gang;
  } else if (job.min_number_of_tasks() == 0) {
    gang.minimum = Gang::kAllTasks;
  } else if (job.min_number_of_tasks() <= kGangMinimumMax) {
    gang.minimum = job.min_number_of_tasks();
  } else {
    return Invalid(StrCat("min_number_of_tasks: more than ", kGangMinimumMax));
  }
  const int64_t seconds = job.gang_timeout_seconds();
  if (seconds < 0 || seconds > kGangTimeoutSecondsMax) {
    return Invalid(StrCat("gang_timeout_seconds: ", seconds, " is not in 0 to ",
                          kGangTimeoutSecondsMax));
  }
  gang.timeout_ms = seconds * kMilli;
  if (!job.gang_group().empty() && gang.minimum == Gang::kEveryMachine) {
    return Invalid(
        "gang_group: a task on every machine cannot be in a gang of several "
        "jobs");
  }
  RETURN_IF_ERROR(CheckSize("gang_group", job.gang_group(), kNameBytesMax));
  gang.group = job.gang_group();
  return gang;
}

// True if it displaces nobody.
absl::StatusOr<bool> NeverPreempts(const TaskDescriptor& task) {
  const TaskDescriptor::PreemptionPolicy policy = task.preemption_policy();
  if (policy != TaskDescriptor::PREEMPT_LOWER_PRIORITY &&
      policy != TaskDescriptor::NEVER) {
    return Invalid(
        StrCat("preemption_policy: ", static_cast<int>(policy), " is unknown"));
  }
  return policy == TaskDescriptor::NEVER;
}

absl::Status CheckPreemptionCost(const TaskDescriptor& task) {
  if (task.preemption_cost() >= 0 &&
      task.preemption_cost() <= kPreemptionCostMax) {
    return absl::OkStatus();
  }
  return Invalid(StrCat("preemption_cost: ", task.preemption_cost(),
                        " is not in 0 to ", kPreemptionCostMax));
}

void AddBudgetOfJob(const firmament::JobDescriptor& job, Faults* faults,
                    SubmitTask* command) {
  if (!job.has_disruption_budget()) return;
  absl::StatusOr<DisruptionBudget> budget =
      ToBudget(job.disruption_budget(), faults);
  if (budget.ok()) {
    command->budget = *std::move(budget);
  } else {
    faults->Add(StrCat("disruption_budget: ", Message(budget.status())));
    command->keeps_budget = true;
  }
}

absl::StatusOr<OnFailure> ToOnFailure(const firmament::JobDescriptor& job) {
  OnFailure on_failure;
  if (job.on_failure() == firmament::JobDescriptor::REQUEUE) {
    on_failure.action = OnFailure::Action::kRequeue;
  } else if (job.on_failure() == firmament::JobDescriptor::NEVER) {
    on_failure.action = OnFailure::Action::kNever;
  } else if (job.on_failure() != firmament::JobDescriptor::UNSET) {
    return Invalid(StrCat("on_failure: ", static_cast<int>(job.on_failure()),
                          " is unknown"));
  }
  if (job.failures_max() < 0 || job.failures_max() > kFailuresMax) {
    return Invalid(StrCat("failures_max: ", job.failures_max(),
                          " is not in 0 to ", kFailuresMax));
  }
  if (job.backoff_seconds() < 0 ||
      job.backoff_seconds() > kBackoffMaxMs / 1000) {
    return Invalid(StrCat("backoff_seconds: ", job.backoff_seconds(),
                          " is not in 0 to ", kBackoffMaxMs / 1000));
  }
  const bool has_limits = job.failures_max() > 0 || job.backoff_seconds() > 0;
  if (has_limits && on_failure.action != OnFailure::Action::kRequeue) {
    return Invalid(
        "failures_max and backoff_seconds: require on_failure REQUEUE");
  }
  if (job.failures_max() > 0) on_failure.failures_max = job.failures_max();
  if (job.backoff_seconds() > 0) {
    on_failure.backoff_ms = int64_t{job.backoff_seconds()} * 1000;
  }
  return on_failure;
}

void AddOnFailureOfJob(const firmament::JobDescriptor& job, Faults* faults,
                       SubmitTask* command) {
  const absl::StatusOr<OnFailure> on_failure = ToOnFailure(job);
  if (on_failure.ok()) {
    command->on_failure = *on_failure;
  } else {
    faults->Add(std::string(Message(on_failure.status())));
    command->on_failure = std::nullopt;
  }
}

// Adds a label for rules of newer kinds, by which other tasks recognize it.
absl::StatusOr<std::string> AddMark(std::string_view kind,
                                    std::string_view name, TaskSpec* spec) {
  std::string label = StrCat(kind, ".sluice.io/", name);
  RETURN_IF_ERROR(CheckSize(StrCat(kind, ": name"), label, kLabelBytesMax));
  std::erase_if(spec->labels,
                [&label](const auto& pair) { return pair.first == label; });
  spec->labels.emplace_back(label, "");
  std::ranges::sort(spec->labels);
  return label;
}

// At most one of them runs: a maximum over all machines.
absl::Status AddAlternatives(const std::string& job, TaskSpec* spec) {
  for (const Alternative& one : spec->rules.alternatives) {
    if (job.empty()) return Invalid("alternatives: its job has no name");
    RETURN_IF_ERROR(CheckSize("job name of a task with alternatives", job,
                              kPatternBytesMax));
    ASSIGN_OR_RETURN(const std::string label,
                     AddMark("alternatives", one.name, spec));
    spec->rules.spread.push_back(OneOfItsJob(job, label));
  }
  std::ranges::sort(spec->rules.spread);
  return absl::OkStatus();
}

// A task that was told to leave holds its claim until it is gone.
absl::Status AddClaims(TaskSpec* spec) {
  for (const Claim& one : spec->rules.claims) {
    ASSIGN_OR_RETURN(const std::string label,
                     AddMark("claims", one.name, spec));
    spec->rules.anti_affinity.push_back(
        WithLabel(label, one.one_at_all ? "*" : ""));
  }
  std::vector<PeerTerm>& terms = spec->rules.anti_affinity;
  std::ranges::sort(terms);
  terms.erase(std::ranges::unique(terms).begin(), terms.end());
  return absl::OkStatus();
}

absl::StatusOr<TaskSpec> CheckedTaskSpec(const TaskDescription& description,
                                         const JobBounds& bounds,
                                         Faults* faults) {
  if (!description.has_task_descriptor()) {
    return Invalid("task_descriptor is missing");
  }
  const TaskDescriptor& task = description.task_descriptor();
  RETURN_IF_ERROR(CheckSize("name", task.name(), kNameBytesMax));
  RETURN_IF_ERROR(CheckSize("namespace", task.namespace_(), kNameBytesMax));
  RETURN_IF_ERROR(CheckSize("binary", task.binary(), kNameBytesMax));
  RETURN_IF_ERROR(CheckSize("job name", description.job_descriptor().name(),
                            kNameBytesMax));
  RETURN_IF_ERROR(ToGang(description).status());
  TaskSpec spec;
  AmountMap request;
  RETURN_IF_ERROR(AddVector(task.resource_request(), Rounding::kUp, &request));
  spec.request = ToNamedAmounts(std::move(request));
  ASSIGN_OR_RETURN(spec.labels, ToLabels(task.labels()));
  ASSIGN_OR_RETURN(spec.namespace_labels, ToNamespaceLabels(task));
  ASSIGN_OR_RETURN(spec.rules, ToPlacementRules(task, faults));
  RETURN_IF_ERROR(AddPeerTerms(task,
                               {.task_namespace = task.namespace_(),
                                .labels = spec.labels,
                                .job = description.job_descriptor().name()},
                               bounds, &spec.rules, faults));
  RETURN_IF_ERROR(AddAlternatives(description.job_descriptor().name(), &spec));
  RETURN_IF_ERROR(AddClaims(&spec));
  spec.rules.keeps_node_rules = task.node_affinity_during_execution();
  spec.rules.keeps_peer_rules = task.pod_affinity_during_execution();
  ASSIGN_OR_RETURN(spec.rules.never_preempts, NeverPreempts(task));
  ASSIGN_OR_RETURN(spec.rules.data, ToTaskData(task));
  RETURN_IF_ERROR(CheckPreemptionCost(task));
  spec.preemption_cost = task.preemption_cost();
  ASSIGN_OR_RETURN(spec.owner, ToOwner(task));
  spec.name = task.name();
  spec.task_namespace = task.namespace_();
  spec.priority = task.priority();
  spec.task_type = task.task_type();
  spec.binary = task.binary();
  spec.is_template = task.global() == TaskDescriptor::TEMPLATE;
  if (spec.is_template &&
      description.job_descriptor().is_gang_scheduling_job()) {
    return Invalid("global: a template cannot be part of a gang");
  }
  return spec;
}

TaskSpec ToTaskSpec(const TaskDescription& description, const JobBounds& bounds,
                    Faults* faults) {
  absl::StatusOr<TaskSpec> spec = CheckedTaskSpec(description, bounds, faults);
  if (spec.ok()) return *std::move(spec);
  TaskSpec quarantined;
  quarantined.name = KeptName(description.task_descriptor().name());
  quarantined.quarantine_reason = std::string(Message(spec.status()));
  return quarantined;
}

// ---------------------------------------------------------------------------
// Machines

absl::StatusOr<NamedAmounts> ToPartCapacity(const ResourceDescriptor& part,
                                            std::string_view kind) {
  AmountMap amounts;
  const absl::Status status =
      AddVector(part.has_available_resources() ? part.available_resources()
                                               : part.resource_capacity(),
                Rounding::kDown, &amounts);
  if (!status.ok()) {
    return Annotate(
        status, StrCat(kind, " '", Printable(part.uuid(), kShownBytes), "'"));
  }
  return ToNamedAmounts(std::move(amounts));
}

// The parts below the root of a machine's tree.
class PartsReader {
 public:
  explicit PartsReader(MachineSpec* spec) : spec_(*spec) {
    uuids_.insert(spec->uuid);
  }

  // In the order of the tree.  Iterative: a tree may be as deep as its message
  // allows.
  absl::Status Read(const ResourceTopologyNodeDescriptor& root) {
    size_t node_count = 1;
    std::vector<Visit> stack = {{&root, -1}};
    while (!stack.empty()) {
      Visit visit = stack.back();
      stack.pop_back();
      node_count += static_cast<size_t>(visit.node->children_size());
      if (node_count > kTreeNodesMax) {
        return Invalid(StrCat("children: more than ", kTreeNodesMax,
                              " nodes in the tree"));
      }
      if (visit.node != &root && !visit.node->resource_desc().uuid().empty()) {
        RETURN_IF_ERROR(Add(visit.node->resource_desc(), &visit.numa_node));
      }
      // Last child first, so that the first one is taken off the stack first.
      for (int i = visit.node->children_size() - 1; i >= 0; --i) {
        stack.push_back({&visit.node->children(i), visit.numa_node});
      }
    }
    return AddLabels();
  }

 private:
  struct Visit {
    const ResourceTopologyNodeDescriptor* node = nullptr;
    int32_t numa_node = -1;  // The one that contains it.
  };

  absl::Status Add(const ResourceDescriptor& part, int32_t* numa_node) {
    std::string uuid = KeptId(part.uuid());
    if (!uuids_.insert(uuid).second) {
      return Invalid(StrCat("uuid '", Printable(uuid, kShownBytes),
                            "' appears twice in the tree"));
    }
    if (part.type() == ResourceDescriptor::RESOURCE_NUMA_NODE) {
      *numa_node = static_cast<int32_t>(spec_.numa_nodes.size());
      ASSIGN_OR_RETURN(NamedAmounts capacity,
                       ToPartCapacity(part, "NUMA node"));
      spec_.numa_nodes.push_back({uuid, std::move(capacity)});
      nodes_.push_back(&part);
    }
    if (part.type() != ResourceDescriptor::RESOURCE_PU) {
      spec_.other_uuids.push_back(std::move(uuid));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(NamedAmounts capacity,
                     ToPartCapacity(part, "processing unit"));
    spec_.pus.push_back({std::move(uuid), std::move(capacity), {}, *numa_node});
    units_.push_back(&part);
    return absl::OkStatus();
  }

  // Bridges that know no parts give their only one the machine's labels.
  absl::Status AddLabels() {
    if (nodes_.empty() && units_.size() < 2) return absl::OkStatus();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      ASSIGN_OR_RETURN(spec_.numa_nodes[i].labels,
                       ToLabels(nodes_[i]->labels()));
    }
    for (size_t i = 0; i < units_.size(); ++i) {
      ASSIGN_OR_RETURN(spec_.pus[i].labels, ToLabels(units_[i]->labels()));
    }
    return absl::OkStatus();
  }

  MachineSpec& spec_;
  absl::flat_hash_set<std::string> uuids_;
  std::vector<const ResourceDescriptor*> nodes_;
  std::vector<const ResourceDescriptor*> units_;
};

// A machine offers what it states as available or, if it states nothing, its
// whole capacity.
absl::Status AddAmounts(const ResourceDescriptor& machine,
                        int64_t default_max_pods, MachineSpec* spec) {
  AmountMap allocatable;
  RETURN_IF_ERROR(AddVector(machine.has_available_resources()
                                ? machine.available_resources()
                                : machine.resource_capacity(),
                            Rounding::kDown, &allocatable));
  const uint64_t max_pods = machine.max_pods() != 0
                                ? machine.max_pods()
                                : static_cast<uint64_t>(default_max_pods);
  RETURN_IF_ERROR(AddUnsigned("max_pods", "pods", max_pods, &allocatable));
  AmountMap capacity = allocatable;
  if (machine.has_resource_capacity()) {
    capacity.clear();
    RETURN_IF_ERROR(
        AddVector(machine.resource_capacity(), Rounding::kDown, &capacity));
    RETURN_IF_ERROR(AddUnsigned("max_pods", "pods", max_pods, &capacity));
  }
  spec->allocatable = ToNamedAmounts(std::move(allocatable));
  spec->capacity = ToNamedAmounts(std::move(capacity));
  return absl::OkStatus();
}

absl::Status Describe(const ResourceDescriptor& machine, bool states_amounts,
                      int64_t default_max_pods, MachineSpec* spec,
                      Faults* faults) {
  if (machine.uuid().empty()) return Invalid("uuid is empty");
  RETURN_IF_ERROR(
      CheckSize("friendly_name", machine.friendly_name(), kNameBytesMax));
  if (states_amounts) {
    RETURN_IF_ERROR(AddAmounts(machine, default_max_pods, spec));
  }
  ASSIGN_OR_RETURN(spec->labels, ToLabels(machine.labels()));
  ASSIGN_OR_RETURN(spec->taints, ToTaints(machine, faults));
  ASSIGN_OR_RETURN(spec->avoids, ToAvoids(machine));
  return absl::OkStatus();
}

MachineSpec ToMachineSpec(const ResourceTopologyNodeDescriptor& tree,
                          bool is_update, int64_t default_max_pods,
                          Faults* faults) {
  const ResourceDescriptor& machine = tree.resource_desc();
  MachineSpec spec;
  spec.uuid = KeptId(machine.uuid());
  spec.name = KeptName(machine.friendly_name());
  const bool states_amounts = !is_update || machine.has_available_resources() ||
                              machine.has_resource_capacity();
  absl::Status status = PartsReader(&spec).Read(tree);
  if (!status.ok()) {
    spec.pus.clear();
    spec.numa_nodes.clear();
    spec.other_uuids.clear();
  }
  status.Update(
      Describe(machine, states_amounts, default_max_pods, &spec, faults));
  if (!status.ok()) {
    spec.allocatable.clear();
    spec.capacity.clear();
    spec.labels.clear();
    spec.taints.clear();
    spec.avoids.clear();
    spec.quarantine_reason = std::string(Message(status));
  }
  return spec;
}

// The uids of the tasks on the machine and its parts, in the order of the tree.
std::vector<TaskUid> ToRunning(const ResourceTopologyNodeDescriptor& root,
                               Faults* faults) {
  std::vector<TaskUid> running;
  std::vector<const ResourceTopologyNodeDescriptor*> stack = {&root};
  while (!stack.empty()) {
    const ResourceTopologyNodeDescriptor& node = *stack.back();
    stack.pop_back();
    for (const uint64_t uid : node.resource_desc().current_running_tasks()) {
      running.push_back({uid});
    }
    if (running.size() > kRunningTasksMax) {
      faults->Add(StrCat("current_running_tasks: more than ", kRunningTasksMax,
                         " of them: all are ignored"));
      return {};
    }
    for (int i = node.children_size() - 1; i >= 0; --i) {
      stack.push_back(&node.children(i));
    }
  }
  return running;
}

// ---------------------------------------------------------------------------
// Foreign pods

absl::Status AddUsage(std::string_view field, std::string_view name,
                      int64_t amount, int64_t unit, AmountMap* amounts) {
  if (amount < 0) return Invalid(StrCat(field, ": ", amount, " < 0"));
  if (amount > kAmountMax / unit) {
    return Invalid(StrCat(field, ": more than ", kAmountMax / unit));
  }
  SetAmount(name, amount * unit, amounts);
  return absl::OkStatus();
}

}  // namespace

std::string KeptId(std::string_view id) { return BoundedId(id, kIdBytesMax); }

absl::StatusOr<SubmitTask> ToSubmitTask(const TaskDescription& description,
                                        const JobBounds& bounds,
                                        Faults* faults) {
  const TaskDescriptor& task = description.task_descriptor();
  const bool runs = task.state() == TaskDescriptor::RUNNING &&
                    !task.scheduled_to_resource().empty();
  if (!runs && task.state() != TaskDescriptor::CREATED) {
    return absl::FailedPreconditionError(
        StrCat("task ", task.uid(), ": state ", static_cast<int>(task.state()),
               " is neither CREATED nor RUNNING with scheduled_to_resource"));
  }
  SubmitTask command = ToStatedTask(description, bounds, faults);
  if (runs) command.runs_on = KeptId(task.scheduled_to_resource());
  return command;
}

SubmitTask ToStatedTask(const TaskDescription& description,
                        const JobBounds& bounds, Faults* faults) {
  const TaskDescriptor& task = description.task_descriptor();
  const firmament::JobDescriptor& job = description.job_descriptor();
  SubmitTask command;
  command.uid = {task.uid()};
  command.job_uuid = KeptId(task.job_id().empty() ? job.uuid() : task.job_id());
  command.job_name = KeptName(job.name());
  command.gang = ToGang(description).value_or(Gang());
  AddBudgetOfJob(job, faults, &command);
  AddOnFailureOfJob(job, faults, &command);
  command.spec = ToTaskSpec(description, bounds, faults);
  return command;
}

UpdateTask ToUpdateTask(const TaskDescription& description,
                        const JobBounds& bounds, Faults* faults) {
  return {{description.task_descriptor().uid()},
          ToTaskSpec(description, bounds, faults)};
}

void IgnoreBandwidth(const TaskDescription& description, TaskSpec* spec) {
  const ResourceVector& request =
      description.task_descriptor().resource_request();
  std::erase_if(spec->request, [&](const auto& amount) {
    // Bandwidth is never stated in both ways.
    return (amount.first == kNetRx && request.net_rx_bw() > 0) ||
           (amount.first == kNetTx && request.net_tx_bw() > 0);
  });
}

AddMachine ToAddMachine(const ResourceTopologyNodeDescriptor& tree,
                        int64_t default_max_pods, Faults* faults) {
  return {ToMachineSpec(tree, /*is_update=*/false, default_max_pods, faults),
          ToRunning(tree, faults)};
}

UpdateMachine ToUpdateMachine(const ResourceTopologyNodeDescriptor& tree,
                              int64_t default_max_pods, Faults* faults) {
  return {ToMachineSpec(tree, /*is_update=*/true, default_max_pods, faults)};
}

RemoveMachine ToRemoveMachine(const firmament::ResourceUID& uid) {
  return {KeptId(uid.resource_uid())};
}

absl::StatusOr<Command> ToForeignPod(const firmament::TaskInfo& info) {
  const std::string name = KeptId(info.task_name());
  if (info.type() == firmament::TASKINFO_REMOVE) {
    return Command(RemoveForeignPod{name, KeptId(info.resource_id())});
  }
  if (info.type() != firmament::TASKINFO_ADD) {
    return Invalid(
        StrCat("type: ", static_cast<int>(info.type()), " is unknown"));
  }
  AmountMap usage;
  RETURN_IF_ERROR(
      AddUsage("cpu_utilization", "cpu", info.cpu_utilization(), 1, &usage));
  RETURN_IF_ERROR(AddUsage("mem_utilization", "memory", info.mem_utilization(),
                           kMilli, &usage));
  RETURN_IF_ERROR(AddUsage("ephemeral_storage_utilization", "ephemeral-storage",
                           info.ephemeral_storage_utilization(), kMilli,
                           &usage));
  return Command(AddForeignPod{name, KeptId(info.resource_id()),
                               ToNamedAmounts(std::move(usage))});
}

}  // namespace sluice
