#include "unit/persist/state_text.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "persist/records.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

class Writer {
 public:
  explicit Writer(const ClusterState& state) : state_(state) {}

  std::string Write() {
    WriteCounters();
    for (const auto& [id, job] : state_.jobs()) {
      Line("job ", id.value, " uuid=", Text(job->uuid),
           " name=", Text(job->name), " gang=", job->gang.minimum,
           " group=", job->is_group, " of ", job->group.value_or(JobId()).value,
           " for ", job->gang.timeout_ms, " tasks=", job->task_count,
           " aborted=", job->aborted_count, " completed=", job->completed_count,
           " started=", job->was_started, " budget=", Text(job->budget),
           " on failure ", static_cast<int>(job->on_failure.action), " ",
           job->on_failure.failures_max, " ", job->on_failure.backoff_ms);
    }
    for (const auto& [id, machine] : state_.machines()) WriteMachine(*machine);
    for (const auto& [id, task] : state_.tasks()) WriteTask(*task);
    WriteQueue();
    for (const auto& [sequence, delta] : state_.outbox()) {
      Line("delta ", sequence, " task=", delta.task.value,
           " type=", static_cast<int>(delta.type),
           " machine=", delta.machine.value, " repeat=", delta.is_repeat);
    }
    return text_;
  }

 private:
  template <class... Args>
  void Line(const Args&... args) {
    text_ += StrCat(args..., '\n');
  }

  static std::string Text(const std::string& text) {
    return Printable(text, 1000);
  }

  std::string Text(const Resources& resources) const {
    std::string text = "{";
    for (const auto& [name, amount] : state_.ToNamed(resources)) {
      text += StrCat(Text(name), "=", amount, ",");
    }
    return text + "}";
  }

  static std::string Text(const LabelPairs& labels) {
    std::string text = "[";
    for (const auto& [key, value] : labels) {
      text += StrCat(Text(key), "=", Text(value), ",");
    }
    return text + "]";
  }

  static std::string Text(const std::vector<LabelRequirement>& requirements) {
    std::string text = "[";
    for (const LabelRequirement& requirement : requirements) {
      text +=
          StrCat(Text(requirement.key), " ", static_cast<int>(requirement.op));
      for (const std::string& value : requirement.values) {
        text += " " + Text(value);
      }
      text += ",";
    }
    return text + "]";
  }

  static std::string Text(const NodeTerm& term) {
    return Text(term.labels) + Text(term.fields);
  }

  static std::string Text(const Owner& owner) {
    return StrCat(Text(owner.kind), "/", Text(owner.uid));
  }

  static std::string Text(const std::vector<HostPort>& ports) {
    std::string text = "[";
    for (const HostPort& port : ports) {
      text += StrCat(Text(port.protocol), "/", Text(port.address), ":",
                     port.port, ",");
    }
    return text + "]";
  }

  static std::string Text(const Toleration& toleration) {
    const int effect =
        toleration.effect ? static_cast<int>(*toleration.effect) : -1;
    std::string text =
        StrCat(Text(toleration.key), " ", static_cast<int>(toleration.op), " ",
               Text(toleration.value), " ", effect);
    if (toleration.seconds) text += StrCat(" for ", *toleration.seconds);
    return text;
  }

  static std::string Text(const PlacementRules& rules) {
    std::string text = Text(rules.selectors) + "required{";
    for (const NodeTerm& term : rules.required) text += Text(term) + ";";
    text += "}preferred{";
    for (const PreferredTerm& preferred : rules.preferred) {
      text += StrCat(preferred.weight, ":", Text(preferred.term), ";");
    }
    text += "}tolerations{";
    for (const Toleration& toleration : rules.tolerations) {
      text += Text(toleration) + ";";
    }
    text += "}ports" + Text(rules.host_ports) + "affinity{";
    for (const PeerTerm& term : rules.affinity) text += Text(term) + ";";
    text += "}anti_affinity{";
    for (const PeerTerm& term : rules.anti_affinity) text += Text(term) + ";";
    text += "}preferred_peers{";
    for (const WeightedPeerTerm& preferred : rules.preferred_peers) {
      text += StrCat(preferred.weight, ":", Text(preferred.term), ";");
    }
    text += "}spread{";
    for (const SpreadConstraint& spread : rules.spread) {
      text +=
          StrCat(Text(spread.term), " ", spread.max_skew, " ",
                 spread.is_required, " ", spread.min_domains, " ",
                 spread.honors_node_affinity, " ", spread.honors_taints, ";");
    }
    text += "}minimums{";
    for (const DomainMinimum& minimum : rules.minimums) {
      text += StrCat(Text(minimum.term), " ", minimum.at_least, ";");
    }
    text += "}";
    if (rules.replaces) text += StrCat("replaces ", rules.replaces->value);
    if (rules.replaces_anywhere) text += " or anywhere ";
    if (rules.keeps_node_rules) text += " keeps node rules ";
    if (rules.keeps_peer_rules) text += " keeps peer rules ";
    if (rules.never_preempts) text += "never preempts ";
    return text + "owner " + Text(rules.owner);
  }

  static std::string Text(const PeerTerm& term) {
    const TaskSelector& tasks = term.tasks;
    std::string text = tasks.labels ? Text(*tasks.labels) : "none";
    text += " in [";
    for (const std::string& name : tasks.namespaces) text += Text(name) + ",";
    text += "]";
    if (tasks.namespace_labels) text += Text(*tasks.namespace_labels);
    return StrCat(text, " job=", Text(tasks.job),
                  " by=", Text(term.topology_key));
  }

  static std::string Text(const std::optional<DisruptionBudget>& budget) {
    if (!budget) return "none";
    const PeerTerm term = {budget->tasks.value_or(TaskSelector()), ""};
    return StrCat(static_cast<int>(budget->limit), " ", budget->amount, " ",
                  budget->is_percent, " ", budget->expected, " ",
                  budget->allowed.value_or(-1), " ",
                  budget->tasks ? Text(term) : "of its job");
  }

  void WriteCounters() {
    const StateCounters& counters = state_.counters();
    Line("counters ", counters.next_job_id, " ", counters.next_machine_id, " ",
         counters.next_task_sequence, " ", counters.next_delta_sequence, " ",
         counters.version);
    for (size_t i = 0; i < state_.resource_count(); ++i) {
      Line("resource ", i, " ", Text(state_.ResourceName(i)));
    }
    Line("departed ", state_.departed_count());
  }

  void WriteMachine(const Machine& machine) {
    Line("machine ", machine.id.value, " uuid=", Text(machine.uuid),
         " name=", Text(machine.name), " present=", machine.is_present,
         " quarantine=", Text(machine.quarantine_reason),
         " draining_from=", machine.draining_from.value_or(-1),
         " claimed=", machine.claimed.size(),
         " allocatable=", Text(machine.allocatable),
         " capacity=", Text(machine.capacity), " used=", Text(machine.used),
         " labels=", Text(machine.labels),
         " ports=", Text(machine.used_host_ports));
    for (const MachineTaint& taint : machine.taints) {
      Line("  taint ", Text(taint.taint.key), "=", Text(taint.taint.value), ":",
           static_cast<int>(taint.taint.effect), " since ", taint.since_ms);
    }
    for (const Owner& owner : machine.avoids) Line("  avoids ", Text(owner));
    for (const ProcessingUnit& pu : machine.pus) {
      Line("  pu ", Text(pu.uuid), " capacity=", Text(pu.capacity),
           " used=", Text(pu.used), " tasks=", pu.task_count,
           " labels=", Text(pu.labels), " numa=", pu.numa_node,
           " bound=", Text(pu.bound));
    }
    for (const NumaNode& node : machine.numa_nodes) {
      Line("  numa ", Text(node.uuid), " capacity=", Text(node.capacity),
           " labels=", Text(node.labels), " bound=", Text(node.bound));
    }
    for (const std::string& uuid : machine.other_uuids) {
      Line("  other ", Text(uuid));
    }
    for (const TaskId id : machine.tasks) Line("  task ", id.value);
    for (const auto& [name, usage] : machine.foreign_pods) {
      Line("  foreign ", Text(name), " ", Text(usage));
    }
  }

  void WriteTask(const Task& task) {
    Line("task ", task.id.value, " job=", task.job.value,
         " state=", static_cast<int>(task.state), " name=", Text(task.name),
         " namespace=", Text(task.task_namespace),
         " priority=", task.class_key.priority,
         " request=", Text(task.class_key.request),
         " labels=", Text(state_.ToPairs(task.labels)),
         " namespace_labels=", Text(task.namespace_labels),
         " type=", task.task_type, " binary=", Text(task.binary),
         " kind=", task.work_kind.value, " cost=", task.preemption_cost,
         " disturbances=", task.disturbances,
         " again=", static_cast<int>(task.runs_again), " after ",
         task.runs_again == RunsAgain::kNo ? 0 : task.lost_on.value,
         " failures=", task.failures, " retry=", task.retry_ms,
         " runs_on=", task.runs_on, " template=", task.is_template,
         " of=", task.made_from.value_or(TaskId()).value,
         " for=", task.made_for.value,
         " quarantine=", Text(task.quarantine_reason),
         " submitted=", task.submitted_ms, " placed=", task.placed_ms,
         " sequence=", task.sequence, " machine=", task.machine.value,
         " pu=", task.pu, " uid=",
         task.client.HoldsUid() ? StrCat(task.client.uid.value) : "none",
         " removals=", task.client.expected_removals,
         " displaced=", task.client.IsDisplaced(), " successor=",
         task.client.successor.has_value()
             ? StrCat(task.client.successor->value)
             : "none",
         " muted=", task.client.IsMuted(), " evicted=", task.is_evicted,
         " owner=", Text(task.owner), " rules=", Text(*task.class_key.rules));
    for (const TaskId id : task.client.earlier_holders)
      Line("  before ", id.value);
  }

  void WriteQueue() {
    ClusterState::ClassMap pending = state_.pending();
    int64_t count = state_.pending_count();
    // The next round decides anew who is held.
    for (const TaskId id : state_.replacements().held()) {
      const Task* task = state_.FindTask(id);
      if (!task->MayRun()) continue;
      pending[task->class_key][task->sequence] = task;
      ++count;
    }
    Line("pending ", count);
    for (const auto& [class_key, tasks] : pending) {
      Line("class ", class_key.priority, " ", Text(class_key.request), " ",
           Text(*class_key.rules));
      for (const auto& [sequence, task] : tasks) {
        Line("  ", sequence, " ", task->id.value);
      }
    }
    for (const TaskId id : state_.unscheduled()) Line("waits ", id.value);
    for (const auto& [retry_ms, id] : state_.requeues().backoffs) {
      Line("waits until ", retry_ms, " ", id.value);
    }
  }

  const ClusterState& state_;
  std::string text_;
};

}  // namespace

std::string StateText(const ClusterState& state) {
  return Writer(state).Write();
}

std::string StoreText(const Store& store) {
  std::string text;
  EXPECT_THAT(store.Scan("",
                         [&](std::string_view key, std::string_view value) {
                           text += StrCat(KeyText(key), " ",
                                          Printable(value, 100000), "\n");
                           return absl::OkStatus();
                         }),
              IsOk());
  return text;
}

ChangeSet EverythingIn(const ClusterState& state) {
  ChangeSet all;
  for (const auto& [id, task] : state.tasks()) all.tasks.insert(id);
  for (const auto& [id, job] : state.jobs()) all.jobs.insert(id);
  for (const auto& [id, machine] : state.machines()) all.machines.insert(id);
  for (const auto& [id, delta] : state.outbox()) all.deltas.insert(id);
  all.counters = state.version() > 0;  // A new store holds not even these.
  return all;
}

}  // namespace sluice
