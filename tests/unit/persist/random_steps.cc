#include "unit/persist/random_steps.h"

#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/drawn_rules.h"

namespace sluice {

RandomSteps::RandomSteps(uint64_t seed)
    : rng_(seed), adoptions_(~seed), is_calm_(rng_.Chance(1, 2)) {}

Step RandomSteps::Next(const ClusterState& state) {
  if (rng_.Chance(1, 3)) {
    if (std::optional<Step> step = Placement(state)) return *std::move(step);
  }
  if (rng_.Chance(1, 20)) {
    if (std::optional<Step> step = Preemption(state)) return *std::move(step);
  }
  if (rng_.Chance(1, 4)) {
    if (std::optional<Step> step = Delivery(state)) return *std::move(step);
  }
  return AnyCommand();
}

std::optional<Step> RandomSteps::Placement(const ClusterState& state) {
  std::vector<PlaceStep> possible;
  for (const auto& [class_key, tasks] : state.pending()) {
    for (const auto& [machine_id, machine] : state.machines()) {
      if (!machine->IsUsable() || !class_key.request.FitsIn(machine->Free())) {
        continue;
      }
      for (const auto& [sequence, task] : tasks) {
        possible.push_back({task->id, machine_id});
      }
    }
  }
  if (possible.empty()) return std::nullopt;
  return possible[rng_.Below(possible.size())];
}

std::optional<Step> RandomSteps::Preemption(const ClusterState& state) {
  std::vector<PreemptStep> possible;
  for (const auto& [id, task] : state.tasks()) {
    // The scheduler leaves machines that went away alone.
    if (task->state == TaskState::kRunning && state.CanPreempt(*task) &&
        !state.IsUntold(id) && state.FindMachine(task->machine)->is_present) {
      possible.push_back({id});
    }
  }
  if (possible.empty()) return std::nullopt;
  PreemptStep step = possible[rng_.Below(possible.size())];
  for (const auto& [id, machine] : state.machines()) {
    if (machine->IsUsable() && id != state.FindTask(step.task)->machine &&
        rng_.Chance(1, 4)) {
      step.target = id;
    }
  }
  return step;
}

std::optional<Step> RandomSteps::Delivery(const ClusterState& state) {
  std::vector<Step> possible;
  for (const auto& [sequence, delta] : state.outbox()) {
    if (delta.is_in_flight) {
      possible.push_back(EndDeliveryStep{sequence, rng_.Chance(2, 3)});
    } else {
      possible.push_back(BeginDeliveryStep{sequence});
    }
  }
  if (possible.empty()) return std::nullopt;
  return possible[rng_.Below(possible.size())];
}

Command RandomSteps::AnyCommand() {
  return rng_.Chance(2, 3) ? TaskCommand() : MachineCommand();
}

Command RandomSteps::TaskCommand() {
  switch (rng_.Below(is_calm_ ? 16 : 8)) {
    case 0:
      return CompleteTask{AnyTask()};
    case 1:
      return FailTask{AnyTask()};
    case 2:
    case 3:
      return RemoveTask{AnyTask()};
    case 4:
      return UpdateTask{AnyTask(), AnyTaskSpec()};
    default: {
      SubmitTask submit;
      submit.uid = AnyTask();
      submit.job_uuid = Name("job", 3);
      submit.job_name = Name("job name", 3);
      submit.gang = AnyGang();
      if (rng_.Chance(1, 4)) submit.budget = AnyBudget();
      if (rng_.Chance(1, 2)) {
        submit.on_failure = {
            .action = static_cast<OnFailure::Action>(rng_.Below(3)),
            .failures_max = static_cast<int32_t>(rng_.Below(4)),
            .backoff_ms = rng_.Between(0, 9)};
      }
      submit.spec = AnyTaskSpec();
      submit.spec.is_template = adoptions_.Chance(1, 20);
      if (adoptions_.Chance(1, 20)) {
        submit.runs_on = StrCat("m", adoptions_.Below(5));
      }
      submit.reject_if_known = rng_.Chance(1, 20);
      return submit;
    }
  }
}

Command RandomSteps::MachineCommand() {
  if (rng_.Chance(1, 20)) return SetDraining{AnyMachine(), rng_.Chance(1, 2)};
  switch (rng_.Below(is_calm_ ? 16 : 8)) {
    case 0:
    case 1:
      return RemoveMachine{AnyMachine(), rng_.Chance(1, 2)};
    case 2:
      return UpdateMachine{AnyMachineSpec()};
    case 3:
    case 4:
      return AddForeignPod{Name("pod", 4), AnyMachine(), Amounts(500)};
    case 5:
      return RemoveForeignPod{Name("pod", 4)};
    case 6:
      return ReportTaskUsage{AnyTask()};
    default:
      AddMachine add = {AnyMachineSpec()};
      while (adoptions_.Chance(1, 8)) {
        add.running.push_back({adoptions_.Below(10)});
      }
      return add;
  }
}

TaskSpec RandomSteps::AnyTaskSpec() {
  TaskSpec spec;
  spec.name = Name("task", 2);
  spec.task_namespace = Name("namespace", 2);
  spec.request = Amounts(1000);
  spec.priority = rng_.Chance(1, 10) ? std::numeric_limits<uint32_t>::max()
                                     : static_cast<uint32_t>(rng_.Below(2));
  spec.labels = Labels();
  spec.namespace_labels = Labels();
  if (rng_.Chance(1, 2)) spec.rules = Rules();
  if (rng_.Chance(1, 2)) spec.owner = AnyOwner();
  spec.task_type = static_cast<int32_t>(rng_.Between(-1, 3));
  // Not drawn, so that the steps of a seed stay what they were.
  if (spec.task_type > 0) spec.binary = StrCat("binary of ", spec.name);
  spec.preemption_cost = static_cast<int32_t>(rng_.Below(2));
  spec.quarantine_reason = Quarantine();
  return spec;
}

DisruptionBudget RandomSteps::AnyBudget() {
  DisruptionBudget budget = {
      .limit = rng_.Chance(1, 2) ? DisruptionBudget::Limit::kMinAvailable
                                 : DisruptionBudget::Limit::kMaxUnavailable,
      .amount = rng_.Between(0, 3),
      .is_percent = rng_.Chance(1, 2),
      .expected = rng_.Between(0, 2)};
  if (rng_.Chance(1, 2)) budget.allowed = rng_.Between(0, 2);
  if (rng_.Chance(1, 2)) budget.tasks = TaskSelector();
  return budget;
}

MachineSpec RandomSteps::AnyMachineSpec() {
  MachineSpec spec;
  spec.uuid = AnyMachine();
  spec.name = Name("machine", 2);
  if (!rng_.Chance(1, 8)) {
    spec.allocatable = Amounts(4000);
    spec.allocatable.emplace_back("pods", rng_.Between(1, 5));
    spec.capacity = Amounts(5000);
  }
  spec.labels = Labels();
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    spec.taints.push_back(AnyTaint());
  }
  spec.taints = InOrder(std::move(spec.taints));
  for (uint64_t count = rng_.Below(2); count > 0; --count) {
    spec.avoids.push_back(AnyOwner());
  }
  spec.avoids = InOrder(std::move(spec.avoids));
  for (uint64_t pu = rng_.Below(3); pu > 0; --pu) {
    // Some of these belong to other machines by then.
    spec.pus.push_back(
        {StrCat(rng_.Chance(1, 10) ? "" : spec.uuid, "/", pu), Amounts(2000)});
  }
  if (rng_.Chance(1, 3)) spec.other_uuids = {spec.uuid + "/core"};
  if (adoptions_.Chance(1, 4)) {
    const std::string uuid = spec.uuid + "/numa";
    spec.numa_nodes = {{uuid, {{"cpu", 1000}}, {{"side", "left"}}}};
    spec.other_uuids.push_back(uuid);
    for (MachineSpec::Pu& pu : spec.pus) {
      pu.labels = {{"core", pu.uuid}};
      if (adoptions_.Chance(1, 2)) pu.numa_node = 0;
    }
  }
  spec.quarantine_reason = Quarantine();
  return spec;
}

NamedAmounts RandomSteps::Amounts(int64_t scale) {
  NamedAmounts amounts;
  for (const char* name :
       {"cpu", "ephemeral-storage", "memory", "x/a", "x/b\xff", "x/c"}) {
    if (rng_.Chance(1, 3)) amounts.emplace_back(name, rng_.Between(0, scale));
  }
  return amounts;
}

LabelPairs RandomSteps::Labels() {
  std::map<std::string, std::string> labels;
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    const std::string key = Name("label", 3);
    labels[key] = Name("value", 3);
  }
  return {labels.begin(), labels.end()};
}

PlacementRules RandomSteps::Rules() {
  PlacementRules rules;
  rules.never_preempts = rng_.Chance(1, 4);
  rules.keeps_node_rules = rng_.Chance(1, 4);
  rules.keeps_peer_rules = rng_.Chance(1, 4);
  rules.selectors = Requirements();
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    rules.required.push_back(Term());
  }
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    rules.preferred.push_back(
        {static_cast<int32_t>(rng_.Between(1, 100)), Term()});
  }
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    rules.tolerations.push_back(AnyToleration());
  }
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    rules.host_ports.push_back(
        TcpPort(static_cast<int32_t>(rng_.Between(1, 3)), Name("address", 2)));
  }
  AddPeerTerms(&rules);
  // Seldom, as few machines meet them.
  if (rng_.Chance(1, 8)) DrawTaskRules(&rng_, &rules);
  return InOrder(std::move(rules));
}

void RandomSteps::AddPeerTerms(PlacementRules* rules) {
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    rules->affinity.push_back(AnyPeerTerm());
  }
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    rules->anti_affinity.push_back(AnyPeerTerm());
  }
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    const auto weight = static_cast<int32_t>(rng_.Between(1, 100));
    rules->preferred_peers.push_back(
        {rng_.Chance(1, 2) ? weight : -weight, AnyPeerTerm()});
  }
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    rules->spread.push_back(
        {.term = AnyPeerTerm(),
         .max_skew = static_cast<int32_t>(rng_.Between(1, 3)),
         .is_required = rng_.Chance(1, 2),
         .min_domains = static_cast<int32_t>(rng_.Between(1, 3)),
         .honors_node_affinity = rng_.Chance(1, 2),
         .honors_taints = rng_.Chance(1, 2)});
  }
  for (uint64_t count = rng_.Below(2); count > 0; --count) {
    rules->minimums.push_back(
        {AnyPeerTerm(), static_cast<int32_t>(rng_.Between(1, 3))});
  }
  if (rng_.Chance(1, 4)) {
    rules->replaces = AnyTask();
    rules->replaces_anywhere = rng_.Chance(1, 2);
  }
}

PeerTerm RandomSteps::AnyPeerTerm() {
  PeerTerm term;
  if (rng_.Chance(3, 4)) term.tasks.labels = Requirements();
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    term.tasks.namespaces.push_back(Name("namespace", 2));
  }
  if (rng_.Chance(1, 2)) term.tasks.namespace_labels = Requirements();
  if (rng_.Chance(1, 4)) term.tasks.job = Name("job name*", 2);
  if (rng_.Chance(1, 2)) term.topology_key = Name("label", 3);
  return term;
}

std::vector<LabelRequirement> RandomSteps::Requirements() {
  std::vector<LabelRequirement> requirements;
  for (uint64_t count = rng_.Below(3); count > 0; --count) {
    const std::string key = Name("label", 3);
    switch (rng_.Below(5)) {
      case 0:
        requirements.push_back(LabelIn(key, {Name("value", 3), "another"}));
        break;
      case 1:
        requirements.push_back(LabelNotIn(key, {Name("value", 3)}));
        break;
      case 2:
        requirements.push_back(LabelExists(key));
        break;
      case 3:
        requirements.push_back(LabelAbove(key, rng_.Between(-2, 2)));
        break;
      default:
        requirements.push_back(LabelInvalid(key, "no sense"));
    }
  }
  return requirements;
}

NodeTerm RandomSteps::Term() {
  NodeTerm term;
  term.labels = Requirements();
  if (rng_.Chance(1, 4)) term.fields = {NameIs(Name("machine", 2))};
  return term;
}

Toleration RandomSteps::AnyToleration() {
  if (rng_.Chance(1, 3)) return ToleratesKey(Name("taint", 2));
  const Taint taint = AnyTaint();
  return rng_.Chance(1, 2) ? Tolerates(taint)
                           : Tolerates(taint, rng_.Between(-1, 300));
}

Taint RandomSteps::AnyTaint() {
  return {Name("taint", 2), Name("value", 2),
          static_cast<TaintEffect>(rng_.Below(4))};
}

Gang RandomSteps::AnyGang() {
  if (rng_.Chance(1, 2)) return {};
  constexpr uint64_t kMinimums[] = {1, 2, Gang::kAllTasks, Gang::kEveryMachine};
  return {kMinimums[rng_.Below(std::size(kMinimums))], rng_.Between(0, 2),
          rng_.Chance(1, 3) ? Name("group", 2) : ""};
}

Owner RandomSteps::AnyOwner() { return {"ReplicaSet", Name("owner", 2)}; }

std::string RandomSteps::Quarantine() {
  return rng_.Chance(1, 10) ? "cpu is not a number" : "";
}

TaskUid RandomSteps::AnyTask() {
  const uint64_t number = rng_.Below(12);
  // Some beyond 2^63: a uid is any 64 bits.
  return {number % 3 == 0 ? ~number : number};
}

std::string RandomSteps::AnyMachine() { return Name("m", 5); }

std::string RandomSteps::Name(const char* prefix, uint64_t count) {
  const uint64_t number = rng_.Below(count);
  // The first is not UTF-8: clients may send any bytes.
  if (number == 0) return StrCat(prefix, "\xff", '\0');
  return StrCat(prefix, number);
}

void EndAllSuccessions(int64_t now_ms, ClusterState* state) {
  state->EndSuccessions(now_ms);  // Sees them: from now on they wait.
  state->EndSuccessions(now_ms + kPredecessorWaitMs);
}

Ack Take(const Step& step, int64_t now_ms, ClusterState* state) {
  if (const auto* command = std::get_if<Command>(&step)) {
    return state->Apply(*command, now_ms);
  }
  if (const auto* place = std::get_if<PlaceStep>(&step)) {
    state->Place(place->task, place->machine, 0);
  } else if (const auto* preempt = std::get_if<PreemptStep>(&step)) {
    if (preempt->target.has_value()) {
      state->Migrate(preempt->task, *preempt->target);
      EndAllSuccessions(now_ms, state);
    } else {
      state->Preempt(preempt->task);
    }
  } else if (const auto* begin = std::get_if<BeginDeliveryStep>(&step)) {
    state->BeginDelivery(begin->sequence);
  } else {
    const auto& end = std::get<EndDeliveryStep>(step);
    state->EndDelivery(end.sequence, end.is_delivered);
  }
  return Ack::kOk;
}

}  // namespace sluice
