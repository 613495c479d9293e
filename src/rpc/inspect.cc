#include "rpc/inspect.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "constraints/domain_shares.h"
#include "constraints/label_match.h"
#include "constraints/named_machine.h"
#include "constraints/named_task.h"
#include "constraints/peer_text.h"
#include "constraints/toleration.h"
#include "core/census.h"
#include "cost/policy_set.h"
#include "explain/cost_terms.h"
#include "explain/explanation.h"
#include "explain/preemption_text.h"
#include "explain/replacement_text.h"
#include "firmament/task_desc.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "messages/fields.h"
#include "rpc/checks.h"
#include "rpc/inspect_costs.h"
#include "rpc/pages.h"
#include "rpc/task_filter.h"

namespace sluice {
namespace {

constexpr int kJobTaskUidsMax = 1000;
constexpr size_t kTaskRuleBytes = 512;  // How much of one rule is shown.
constexpr int kShownRulesMax = 20;      // Of each kind.

// Where a page starts: after the id that its token names, or at the first.
template <class Map, class Id>
absl::StatusOr<typename Map::const_iterator> PageStart(const Map& map,
                                                       const std::string& token,
                                                       Id /*tag*/) {
  if (token.empty()) return map.begin();
  const auto last = ParseNumber<typename Id::rep>(token);
  if (!last.has_value()) return NoPageToken(token);
  return map.upper_bound(Id{*last});
}

void FillResources(const ClusterState& state, const Resources& resources,
                   v1::Resources* message) {
  message->set_cpu_millicores(resources[kCpu]);
  message->set_memory_millibytes(resources[kMemory]);
  message->set_ephemeral_storage_millibytes(resources[kEphemeralStorage]);
  message->set_pods(resources[kPods]);
  for (ResourceIndex i = kBuiltinResourceCount; i < resources.size(); ++i) {
    if (resources[i] == 0) continue;
    (*message->mutable_extended())[state.ResourceName(i)] = resources[i];
  }
}

template <class Message>
void FillLabels(const ClusterState& state, const std::vector<Label>& labels,
                Message* message) {
  for (auto& [key, value] : state.ToPairs(labels)) {
    (*message->mutable_labels())[key] = value;
  }
}

// ---------------------------------------------------------------------------
// Placement rules in words

std::string Shown(std::string_view text) {
  return Printable(text, kShownBytes);
}

std::string TolerationText(const Toleration& toleration) {
  std::string text = toleration.key.empty() ? "*" : Shown(toleration.key);
  switch (toleration.op) {
    case TolerationOperator::kEqual:
      text += StrCat("=", Shown(toleration.value));
      break;
    case TolerationOperator::kExists:
      break;
    case TolerationOperator::kUnknown:
      text += " (tolerates nothing)";
      break;
  }
  if (toleration.effect.has_value()) {
    text += TaintText({.effect = *toleration.effect});
  }
  if (toleration.seconds.has_value()) {
    text += StrCat(" for ", *toleration.seconds, "s");
  }
  return text;
}

std::string RuleText(const LabelRequirement& requirement) {
  return RequirementText(requirement);
}

std::string RuleText(const NodeTerm& term) { return TermsText({&term, 1}); }

std::string RuleText(const PreferredTerm& preferred) {
  return StrCat(preferred.weight, ": ", RuleText(preferred.term));
}

std::string RuleText(const Toleration& toleration) {
  return TolerationText(toleration);
}

std::string RuleText(const HostPort& port) {
  return StrCat(port.protocol, " ", Shown(port.address), ":", port.port);
}

std::string RuleText(const PeerTerm& term) {
  return PeersText({&term.tasks, 1}, term.topology_key);
}

std::string RuleText(const WeightedPeerTerm& preferred) {
  return StrCat(preferred.weight, ": ", RuleText(preferred.term));
}

std::string RuleText(const SpreadConstraint& spread) {
  return SpreadText(spread);
}

std::string RuleText(const DomainMinimum& minimum) {
  return MinimumText(minimum);
}

// One row for each kind.
void ShowTaskRules(const firmament::TaskRules& rules, v1::Task* message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.SetTruncateStringFieldLongerThan(kShownBytes);
  const google::protobuf::Reflection& reflection = *rules.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> kinds;
  reflection.ListFields(rules, &kinds);
  for (const google::protobuf::FieldDescriptor* kind : kinds) {
    v1::TaskRule* shown = message->add_rules();
    shown->set_name(kind->name());
    const int size = reflection.FieldSize(rules, kind);
    for (int i = 0; i < std::min(size, kShownRulesMax); ++i) {
      std::string text;
      printer.PrintToString(reflection.GetRepeatedMessage(rules, kind, i),
                            &text);
      shown->add_texts(Printable(text, kTaskRuleBytes));
    }
    if (size > kShownRulesMax) {
      shown->add_texts(StrCat("and ", size - kShownRulesMax, " more"));
    }
  }
}

void FillRules(const PlacementRules& rules, v1::Task* message) {
#define RULE_LIST(field, Element, order, words, shown, ...) \
  for (const Element& rule : rules.field) {                 \
    message->add_##shown(RuleText(rule));                   \
  }
#include "sluice/state/placement_rules.def"
  firmament::TaskRules stated;
  WriteFields(rules, &stated);
  ShowTaskRules(stated, message);
}

// "" if it replaces none.
std::string ReplacesText(const ClusterState& state, const Task& task) {
  const std::optional<TaskUid> former = task.class_key.rules->replaces;
  if (!former.has_value()) return "";
  const Task* found = state.FindHolder(*former);
  if (found == nullptr) return StrCat(former->value, ", which is not known");
  return StrCat(
      former->value, " ", Shown(found->name),
      found->state == TaskState::kRunning ? "" : ", which does not run");
}

v1::Machine::Condition ConditionOf(const Machine& machine) {
  if (!machine.is_present) return v1::Machine::DEPARTED;
  if (!machine.IsSound()) return v1::Machine::QUARANTINED;
  if (machine.is_stale) return v1::Machine::STALE;
  return machine.IsDraining() ? v1::Machine::DRAINING : v1::Machine::READY;
}

void FillMachine(const ClusterState& state, const Machine& machine,
                 v1::Machine* message) {
  message->set_uuid(machine.uuid);
  message->set_name(machine.name);
  message->set_condition(ConditionOf(machine));
  message->set_quarantine_reason(machine.quarantine_reason);
  FillResources(state, machine.allocatable, message->mutable_allocatable());
  FillResources(state, machine.used, message->mutable_used());
  message->set_running_tasks(static_cast<int64_t>(machine.tasks.size()));
  message->set_foreign_pods(static_cast<int64_t>(machine.foreign_pods.size()));
  for (const auto& [key, value] : machine.labels) {
    (*message->mutable_labels())[key] = value;
  }
  for (const ProcessingUnit& pu : machine.pus) {
    message->add_pu_uuids(pu.uuid);
  }
  for (const MachineTaint& taint : machine.taints) {
    message->add_taints(TaintText(taint.taint));
  }
  for (const HostPort& port : machine.used_host_ports) {
    message->add_host_ports(RuleText(port));
  }
  if (machine.is_measured) {
    FillResources(state, machine.reclaimed, message->mutable_reclaimed());
  }
}

int64_t AgeMs(const CoreView& view, int64_t at_ms) {
  return std::max<int64_t>(view.now_ms - at_ms, 0);
}

void FillUsage(const CoreView& view, const Machine& machine,
               v1::Machine* message) {
  const auto ratio = [](int64_t ppm) { return static_cast<double>(ppm) / 1e6; };
  for (const MachineUsage& sample : machine.usage.samples()) {
    v1::MachineSample* told = message->add_usage();
    told->set_age_ms(AgeMs(view, sample.at_ms));
    told->set_cpu_ratio(ratio(sample.cpu_ppm));
    told->set_memory_ratio(ratio(sample.memory_ppm));
    told->set_net_rx_kb(sample.net_rx_kb);
    told->set_net_tx_kb(sample.net_tx_kb);
  }
}

v1::FeedState::State StateOf(FeedStatus::State state) {
  switch (state) {
    case FeedStatus::State::kSnapshot:
      return v1::FeedState::SNAPSHOT;
    case FeedStatus::State::kLive:
      return v1::FeedState::LIVE;
    case FeedStatus::State::kLost:
      return v1::FeedState::LOST;
    case FeedStatus::State::kSettling:
      return v1::FeedState::SETTLING;
    case FeedStatus::State::kStandby:
      return v1::FeedState::STANDBY;
    case FeedStatus::State::kAway:
      break;
  }
  return v1::FeedState::AWAY;
}

void FillTask(const CoreView& view, const Task& task, v1::Task* message) {
  const ClusterState& state = view.scheduler.state();
  message->set_uid(task.ShownUid());
  message->set_name(task.name);
  message->set_namespace_(task.task_namespace);
  const Job* job = state.FindJob(task.job);
  if (job != nullptr) message->set_job_uuid(job->uuid);
  message->set_state(ShownStateOf(task));
  message->set_quarantine_reason(task.quarantine_reason);
  if (task.state == TaskState::kRunning) {
    const Machine* machine = state.FindMachine(task.machine);
    message->set_machine_uuid(machine->uuid);
    message->set_machine_name(machine->name);
    message->set_resource_id(machine->ResourceUuid(task.pu));
    if (task.usage.at_ms != 0) {
      v1::TaskSample* sample = message->mutable_usage();
      sample->set_age_ms(AgeMs(view, task.usage.at_ms));
      sample->set_cpu_millicores(task.usage.cpu);
      sample->set_memory_millibytes(task.usage.memory);
    }
  }
  FillResources(state, task.class_key.request, message->mutable_request());
  message->set_priority(task.class_key.priority);
  message->set_stated_priority(task.class_key.priority);
  FillLabels(state, task.labels, message);
  if (task.state == TaskState::kPending) {
    message->set_waiting_ms(AgeMs(view, task.submitted_ms));
    message->set_runs_again(RunsAgainText(task, state, view.now_ms));
  }
  message->set_expected_removals(task.client.expected_removals);
  FillRules(*task.class_key.rules, message);
  message->set_evicted(task.is_evicted);
  message->set_replaces(ReplacesText(state, task));
  if (task.client.IsOfFeed()) {
    const Feed& feed = state.feeds().at(task.client.feed);
    message->set_feed(feed.name);
    message->set_feed_task_id(task.client.feed_task_id);
    message->set_stated_priority(int64_t{task.class_key.priority} -
                                 feed.priority_zero);
    message->set_is_foreign(task.is_foreign);
  }
}

std::string GangText(const Gang& gang) {
  switch (gang.minimum) {
    case 0:
      return "";
    case Gang::kAllTasks:
      return "all that are known";
    case Gang::kEveryMachine:
      return "one on every machine that they may run on";
    default:
      return StrCat("at least ", gang.minimum);
  }
}

std::string OnFailureText(const OnFailure& on_failure) {
  switch (on_failure.action) {
    case OnFailure::Action::kUnset:
      return "";
    case OnFailure::Action::kRequeue:
      return StrCat("requeue, at most ", on_failure.failures_max,
                    " times each, after ", on_failure.backoff_ms / 1000,
                    " s at first");
    case OnFailure::Action::kNever:
      break;
  }
  return "never run again";
}

void CountTask(const Task& task, v1::Job* job) {
  if (task.retry_ms != 0) job->set_backoff_tasks(job->backoff_tasks() + 1);
  switch (ShownStateOf(task)) {
    case v1::Task::PENDING:
    case v1::Task::MUTED:
    case v1::Task::STALE:
      job->set_pending_tasks(job->pending_tasks() + 1);
      break;
    case v1::Task::RUNNING:
      job->set_running_tasks(job->running_tasks() + 1);
      break;
    case v1::Task::COMPLETED:
      job->set_completed_tasks(job->completed_tasks() + 1);
      break;
    case v1::Task::FAILED:
      job->set_failed_tasks(job->failed_tasks() + 1);
      break;
    case v1::Task::QUARANTINED:
      job->set_quarantined_tasks(job->quarantined_tasks() + 1);
      break;
    case v1::Task::TEMPLATE:
    case v1::Task::STATE_UNSPECIFIED:
    case v1::Task_State_Task_State_INT_MIN_SENTINEL_DO_NOT_USE_:
    case v1::Task_State_Task_State_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  if (job->task_uids_size() < kJobTaskUidsMax) {
    job->add_task_uids(task.ShownUid());
    job->add_task_ids(IdAtClient(task));
  }
}

// Finds a task by its uid in decimal, else by its id, else by the id that its
// feed gave it, else by name.  If several have the name, finds the one with the
// lowest id.
const Task* FindTask(const ClusterState& state,
                     const std::string& uid_or_name) {
  const auto is_known = [](const Task* task) {
    return task != nullptr && task->state != TaskState::kRemoved;
  };
  if (const auto uid = ParseNumber<uint64_t>(uid_or_name)) {
    const Task* task = state.FindHolder({*uid});
    if (is_known(task)) return task;
    task = state.FindTask(TaskId{*uid});
    if (is_known(task)) return task;
  }
  // Bridges ask by these ids, and often.
  for (const auto& [id, feed] : state.feeds()) {
    const auto it = feed.tasks.find(uid_or_name);
    if (it == feed.tasks.end()) continue;
    const Task* task = state.FindTask(it->second);
    if (is_known(task)) return task;
  }
  for (const auto& [id, task] : state.tasks()) {
    if (is_known(task.get()) && task->name == uid_or_name) return task.get();
  }
  return nullptr;
}

std::string DisplacedText(const CoreView& view, const Task& task) {
  if (!task.client.successor.has_value()) {
    return "its client gave its uid to another task, and has not submitted it "
           "again";
  }
  const Task* successor =
      view.scheduler.state().FindTask(*task.client.successor);
  return StrCat("its client gave its uid ", successor->client.uid.value,
                " to '", successor->name, "'");
}

std::string TemplateText(const Task& task, const ClusterState& state) {
  int64_t running = 0;
  int64_t waiting = 0;
  for (const auto& [machine, id] : state.templates().MadeFrom(task.id)) {
    const TaskState made = state.FindTask(id)->state;
    if (made == TaskState::kRunning) ++running;
    if (made == TaskState::kPending) ++waiting;
  }
  return StrCat("is a template that makes one task for each machine that its ",
                "rules allow; ", running, " of these run and ", waiting,
                " wait");
}

std::string HeldText(const Feed& feed) {
  if (feed.is_standby) {
    return StrCat("the client of its feed '", feed.name,
                  "' stands by: another client leads, and its daemon decides");
  }
  return StrCat("the client of its feed '", feed.name,
                "' is not connected, or has not yet stated everything");
}

std::string NotWaiting(const CoreView& view, const Task& task) {
  switch (task.state) {
    case TaskState::kPending:
      if (task.client.IsDisplaced()) return DisplacedText(view, task);
      if (task.client.IsMuted()) {
        return "its client has removed another task with the same uid, and no "
               "longer knows the uid until it submits it again";
      }
      if (task.client.is_stale && task.client.IsOfFeed()) {
        return HeldText(view.scheduler.state().feeds().at(task.client.feed));
      }
      if (task.client.is_stale) {
        return "its client began anew, and has not submitted it again";
      }
      if (!task.quarantine_reason.empty()) {
        return StrCat("quarantined: ", task.quarantine_reason);
      }
      if (task.is_template) return TemplateText(task, view.scheduler.state());
      if (!task.runs_on.empty()) {
        return StrCat("runs on '", Shown(task.runs_on),
                      "', as its client says, but no machine or part with that "
                      "uuid has been announced; it counts as placed there once "
                      "one is");
      }
      if (task.retry_ms != 0) {
        return RunsAgainText(task, view.scheduler.state(), view.now_ms);
      }
      return task.is_held ? ReplacementText(task, view.scheduler) : "";
    case TaskState::kRunning: {
      const Machine* machine = view.scheduler.state().FindMachine(task.machine);
      return StrCat("runs on ", NamedMachine(*machine),
                    machine->is_present ? "" : ", which has gone away",
                    machine->IsDraining() ? ", which is draining" : "",
                    LeavingText(task, view.scheduler),
                    task.client.IsDisplaced()
                        ? StrCat("; ", DisplacedText(view, task))
                        : "",
                    PlacementText(task, *machine, view.scheduler.policies(),
                                  view.last_round),
                    MinimumsText(view.scheduler.state(), task.class_key),
                    KindText(*task.class_key.rules));
    }
    case TaskState::kCompleted:
      return "completed";
    case TaskState::kFailed:
      return "failed";
    case TaskState::kRemoved:
      break;
  }
  return "removed";
}

void FillExplanation(const ClusterState& state, const Explanation& explanation,
                     v1::TaskExplanation* message) {
  message->set_summary(explanation.summary);
  message->set_machines(explanation.machines);
  message->set_feasible_machines(explanation.feasible_machines);
  for (const Explanation::Count& count : explanation.reasons) {
    v1::Reason* reason = message->add_reasons();
    reason->set_code(count.code);
    reason->set_text(count.text);
    reason->set_machines(count.machines);
  }
  for (const Explanation::NearMiss& miss : explanation.nearest) {
    v1::NearMiss* nearest = message->add_nearest();
    const Machine* machine = state.FindMachine(miss.machine);
    nearest->set_machine_uuid(machine->uuid);
    nearest->set_machine_name(machine->name);
    nearest->set_lacks(miss.lacks);
  }
  message->set_waiting_cost(explanation.waiting_cost);
}

// The priority that all feeds' clients call 0; 0 if they differ.
uint32_t CommonPriorityZero(const ClusterState& state) {
  std::set<uint32_t> zeros;
  for (const auto& [id, feed] : state.feeds()) {
    // Not stored: unknown before the first snapshot since the daemon started.
    if (feed.snapshot > 0) zeros.insert(feed.priority_zero);
  }
  return zeros.size() == 1 ? *zeros.begin() : 0;
}

void FillLevels(const ClusterState& state, const RoundStats& stats,
                v1::Round* round) {
  const int64_t zero = CommonPriorityZero(state);
  for (size_t i = 0; i < stats.levels.size(); ++i) {
    const auto& [lowest, highest] = stats.levels[i];
    v1::RoundLevel* level = round->add_levels();
    if (lowest.has_value()) level->set_lowest_priority(*lowest - zero);
    if (highest.has_value()) level->set_highest_priority(*highest - zero);
    level->set_waiting_cost(stats.cost.waiting[i]);
    if (!stats.is_bound_known) continue;
    level->set_waiting_cost_bound(stats.bound.waiting[i]);
    level->set_gap_ratio(*stats.WaitingGap(i, i + 1));
  }
}

// A cost of 0 is proved as soon as it is computed, so without a bound a cost of
// 0 means that none was computed.
bool IsCostKnown(const RoundStats& stats) {
  return stats.is_bound_known || stats.cost > PackingCost();
}

void FillRound(const ClusterState& state, const RoundStats& stats,
               v1::Round* round) {
  round->set_number(stats.number);
  round->set_passes(stats.passes);
  round->set_placed(stats.placed);
  round->set_pending(stats.pending);
  round->set_refused(stats.refused);
  round->set_preempted(stats.preempted);
  round->set_moved(stats.moved);
  if (stats.stop_gap.has_value()) round->set_stop_gap_ratio(*stats.stop_gap);
  round->set_nominated(stats.nominated);
  round->set_build_us(stats.build_us);
  round->set_solve_us(stats.solve_us);
  round->set_commit_us(stats.commit_us);
  round->set_total_us(stats.total_us);
  if (IsCostKnown(stats)) {
    round->set_waiting_cost(stats.cost.waiting.Sum());
    round->set_placement_cost(stats.cost.placed);
  }
  round->set_is_bound_known(stats.is_bound_known);
  if (stats.is_bound_known) {
    round->set_waiting_cost_bound(stats.bound.waiting.Sum());
    round->set_placement_cost_bound(stats.bound.placed);
    round->set_gap_ratio(*stats.Gap());
    if (const auto gap = stats.PlacementGap()) {
      round->set_placement_gap_ratio(*gap);
    }
  }
  FillLevels(state, stats, round);
}

}  // namespace

v1::Status InspectStatus(const CoreView& view, const DaemonInfo& daemon,
                         int64_t now_us) {
  const ClusterState& state = view.scheduler.state();
  const Census census = TakeCensus(state);
  v1::Status status;
  status.set_version(daemon.version);
  status.set_uptime_ms((now_us - daemon.ready_us) / 1000);
  status.set_state_version(state.version());
  status.set_machines(census.usable_machines);
  status.set_departed_machines(census.departed_machines);
  status.set_quarantined_machines(census.quarantined_machines);
  status.set_jobs(census.jobs);
  status.set_pending_tasks(census.pending_tasks);
  status.set_running_tasks(census.running_tasks);
  status.set_finished_tasks(census.completed_tasks + census.failed_tasks);
  status.set_quarantined_tasks(census.quarantined_tasks);
  status.set_muted_tasks(census.muted_tasks + census.displaced_tasks);
  status.set_stale_machines(census.stale_machines);
  status.set_draining_machines(census.draining_machines);
  status.set_overcommitted_machines(census.overcommitted_machines);
  status.set_namesake_machines(census.namesake_machines);
  status.set_stale_tasks(census.stale_tasks);
  status.set_undelivered_deltas(census.undelivered_deltas);
  FillResources(state, census.allocatable, status.mutable_allocatable());
  FillResources(state, census.used, status.mutable_used());
  FillRound(state, view.last_round, status.mutable_last_round());
  for (const std::string& name : daemon.cost_models) {
    status.add_cost_models(name);
  }
  status.set_store(daemon.store);
  if (daemon.replicas) daemon.replicas(status.mutable_replicas());
  for (const FeedStatus& feed : view.feeds.List()) {
    v1::FeedState* message = status.add_feeds();
    message->set_name(feed.name);
    message->set_state(StateOf(feed.state));
    message->set_since_ms(std::max<int64_t>(now_us - feed.since_us, 0) / 1000);
    message->set_tasks(feed.tasks);
    message->set_untold_deltas(feed.untold_deltas);
    message->set_unconfirmed_deltas(feed.unconfirmed_deltas);
    message->set_holder(feed.term.holder);
    message->set_term(feed.term.number);
  }
  return status;
}

absl::Status InspectMachines(const CoreView& view,
                             const v1::ListMachinesRequest& request,
                             v1::ListMachinesResponse* response) {
  const ClusterState& state = view.scheduler.state();
  ASSIGN_OR_RETURN(const int size, PageSize(request.page_size()));
  ASSIGN_OR_RETURN(
      auto it, PageStart(state.machines(), request.page_token(), MachineId{}));
  PageRoom room(size);
  MachineId last;
  for (; it != state.machines().end(); ++it) {
    // Gone, with nothing left on it.  It is kept only so that its return, or a
    // late report about it, is understood.
    if (!it->second->is_present && it->second->IsEmpty()) continue;
    if (room.IsFull()) {
      response->set_next_page_token(StrCat(last.value));
      break;
    }
    last = it->first;
    v1::Machine* message = response->add_machines();
    FillMachine(state, *it->second, message);
    if (request.with_usage()) FillUsage(view, *it->second, message);
    room.Add(*message);
  }
  return absl::OkStatus();
}

absl::Status InspectTasks(const CoreView& view,
                          const v1::ListTasksRequest& request,
                          v1::ListTasksResponse* response) {
  const ClusterState& state = view.scheduler.state();
  ASSIGN_OR_RETURN(const int size, PageSize(request.page_size()));
  ASSIGN_OR_RETURN(const TaskFilter filter, TaskFilter::Of(state, request));
  PageRoom room(size);
  TaskId last;
  // Adds the task to the page.  Returns false if the page is full.
  const auto add = [&](const Task& task) {
    if (!filter.Takes(task)) return true;
    if (room.IsFull()) {
      response->set_next_page_token(StrCat(last.value));
      return false;
    }
    last = task.id;
    v1::Task* message = response->add_tasks();
    FillTask(view, task, message);
    room.Add(*message);
    return true;
  };
  if (request.pending_only()) {
    ASSIGN_OR_RETURN(auto it, PageStart(state.unscheduled(),
                                        request.page_token(), TaskId{}));
    while (it != state.unscheduled().end() && add(*state.FindTask(*it))) ++it;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(auto it,
                   PageStart(state.tasks(), request.page_token(), TaskId{}));
  for (; it != state.tasks().end(); ++it) {
    if (it->second->state == TaskState::kRemoved) continue;
    if (!add(*it->second)) break;
  }
  return absl::OkStatus();
}

// As far as is known: of the tasks that a client removed, only the number is
// kept.
v1::Job::State StateOf(const Job& job, const v1::Job& counted) {
  const int64_t ended =
      counted.completed_tasks() + counted.failed_tasks() + job.aborted_count;
  if (counted.running_tasks() > 0) return v1::Job::RUNNING;
  if (counted.pending_tasks() + counted.quarantined_tasks() > 0) {
    return ended > 0 ? v1::Job::RUNNING : v1::Job::CREATED;
  }
  if (counted.failed_tasks() > 0) return v1::Job::FAILED;
  return job.aborted_count > 0 ? v1::Job::ABORTED : v1::Job::COMPLETED;
}

absl::Status InspectJob(const CoreView& view, const v1::GetJobRequest& request,
                        v1::Job* response) {
  const ClusterState& state = view.scheduler.state();
  const auto& jobs = state.jobs();
  const auto find = [&](std::string Job::*field) {
    return std::ranges::find_if(jobs, [&](const auto& entry) {
      return (*entry.second).*field == request.job();
    });
  };
  auto it = find(&Job::uuid);
  if (it == jobs.end()) it = find(&Job::name);
  if (it == jobs.end()) {
    return absl::NotFoundError(
        StrCat("job '", Printable(request.job(), kShownBytes), "' is unknown"));
  }
  const Job& job = *it->second;
  response->set_uuid(job.uuid);
  response->set_name(job.name);
  const Job* group =
      job.group.has_value() ? state.FindJob(*job.group) : nullptr;
  if (group != nullptr) response->set_gang_group(group->uuid);
  response->set_gang(GangText(group == nullptr ? job.gang : group->gang));
  response->set_on_failure(OnFailureText(job.on_failure));
  for (const auto& [id, task] : state.tasks()) {
    if (task->state == TaskState::kRemoved) continue;
    if (task->job == job.id ||
        (job.is_group && state.FindJob(task->job)->group == job.id)) {
      CountTask(*task, response);
    }
  }
  response->set_state(StateOf(job, *response));
  return absl::OkStatus();
}

void InspectPolicies(const DaemonInfo& daemon,
                     v1::ListPoliciesResponse* response) {
  for (const CostModelEntry& entry : CostModels()) {
    v1::ListPoliciesResponse::Policy* policy = response->add_policies();
    policy->set_name(std::string(entry.name));
    policy->set_summary(std::string(entry.summary));
    policy->set_reads(std::string(entry.reads));
    policy->set_in_force(std::ranges::count(daemon.cost_models, entry.name) >
                         0);
  }
}

absl::Status InspectTask(const CoreView& view,
                         const v1::ExplainTaskRequest& request,
                         v1::TaskExplanation* response) {
  const ClusterState& state = view.scheduler.state();
  const Task* task = FindTask(state, request.task());
  if (task == nullptr) {
    return absl::NotFoundError(StrCat(
        "task '", Printable(request.task(), kShownBytes), "' is unknown"));
  }
  FillTask(view, *task, response->mutable_task());
  const std::string not_waiting = NotWaiting(view, *task);
  if (!not_waiting.empty()) {
    response->set_summary(not_waiting);
    FillCosts(state, FindCostTerms(*task, view.scheduler),
              view.scheduler.policies().names(), response);
    return absl::OkStatus();
  }
  FillExplanation(state, Explain(*task, view.scheduler, view.now_ms), response);
  response->mutable_summary()->append(
      WaitingGapText(view.last_round, task->class_key.priority));
  return absl::OkStatus();
}

}  // namespace sluice
