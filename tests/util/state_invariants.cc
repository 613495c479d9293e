#include "util/state_invariants.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/strings.h"

namespace sluice {

namespace {

// Names are there for what is stated, and for nothing else.
std::string FindWrongName(const ClusterState& state) {
  std::vector<bool> is_stated(state.resource_count());
  bool is_unnamed = false;
  const auto note = [&](const Resources& amounts) {
    for (ResourceIndex i = 0; i < amounts.size(); ++i) {
      if (amounts[i] == 0) continue;
      is_unnamed |= i >= is_stated.size() || state.ResourceName(i).empty();
      if (i < is_stated.size()) is_stated[i] = true;
    }
  };
  for (const auto& [id, task] : state.tasks()) {
    note(task->class_key.request);
  }
  for (const auto& [id, one] : state.nominations().successions().all()) {
    note(one.request);
  }
  for (const auto& [id, machine] : state.machines()) {
    note(machine->allocatable);
    note(machine->capacity);
    for (const auto& [name, usage] : machine->foreign_pods) note(usage);
    for (const ProcessingUnit& pu : machine->pus) note(pu.capacity);
  }
  for (ResourceIndex i = kBuiltinResourceCount; i < is_stated.size(); ++i) {
    if (!is_stated[i] && !state.ResourceName(i).empty()) {
      return StrCat("nothing states ", state.ResourceName(i));
    }
  }
  // What follows from the rest must not have more.
  for (const auto& [id, machine] : state.machines()) {
    note(machine->used);
    for (const ProcessingUnit& pu : machine->pus) note(pu.used);
  }
  return is_unnamed ? "an amount of a resource without a name" : "";
}

// Machines know where the bandwidth stands that they state.
std::string FindWrongBandwidth(const ClusterState& state) {
  for (const auto& [id, machine] : state.machines()) {
    ResourceIndex rx = kNoResource;
    ResourceIndex tx = kNoResource;
    for (ResourceIndex i = 0; i < state.resource_count(); ++i) {
      if (machine->allocatable[i] == 0 && machine->capacity[i] == 0) continue;
      if (state.ResourceName(i) == kNetRx) rx = i;
      if (state.ResourceName(i) == kNetTx) tx = i;
    }
    if (machine->net_rx != rx || machine->net_tx != tx) {
      return StrCat("machine ", id.value, " is mistaken about its links");
    }
  }
  return "";
}

// Feeds know their tasks, each with its deltas, and nobody else's.
std::string FindWrongFeed(const ClusterState& state) {
  int64_t pending = 0;
  std::map<FeedId, std::set<TaskId>> tasks;
  for (const auto& [id, task] : state.tasks()) {
    if (!task->client.IsOfFeed()) continue;
    tasks[task->client.feed].insert(id);
    if (task->IsSchedulable()) ++pending;
    const auto feed = state.feeds().find(task->client.feed);
    if (feed == state.feeds().end() ||
        !feed->second.tasks.contains(task->client.feed_task_id) ||
        feed->second.tasks.at(task->client.feed_task_id) != id) {
      return StrCat("its feed does not know task ", id.value);
    }
    const bool is_stated = task->client.announcement == feed->second.snapshot;
    if ((feed->second.is_live && is_stated) == task->client.is_stale) {
      return StrCat("task ", id.value, " is stale, or should be");
    }
  }
  if (pending != state.feed_pending_count()) {
    return StrCat(pending, " tasks of feeds wait, ", state.feed_pending_count(),
                  " are counted");
  }
  std::map<FeedId, std::set<uint64_t>> deltas;
  for (const auto& [sequence, delta] : state.outbox()) {
    deltas[state.FindTask(delta.task)->client.feed].insert(sequence);
  }
  deltas[FeedId()];
  for (const auto& [id, feed] : state.feeds()) {
    if (feed.tasks.size() != tasks[id].size()) {
      return StrCat("feed ", feed.name, " knows tasks that are not there");
    }
    deltas[id];
  }
  for (const auto& [id, sequences] : deltas) {
    const auto& found = state.SequencesOf(id);
    if (sequences != std::set<uint64_t>(found.begin(), found.end())) {
      return StrCat("feed ", id.value, " has other deltas");
    }
  }
  for (const auto& [id, machine] : state.machines()) {
    if (machine->feed != FeedId() && !state.feeds().contains(machine->feed)) {
      return StrCat("the feed of machine ", machine->uuid, " is unknown");
    }
  }
  return "";
}

std::string FindWrongNomination(const ClusterState& state) {
  const Successions::Map& successions = state.nominations().successions().all();
  std::map<MachineId, std::set<TaskId>> nominated;
  for (const auto& [id, machine] : state.nominations().machines()) {
    const Task* task = state.FindTask(id);
    if (task == nullptr || !task->IsSchedulable()) {
      return StrCat("task ", id.value, " is nominated and does not wait");
    }
    const auto of_class = state.pending().find(task->class_key);
    if (of_class != state.pending().end() &&
        of_class->second.contains(task->sequence)) {
      return StrCat("task ", id.value, " is nominated and in a queue");
    }
    if (state.FindMachine(machine) == nullptr) {
      return StrCat("task ", id.value, " is nominated for no machine");
    }
    nominated[machine].insert(id);
  }
  for (const auto& [id, machine] : state.machines()) {
    if (std::set<TaskId>(machine->nominated.begin(),
                         machine->nominated.end()) != nominated[id]) {
      return StrCat("machine ", machine->uuid, " is kept for other tasks");
    }
    std::set<uint64_t> expected;
    for (const auto& [sequence, one] : successions) {
      if (one.machine == id) expected.insert(sequence);
    }
    if (std::set<uint64_t>(machine->successions.begin(),
                           machine->successions.end()) != expected) {
      return StrCat("machine ", machine->uuid, " is kept for other successors");
    }
    if (!expected.empty() && !machine->IsUsable()) {
      return StrCat("unusable machine ", machine->uuid, " is kept");
    }
    if (!machine->KeepsRoom()) continue;
    Resources kept;
    for (const uint64_t sequence : expected) {
      kept += successions.at(sequence).request;
    }
    for (const TaskId task : machine->nominated) {
      kept += state.FindTask(task)->class_key.request;
    }
    Resources missing = kept;
    for (const TaskId task : machine->tasks) {
      const Task& one = *state.FindTask(task);
      if (one.is_evicted) missing -= one.class_key.request;
    }
    const bool is_reserved = std::ranges::any_of(
        machine->nominated,
        [&](TaskId task) { return state.nominations().IsReservation(task); });
    for (ResourceIndex i = 0; i < missing.size(); ++i) {
      int64_t amount = missing[i];
      if (is_reserved) {
        amount = std::min(amount, machine->Offered()[i] - machine->used[i]);
      }
      if (machine->reserved[i] != std::max<int64_t>(amount, 0)) {
        return StrCat("machine ", machine->uuid, " keeps another amount");
      }
    }
    if (machine->awaited != kept - machine->reserved) {
      return StrCat("machine ", machine->uuid, " awaits another amount");
    }
  }
  return "";
}

// Those who replace others are known by these.
std::string FindWrongReplacement(const ClusterState& state) {
  std::map<TaskUid, std::set<TaskId>> expected;
  for (const auto& [id, task] : state.tasks()) {
    const std::optional<TaskUid>& former = task->class_key.rules->replaces;
    if (former.has_value()) expected[*former].insert(id);
  }
  std::map<TaskUid, std::set<TaskId>> found;
  for (const auto& [uid, newcomers] : state.replacements().newcomers()) {
    found[uid].insert(newcomers.begin(), newcomers.end());
  }
  if (found != expected) return "others are known to replace tasks";
  for (const auto& [id, task] : state.tasks()) {
    if (task->is_held != state.replacements().held().contains(id)) {
      return StrCat("task ", id.value, " is held, or should be");
    }
  }
  return "";
}

// Whether what is bound to parts is what those ask for that demand them.
std::string FindWrongPart(const ClusterState& state) {
  for (const auto& [id, machine] : state.machines()) {
    std::vector<Resources> units(machine->pus.size());
    std::vector<Resources> nodes(machine->numa_nodes.size());
    std::vector<std::vector<std::string>> groups(machine->pus.size());
    for (const TaskId task_id : machine->tasks) {
      const Task& task = *state.FindTask(task_id);
      const PlacementRules& rules = *task.class_key.rules;
      if (!rules.DemandsParts() || task.pu == kNoPu) continue;
      const auto pu = static_cast<size_t>(task.pu);
      bool is_of_unit = false;
      for (const PartDemand& demand : rules.part_demands) {
        is_of_unit |= demand.level == PartLevel::kProcessingUnit;
      }
      for (const PartGroup& group : rules.part_groups) {
        is_of_unit |= group.level == PartLevel::kProcessingUnit;
        groups[pu].push_back(group.name);
      }
      if (is_of_unit) units[pu] += task.class_key.request;
      const int32_t node = machine->pus[pu].numa_node;
      if (node >= 0) nodes[static_cast<size_t>(node)] += task.class_key.request;
    }
    for (size_t i = 0; i < units.size(); ++i) {
      if (units[i] != machine->pus[i].bound) {
        return StrCat("on machine ", id.value, " unit ", i, " is bound wrong");
      }
      std::ranges::sort(groups[i]);
      if (groups[i] != machine->pus[i].groups) {
        return StrCat("on machine ", id.value, " unit ", i,
                      " has other groups");
      }
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] != machine->numa_nodes[i].bound) {
        return StrCat("on machine ", id.value, " node ", i, " is bound wrong");
      }
    }
  }
  return "";
}

std::string FindWrongTemplate(const ClusterState& state) {
  for (const auto& [id, task] : state.tasks()) {
    if (task->is_template && !state.templates().made().contains(id)) {
      return StrCat("template ", id.value, " is not known as one");
    }
    if (!task->made_from.has_value()) continue;
    const auto& made = state.templates().MadeFrom(*task->made_from);
    const auto it = made.find(task->made_for);
    if (it == made.end() || it->second != id) {
      return StrCat("nobody knows who made task ", id.value);
    }
  }
  for (const auto& [made_from, tasks] : state.templates().made()) {
    for (const auto& [machine, id] : tasks) {
      const Task* task = state.FindTask(id);
      if (task == nullptr || task->made_from != made_from) {
        return StrCat("template ", made_from.value, " made no task ", id.value);
      }
    }
  }
  return "";
}

std::string FindWrongAdoption(const ClusterState& state) {
  const AdoptionIndex& adoptions = state.adoptions();
  for (const auto& [id, task] : state.tasks()) {
    if (task->runs_on.empty()) continue;
    const auto it = adoptions.awaiting.find(task->runs_on);
    if (task->state != TaskState::kPending || it == adoptions.awaiting.end() ||
        !it->second.contains(id)) {
      return StrCat("task ", id.value, " awaits a machine in vain");
    }
  }
  for (const auto& [uuid, ids] : adoptions.awaiting) {
    for (const TaskId id : ids) {
      const Task* task = state.FindTask(id);
      if (task == nullptr || task->runs_on != uuid) {
        return StrCat("task ", id.value, " is said to run on '", uuid, "'");
      }
    }
  }
  for (const auto& [uid, machine] : adoptions.claimants) {
    if (!state.FindMachine(machine)->claimed.contains(uid)) {
      return StrCat("machine ", machine.value, " claims no task ", uid.value);
    }
  }
  return "";
}

// Machines and jobs count who runs and is not told to leave.
std::string FindWrongCount(const ClusterState& state) {
  std::map<MachineId, std::map<JobId, int64_t>> of_machine;
  std::map<MachineId, int64_t> leaving;
  std::map<JobId, int64_t> running;
  for (const auto& [id, task] : state.tasks()) {
    if (task->state != TaskState::kRunning) continue;
    if (task->is_evicted) {
      ++leaving[task->machine];
    } else {
      ++of_machine[task->machine][task->job];
      ++running[task->job];
      const Job* job = state.FindJob(task->job);
      if (job == nullptr) return "a task's job does not exist";
      if (job->group.has_value()) ++running[*job->group];
    }
  }
  for (const auto& [id, machine] : state.machines()) {
    const std::map<JobId, int64_t>& jobs = of_machine[id];
    const bool are_counted = std::ranges::all_of(jobs, [&](const auto& entry) {
      return machine->jobs.Of(entry.first) == entry.second;
    });
    if (!are_counted || machine->jobs.size() != jobs.size() ||
        machine->leaving_count != leaving[id]) {
      return StrCat("machine ", machine->uuid, " counts other tasks");
    }
  }
  std::map<JobId, int64_t> waiting;
  for (const TaskId id : state.unscheduled()) {
    const Job& job = *state.FindJob(state.FindTask(id)->job);
    ++waiting[job.id];
    if (job.group.has_value()) ++waiting[*job.group];
  }
  for (const auto& [id, job] : state.jobs()) {
    if (job->running_count != running[id]) {
      return StrCat("job ", job->uuid, " counts other tasks that run");
    }
    if (job->pending_count != waiting[id]) {
      return StrCat("job ", job->uuid, " counts other tasks that wait");
    }
  }
  return "";
}

}  // namespace

std::string FindContradiction(const ClusterState& state) {
  std::map<MachineId, Resources> used;
  std::map<MachineId, std::set<TaskId>> tasks_on;
  std::map<std::pair<MachineId, int32_t>, int64_t> tasks_on_pu;
  std::map<std::pair<MachineId, int32_t>, Resources> used_on_pu;
  std::map<JobId, int64_t> tasks_of_job;
  std::set<TaskId> unscheduled;
  int64_t pending = 0;
  for (const auto& [id, task] : state.tasks()) {
    if (task->id != id) return StrCat("task ", id.value, " has another id");
    if (task->client.HoldsUid() &&
        state.FindHolder(task->client.uid) != task.get()) {
      return StrCat("task ", id.value, " is not found by its uid");
    }
    for (const TaskId earlier : task->client.earlier_holders) {
      const Task* holder = state.FindTask(earlier);
      if (holder == nullptr || !holder->client.IsDisplaced() ||
          holder->client.successor != id) {
        return StrCat("task ", id.value, " has not displaced ", earlier.value);
      }
    }
    if (task->client.successor.has_value()) {
      const Task* successor = state.FindTask(*task->client.successor);
      if (successor == nullptr ||
          std::ranges::count(successor->client.earlier_holders, id) != 1) {
        return StrCat("task ", id.value, " was displaced by nobody");
      }
    }
    if (task->retry_ms != 0 &&
        (task->state != TaskState::kPending ||
         !state.requeues().backoffs.contains({task->retry_ms, id}))) {
      return StrCat("task ", id.value, " waits for a time in vain");
    }
    if (task->state != TaskState::kRemoved && ++tasks_of_job[task->job] == 1) {
      const Job* job = state.FindJob(task->job);
      // A group counts its jobs.
      if (job != nullptr && job->group.has_value()) {
        ++tasks_of_job[*job->group];
      }
    }
    if (task->state == TaskState::kRunning) {
      used[task->machine] += task->class_key.request;
      tasks_on[task->machine].insert(id);
      ++tasks_on_pu[{task->machine, task->pu}];
      used_on_pu[{task->machine, task->pu}] += task->class_key.request;
    }
    if (task->IsUnscheduled()) unscheduled.insert(id);
    if (!task->IsSchedulable()) continue;
    ++pending;
    if (state.nominations().Contains(id)) continue;
    const auto of_class = state.pending().find(task->class_key);
    if (of_class == state.pending().end() ||
        !of_class->second.contains(task->sequence) ||
        of_class->second.at(task->sequence) != task.get()) {
      return StrCat("task ", id.value, " is not in its queue");
    }
    if (task->class_key.name == 0 ||
        task->class_key.name != of_class->first.name) {
      return StrCat("task ", id.value, " has not the name of its class");
    }
  }
  for (const auto& [retry_ms, id] : state.requeues().backoffs) {
    const Task* task = state.FindTask(id);
    if (task == nullptr || task->retry_ms != retry_ms) {
      return StrCat("task ", id.value, " waits for another time");
    }
  }
  if (const std::string wrong = FindWrongName(state); !wrong.empty()) {
    return wrong;
  }
  if (const std::string wrong = FindWrongBandwidth(state); !wrong.empty()) {
    return wrong;
  }
  if (const std::string wrong = FindWrongFeed(state); !wrong.empty()) {
    return wrong;
  }
  if (const std::string wrong = FindWrongCount(state); !wrong.empty()) {
    return wrong;
  }
  int64_t queued = std::ssize(state.nominations().machines());
  for (const auto& [key, tasks] : state.pending()) {
    queued += static_cast<int64_t>(tasks.size());
  }
  if (queued != pending || state.pending_count() != pending) {
    return StrCat(pending, " tasks wait, ", queued, " are queued, ",
                  state.pending_count(), " are counted");
  }
  if (unscheduled != std::set<TaskId>(state.unscheduled().begin(),
                                      state.unscheduled().end())) {
    return "the unscheduled tasks are others";
  }
  if (const std::string wrong = FindWrongNomination(state); !wrong.empty()) {
    return wrong;
  }
  if (const std::string wrong = FindWrongPart(state); !wrong.empty()) {
    return wrong;
  }
  if (const std::string wrong = FindWrongTemplate(state); !wrong.empty()) {
    return wrong;
  }
  if (const std::string wrong = FindWrongAdoption(state); !wrong.empty()) {
    return wrong;
  }
  if (const std::string wrong = FindWrongReplacement(state); !wrong.empty()) {
    return wrong;
  }
  for (const auto& [id, machine] : state.machines()) {
    for (const auto& [name, usage] : machine->foreign_pods) used[id] += usage;
    if (machine->used != used[id]) {
      return StrCat("machine ", machine->uuid, " uses another amount");
    }
    if (std::set<TaskId>(machine->tasks.begin(), machine->tasks.end()) !=
        tasks_on[id]) {
      return StrCat("machine ", machine->uuid, " runs other tasks");
    }
    for (size_t i = 0; i < machine->pus.size(); ++i) {
      const ProcessingUnit& pu = machine->pus[i];
      const std::pair place(id, static_cast<int32_t>(i));
      if (pu.task_count != tasks_on_pu[place] || pu.used != used_on_pu[place]) {
        return StrCat("unit ", pu.uuid, " has other tasks");
      }
    }
  }
  for (const auto& [id, job] : state.jobs()) {
    if (job->task_count != tasks_of_job[id] || job->task_count == 0) {
      return StrCat("job ", job->uuid, " has another number of tasks");
    }
    tasks_of_job.erase(id);
  }
  if (!tasks_of_job.empty()) return "a task's job does not exist";
  for (const auto& [sequence, delta] : state.outbox()) {
    const Task* task = state.FindTask(delta.task);
    if (task == nullptr || task->state != TaskState::kRunning ||
        task->machine != delta.machine) {
      return StrCat("delta ", sequence, " does not tell where its task is");
    }
    if ((delta.type != DeltaType::kPlace) != task->is_evicted) {
      return StrCat("delta ", sequence, " tells the wrong thing of its task");
    }
  }
  return "";
}

}  // namespace sluice
