// Descriptions: how the state keeps, and forgets, what clients say about tasks
// and machines.

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/strings.h"
#include "state/cluster_state.h"
#include "state/interference.h"
#include "state/machine_parts.h"

namespace sluice {
namespace {

// A taint that was there before keeps its time.
std::vector<MachineTaint> TaintsSince(const std::vector<MachineTaint>& former,
                                      const std::vector<Taint>& taints,
                                      int64_t now_ms) {
  std::vector<MachineTaint> result;
  for (const Taint& taint : taints) {
    const auto it = std::ranges::find(former, taint, &MachineTaint::taint);
    result.push_back({taint, it == former.end() ? now_ms : it->since_ms});
  }
  return result;
}

std::vector<Label> InternLabels(const LabelPairs& pairs, Interner* strings) {
  std::vector<Label> labels;
  labels.reserve(pairs.size());
  for (const auto& [key, value] : pairs) {
    labels.push_back({strings->Acquire(key), strings->Acquire(value)});
  }
  std::ranges::sort(labels);
  return labels;
}

void ReleaseLabels(const std::vector<Label>& labels, Interner* strings) {
  for (const Label& label : labels) {
    strings->Release(label.key);
    strings->Release(label.value);
  }
}

// The index of a name stays valid while the machine states an amount of it.
void NoteBandwidth(const ResourceNames& names, Machine* machine) {
  const auto find = [&](const char* name) {
    const ResourceIndex index = names.Find(name);
    const bool is_stated =
        machine->allocatable[index] != 0 || machine->capacity[index] != 0;
    return is_stated ? index : kNoResource;
  };
  machine->net_rx = find(kNetRx);
  machine->net_tx = find(kNetTx);
}

// The kind of a task that states none.
TaskKind LearnedKindOf(WorkKindId work, const PolicyNeeds& needs,
                       const CacheHistories& histories) {
  return needs.kinds.has_value() ? histories.TaskKindOf(work, *needs.kinds)
                                 : TaskKind::kSheep;
}

}  // namespace

void ClusterState::Describe(Task* task, const TaskSpec& spec) {
  absl::StatusOr<Resources> request = FromNamed(spec.request);
  task->quarantine_reason = request.ok()
                                ? spec.quarantine_reason
                                : std::string(request.status().message());
  SetName(task, spec.name);
  Touch(*task);
  ++counters_.version;
  changes_.counters = true;
  // A task that is kept only for its removals may have outlived its job.
  const Job* job = FindJob(task->job);
  task->class_key.gang = job == nullptr ? std::nullopt : job->GangId();
  task->class_key.name = 0;
  // A running task with an invalid new description keeps its old one.  A task
  // that never had a valid one has an empty identity.
  if (!task->quarantine_reason.empty()) {
    if (peers_.FindIdentity(task->id) == nullptr) {
      task->class_key.meant_by = peers_.Identify(task->id, {});
      if (peers_.needs().AskForWorkKinds()) task->work_kind = WorkKindOf({});
    }
    return;
  }
  task->is_template = spec.is_template;
  templates_.Note(*task);
  *request += Resources(0, 0, 0, 1);
  const bool is_running = task->state == TaskState::kRunning;
  Machine* machine = is_running ? MutableMachine(task->machine) : nullptr;
  const int32_t pu = task->pu;
  const bool is_evicted = task->is_evicted;
  if (is_running) Vacate(task);
  task->is_evicted = is_evicted;
  resources_.Replace(*std::move(request), &task->class_key.request);
  avoided_owners_.SetOwner(task, spec.owner);
  LabelPairs labels = spec.labels;
  const PolicyNeeds& needs = peers_.needs();
  if (needs.AskForWorkKinds()) task->work_kind = WorkKindOf(spec);
  if (needs.interference.has_value() || needs.speeds ||
      (!spec.rules.data.empty() && !needs.data)) {
    PlacementRules rules = spec.rules;
    if (!needs.data) rules.data = {};
    if (needs.speeds) rules.work_kind = task->work_kind;
    if (needs.interference.has_value()) {
      rules.kind = StatedKindOf(spec);
      if (!rules.kind.has_value()) {
        rules.kind = LearnedKindOf(task->work_kind, needs, histories_.cache());
      }
      labels = WithKind(std::move(labels), *rules.kind);
    }
    SetRules(task, rules);
  } else {
    SetRules(task, spec.rules);
  }
  replacements_.SetHeld(task, replacements_.Concern(*task));
  task->class_key.meant_by = peers_.Identify(
      task->id, {spec.task_namespace, std::move(labels), spec.namespace_labels,
                 job == nullptr ? "" : job->name});
  if (is_running) Occupy(task, machine, pu);
  task->class_key.priority = spec.priority;
  task->task_namespace = spec.task_namespace;
  task->namespace_labels = spec.namespace_labels;
  task->task_type = spec.task_type;
  task->binary = spec.binary;
  task->preemption_cost = spec.preemption_cost;
  // The new ones first: most labels stay, and so stay interned.
  const std::vector<Label> former = std::move(task->labels);
  task->labels = InternLabels(spec.labels, &strings_);
  ReleaseLabels(former, &strings_);
}

void ClusterState::SetNeeds(const PolicyNeeds& needs) {
  peers_.SetNeeds(needs);
}

void ClusterState::SetRules(Task* task, const PlacementRules& rules) {
  const PlacementRules* former = task->class_key.rules;
  // An owner that no machine avoids makes no difference.  Most tasks have their
  // own owner, so each would be a class of its own.
  const bool is_avoided = avoided_owners_.Contains(task->owner);
  if (!is_avoided && rules.owner.empty()) {
    task->class_key.rules = rules_.Acquire(rules);
  } else {
    PlacementRules owned = rules;
    owned.owner = is_avoided ? task->owner : Owner();
    task->class_key.rules = rules_.Acquire(owned);
  }
  peers_.Learn(*task->class_key.rules);
  replacements_.Note(*task);
  rules_.Release(former);
}

void ClusterState::Describe(Machine* machine, const MachineSpec& spec,
                            bool keep_tree, int64_t now_ms) {
  Touch(*machine);
  ++counters_.version;
  changes_.counters = true;
  const bool states_amounts =
      !keep_tree || !spec.allocatable.empty() || !spec.capacity.empty();
  // An update of labels alone does not end a quarantine.
  if (states_amounts || !spec.quarantine_reason.empty()) {
    machine->quarantine_reason = spec.quarantine_reason;
  }
  absl::StatusOr<Resources> allocatable = FromNamed(spec.allocatable);
  absl::StatusOr<Resources> capacity = FromNamed(spec.capacity);
  if (!allocatable.ok() || !capacity.ok()) {
    machine->quarantine_reason = std::string(
        (allocatable.ok() ? capacity : allocatable).status().message());
  } else if (states_amounts) {
    resources_.Replace(*std::move(allocatable), &machine->allocatable);
    resources_.Replace(*std::move(capacity), &machine->capacity);
    NoteBandwidth(resources_, machine);
  }
  MachineFields& changed = described_machines_[machine->id];
  if (machine->name != spec.name) changed |= kNameField;
  machine->name = spec.name;
  if (machine->labels != spec.labels) changed |= kLabelsField;
  machine->labels = spec.labels;
  if (peers_.needs().speeds) {
    const MachineTypeId type =
        MachineTypeOf(spec.labels, ToNamed(machine->capacity));
    if (machine->type != type) changed |= kLabelsField;
    machine->type = type;
  }
  if (!std::ranges::equal(machine->taints, spec.taints, {},
                          &MachineTaint::taint)) {
    changed |= kTaintsField;
  }
  machine->taints = TaintsSince(machine->taints, spec.taints, now_ms);
  NoteIfNoExecute(*machine);
  peers_.Describe(*machine);
  if (machine->avoids != spec.avoids) {
    changed |= kAvoidsField;
    SetAvoids(machine, spec.avoids);
  }
  if (!keep_tree) DescribeTree(machine, spec);
  measured_use_.NoteLoad(machine);
  nominations_.UpdateReserved(machine);
  if (!machine->IsUsable()) EndSuccessionsOn(*machine);
}

void ClusterState::SetAvoids(Machine* machine, std::vector<Owner> avoids) {
  for (const TaskId id : avoided_owners_.Replace(machine->avoids, avoids)) {
    Task* task = tasks_.Find(id);
    LeaveQueue(*task);
    SetRules(task, *task->class_key.rules);
    task->class_key.name = 0;
    EnterQueue(task);
  }
  machine->avoids = std::move(avoids);
}

void ClusterState::DescribeTree(Machine* machine, const MachineSpec& spec) {
  std::vector<ProcessingUnit> former = std::move(machine->pus);
  machine_ids_.erase(machine->uuid);
  for (const ProcessingUnit& pu : former) machine_ids_.erase(pu.uuid);
  for (const std::string& uuid : machine->other_uuids) machine_ids_.erase(uuid);

  for (const ProcessingUnit& pu : former) resources_.Release(pu.capacity);
  for (const NumaNode& node : machine->numa_nodes) {
    resources_.Release(node.capacity);
  }
  machine->pus.clear();
  machine->numa_nodes.clear();
  machine->other_uuids = spec.other_uuids;
  machine_ids_[machine->uuid] = machine->id;
  for (const MachineSpec::Pu& pu : spec.pus) {
    machine_ids_[pu.uuid] = machine->id;
    absl::StatusOr<Resources> capacity = FromNamed(pu.capacity);
    ProcessingUnit& unit = machine->pus.emplace_back();
    unit.uuid = pu.uuid;
    unit.labels = pu.labels;
    unit.numa_node = pu.numa_node;
    if (capacity.ok()) resources_.Replace(*std::move(capacity), &unit.capacity);
  }
  for (const MachineSpec::Numa& numa : spec.numa_nodes) {
    absl::StatusOr<Resources> capacity = FromNamed(numa.capacity);
    NumaNode& node = machine->numa_nodes.emplace_back();
    node.uuid = numa.uuid;
    node.labels = numa.labels;
    if (capacity.ok()) resources_.Replace(*std::move(capacity), &node.capacity);
  }
  for (const std::string& uuid : spec.other_uuids) {
    machine_ids_[uuid] = machine->id;
  }
  // Tasks keep their processing unit if it still exists.  The others then go
  // where there is room.
  const auto assign = [&](Task* task, int32_t pu) {
    task->pu = pu;
    if (pu == kNoPu) return;
    ProcessingUnit& unit = machine->pus[static_cast<size_t>(pu)];
    unit.used += task->class_key.request;
    ++unit.task_count;
    Bind(task->class_key, pu, 1, machine);
  };
  std::vector<Task*> without_unit;
  for (const TaskId id : machine->tasks) {
    Task* task = MutableTask(id);
    Touch(*task);
    const auto same =
        std::ranges::find_if(machine->pus, [&](const ProcessingUnit& pu) {
          return task->pu != kNoPu &&
                 pu.uuid == former[static_cast<size_t>(task->pu)].uuid;
        });
    if (same == machine->pus.end()) {
      without_unit.push_back(task);
    } else {
      assign(task, static_cast<int32_t>(same - machine->pus.begin()));
    }
  }
  for (Task* task : without_unit) {
    assign(task, UnitFor(task->class_key, *machine));
  }
  NoteParts(machine);
}

void ClusterState::Erase(Task* task) {
  const TaskId id = task->id;
  requeues_.SetRetry(task, 0);
  adoptions_.SetRunsOn(task, "");
  templates_.Drop(*task);
  uids_.Erase(*task);
  SetName(task, "");
  ReleaseLabels(task->labels, &strings_);
  resources_.Release(task->class_key.request);
  if (task->client.IsOfFeed()) {
    feeds_.at(task->client.feed).tasks.erase(task->client.feed_task_id);
  }
  avoided_owners_.SetOwner(task, Owner());
  replacements_.SetHeld(task, false);
  replacements_.Erase(id);
  rules_.Release(task->class_key.rules);
  peers_.Erase(id);
  removed_.erase(id);
  tasks_.Take(id);
  changes_.tasks.insert(id);
}

absl::StatusOr<Resources> ClusterState::FromNamed(const NamedAmounts& amounts) {
  return resources_.FromNamed(amounts);
}

NamedAmounts ClusterState::ToNamed(const Resources& resources) const {
  NamedAmounts amounts;
  for (ResourceIndex i = 0; i < resources.size(); ++i) {
    if (resources[i] != 0) amounts.emplace_back(ResourceName(i), resources[i]);
  }
  return amounts;
}

LabelPairs ClusterState::ToPairs(const std::vector<Label>& labels) const {
  LabelPairs pairs;
  pairs.reserve(labels.size());
  for (const Label& label : labels) {
    pairs.emplace_back(strings_.Text(label.key), strings_.Text(label.value));
  }
  std::ranges::sort(pairs);
  return pairs;
}

}  // namespace sluice
