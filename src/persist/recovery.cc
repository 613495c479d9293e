#include "persist/recovery.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "persist/damage.h"
#include "persist/records.h"
#include "persist/sealed_value.h"
#include "persist/stored_rules.h"
#include "sluice/v1/store.pb.h"

namespace sluice {
namespace {

using StoredAmounts = google::protobuf::RepeatedPtrField<v1::StoredAmount>;
using StoredLabels = google::protobuf::RepeatedPtrField<v1::StoredLabel>;

absl::Status ContradictionIf(bool is_contradiction, std::string_view what) {
  if (!is_contradiction) return absl::OkStatus();
  return absl::DataLossError(std::string(what));
}

template <class Message>
absl::Status Parse(std::string_view key, std::string_view value,
                   Message* message) {
  ASSIGN_OR_RETURN(const std::string_view bytes, Unseal(key, value));
  if (bytes.size() > INT_MAX ||
      !message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("not a message of the kind in its key");
  }
  return absl::OkStatus();
}

absl::StatusOr<LabelPairs> ToPairs(const StoredLabels& stored) {
  LabelPairs pairs;
  pairs.reserve(static_cast<size_t>(stored.size()));
  for (const v1::StoredLabel& label : stored) {
    RETURN_IF_ERROR(
        ContradictionIf(!pairs.empty() && pairs.back().first > label.key(),
                        "its labels are out of order"));
    pairs.emplace_back(label.key(), label.value());
  }
  return pairs;
}

// Stored amounts include the task's own pod, but what a client states does not.
// (A task that never had a valid description does not have even that pod.)
NamedAmounts WithoutOnePod(NamedAmounts amounts) {
  const auto pods = std::ranges::find(amounts, "pods", [](const auto& amount) {
    return std::string_view(amount.first);
  });
  if (pods == amounts.end()) {
    amounts.emplace_back("pods", -1);
  } else {
    --pods->second;
  }
  return amounts;
}

// The key under which a message belongs.
std::string KeyOf(const v1::StoredCounters&) { return CountersKey(); }
std::string KeyOf(const v1::StoredJob& job) { return JobKey({job.job_id()}); }
std::string KeyOf(const v1::StoredMachine& machine) {
  return MachineKey({machine.machine_id()});
}
std::string KeyOf(const v1::StoredTask& task) { return TaskKey({task.uid()}); }
std::string KeyOf(const v1::StoredDelta& delta) {
  return DeltaKey(delta.sequence());
}

ClientHandle ClientOf(const v1::StoredTask& stored) {
  ClientHandle client;
  client.uid = {stored.has_client_uid() ? stored.client_uid() : stored.uid()};
  client.expected_removals = stored.expected_removals();
  for (const uint64_t id : stored.earlier_holders()) {
    client.earlier_holders.push_back({id});
  }
  if (stored.is_displaced()) {
    client.uid_standing = UidStanding::kDisplaced;
  } else if (stored.is_muted()) {
    client.uid_standing = UidStanding::kMuted;
  }
  client.announcement = stored.announcement();
  client.feed = {stored.feed_id()};
  client.feed_task_id = stored.feed_task_id();
  return client;
}

// One recovery: takes the records in the order of their keys.
class Recovery {
 public:
  // `state` must outlive it.
  explicit Recovery(ClusterState* state) : state_(*state) {}

  absl::Status Add(std::string_view key, std::string_view value);
  absl::Status Finish();

 private:
  absl::Status AddRecord(std::string_view key, std::string_view value);
  template <class Message>
  absl::Status AddAs(std::string_view key, std::string_view value);
  absl::Status AddMessage(const v1::StoredCounters& stored);
  absl::Status AddMessage(const v1::StoredJob& stored);
  absl::Status AddMessage(const v1::StoredMachine& stored);
  absl::Status AddMessage(const v1::StoredTask& stored);
  absl::Status AddMessage(const v1::StoredDelta& stored);

  absl::StatusOr<NamedAmounts> ToNamed(const StoredAmounts& stored);
  // For formats before 4.
  absl::Status AddUnnamedHolders(const v1::StoredTask& stored);

  ClusterState& state_;
  std::optional<StateCounters> counters_;
  // The queue would lose one of two tasks with the same sequence.
  absl::flat_hash_set<uint64_t> task_sequences_;
  struct UnnamedHolder {
    TaskId uid;
    std::optional<MachineId> machine;
    TaskSpec load;
  };
  std::vector<UnnamedHolder> unnamed_holders_;
  // The last one of each kind.  The next one reuses its memory.
  std::tuple<v1::StoredCounters, v1::StoredJob, v1::StoredMachine,
             v1::StoredTask, v1::StoredDelta>
      messages_;
};

absl::Status Recovery::Add(std::string_view key, std::string_view value) {
  const absl::Status status = AddRecord(key, value);
  if (status.ok()) return absl::OkStatus();
  return Annotate(status, StrCat("record ", KeyText(key)));
}

absl::Status Recovery::AddRecord(std::string_view key, std::string_view value) {
  const auto kind = key.empty() ? RecordKind{} : RecordKind{key.front()};
  if (!counters_.has_value() && kind != RecordKind::kCounters) {
    return absl::DataLossError("the counters, which come first, are missing");
  }
  switch (kind) {
    case RecordKind::kCounters:
      return AddAs<v1::StoredCounters>(key, value);
    case RecordKind::kJob:
      return AddAs<v1::StoredJob>(key, value);
    case RecordKind::kMachine:
      return AddAs<v1::StoredMachine>(key, value);
    case RecordKind::kTask:
      return AddAs<v1::StoredTask>(key, value);
    case RecordKind::kDelta:
      return AddAs<v1::StoredDelta>(key, value);
  }
  return absl::DataLossError("its kind is unknown");
}

template <class Message>
absl::Status Recovery::AddAs(std::string_view key, std::string_view value) {
  Message& message = std::get<Message>(messages_);
  RETURN_IF_ERROR(Parse(key, value, &message));
  RETURN_IF_ERROR(ContradictionIf(KeyOf(message) != key,
                                  "its key and its content differ in id"));
  return AddMessage(message);
}

absl::Status Recovery::AddMessage(const v1::StoredCounters& stored) {
  if (stored.format() < kRecordFormatMin || stored.format() > kRecordFormat) {
    return absl::FailedPreconditionError(
        StrCat("the store has format ", stored.format(),
               ", but this daemon reads formats ", kRecordFormatMin, " to ",
               kRecordFormat));
  }
  counters_ = StateCounters{.next_job_id = stored.next_job_id(),
                            .next_machine_id = stored.next_machine_id(),
                            .next_task_sequence = stored.next_task_sequence(),
                            .next_delta_sequence = std::max(
                                stored.next_delta_sequence(), uint64_t{1}),
                            .version = stored.version(),
                            .next_feed_id = std::max(stored.next_feed_id(), 1U),
                            .last_own_task_id = stored.last_own_task_id(),
                            .announcement = stored.announcement(),
                            .stale_below = stored.stale_below(),
                            .announcement_ms = stored.announcement_ms()};
  for (const v1::StoredFeed& feed : stored.feeds()) {
    RETURN_IF_ERROR(ContradictionIf(
        feed.feed_id() == 0 || feed.feed_id() >= counters_->next_feed_id,
        "the id of a feed has not been assigned yet"));
    RETURN_IF_ERROR(state_.RestoreFeed({.id = {feed.feed_id()},
                                        .name = feed.name(),
                                        .term = {.lease = feed.lease(),
                                                 .number = feed.term(),
                                                 .holder = feed.holder()},
                                        .is_standby = feed.is_standby()}));
  }
  for (const std::string& name : stored.extended_resources()) {
    RETURN_IF_ERROR(state_.RestoreResourceName(name));
  }
  return absl::OkStatus();
}

absl::StatusOr<OnFailure> ToOnFailure(const v1::StoredOnFailure& stored) {
  RETURN_IF_ERROR(ContradictionIf(
      stored.action() < static_cast<int>(OnFailure::Action::kUnset) ||
          stored.action() > static_cast<int>(OnFailure::Action::kNever),
      "its action for failed tasks is unknown"));
  RETURN_IF_ERROR(
      ContradictionIf(stored.failures_max() < 0 || stored.backoff_ms() < 0 ||
                          stored.backoff_ms() > kBackoffMaxMs,
                      "its failure limit or backoff is out of range"));
  return OnFailure{static_cast<OnFailure::Action>(stored.action()),
                   stored.failures_max(), stored.backoff_ms()};
}

absl::Status AddRequeue(const v1::StoredTask& stored, Task* task) {
  RETURN_IF_ERROR(ContradictionIf(
      stored.runs_again() < static_cast<int>(RunsAgain::kNo) ||
          stored.runs_again() > static_cast<int>(RunsAgain::kFailed),
      "the reason why it runs again is unknown"));
  RETURN_IF_ERROR(ContradictionIf(
      stored.failures() < 0 ||
          stored.failures() == std::numeric_limits<int32_t>::max(),
      "its number of failures is out of range"));
  RETURN_IF_ERROR(ContradictionIf(
      stored.retry_ms() < 0 ||
          (stored.retry_ms() > 0 && task->state != TaskState::kPending),
      "it has a backoff but is not pending"));
  task->runs_again = static_cast<RunsAgain>(stored.runs_again());
  task->lost_on = {stored.lost_on()};
  task->failures = stored.failures();
  task->retry_ms = stored.retry_ms();
  return absl::OkStatus();
}

absl::Status Recovery::AddMessage(const v1::StoredJob& stored) {
  RETURN_IF_ERROR(ContradictionIf(stored.job_id() >= counters_->next_job_id,
                                  "its id has not been assigned yet"));
  RETURN_IF_ERROR(ContradictionIf(stored.gang_timeout_ms() < 0,
                                  "its gang's time-out is negative"));
  RETURN_IF_ERROR(ContradictionIf(stored.completed_count() < 0,
                                  "its number of completed tasks is negative"));
  RETURN_IF_ERROR(ContradictionIf(stored.aborted_count() < 0,
                                  "its number of aborted tasks is negative"));
  std::optional<DisruptionBudget> budget;
  if (stored.has_budget()) {
    RETURN_IF_ERROR(
        DecodeFields("disruption budget", stored.budget(), &budget.emplace()));
  }
  OnFailure on_failure;
  if (stored.has_on_failure()) {
    ASSIGN_OR_RETURN(on_failure, ToOnFailure(stored.on_failure()));
  }
  return state_.RestoreJob(
      {.id = {stored.job_id()},
       .uuid = stored.uuid(),
       .name = stored.name(),
       .gang = {stored.gang_minimum(), stored.gang_timeout_ms()},
       .budget = std::move(budget),
       .on_failure = on_failure,
       .completed_count = stored.completed_count(),
       .aborted_count = stored.aborted_count(),
       .was_started = stored.was_started(),
       .is_group = stored.is_group(),
       .group = stored.has_group_id() ? std::optional(JobId{stored.group_id()})
                                      : std::nullopt});
}

absl::Status Recovery::AddMessage(const v1::StoredMachine& stored) {
  RETURN_IF_ERROR(
      ContradictionIf(stored.machine_id() >= counters_->next_machine_id,
                      "its id has not been assigned yet"));
  MachineSpec spec;
  spec.uuid = stored.uuid();
  spec.name = stored.name();
  ASSIGN_OR_RETURN(spec.allocatable, ToNamed(stored.allocatable()));
  ASSIGN_OR_RETURN(spec.capacity, ToNamed(stored.capacity()));
  ASSIGN_OR_RETURN(spec.labels, ToPairs(stored.labels()));
  for (const v1::StoredPu& pu : stored.pus()) {
    ASSIGN_OR_RETURN(NamedAmounts capacity, ToNamed(pu.capacity()));
    ASSIGN_OR_RETURN(LabelPairs labels, ToPairs(pu.labels()));
    RETURN_IF_ERROR(ContradictionIf(
        pu.has_numa_node() &&
            (pu.numa_node() < 0 || pu.numa_node() >= stored.numa_nodes_size()),
        "a processing unit is in a NUMA node that is not stored"));
    spec.pus.push_back({pu.uuid(), std::move(capacity), std::move(labels),
                        pu.has_numa_node() ? pu.numa_node() : -1});
  }
  for (const v1::StoredNumaNode& node : stored.numa_nodes()) {
    ASSIGN_OR_RETURN(NamedAmounts capacity, ToNamed(node.capacity()));
    ASSIGN_OR_RETURN(LabelPairs labels, ToPairs(node.labels()));
    spec.numa_nodes.push_back(
        {node.uuid(), std::move(capacity), std::move(labels)});
  }
  spec.other_uuids.assign(stored.other_uuids().begin(),
                          stored.other_uuids().end());
  spec.quarantine_reason = stored.quarantine_reason();
  ASSIGN_OR_RETURN(const std::vector<MachineTaint> taints,
                   Decode(stored.taints()));
  std::vector<int64_t> taints_since_ms;
  for (const MachineTaint& taint : taints) {
    spec.taints.push_back(taint.taint);
    taints_since_ms.push_back(taint.since_ms);
  }
  ASSIGN_OR_RETURN(spec.avoids, Decode(stored.avoids()));
  std::vector<AddForeignPod> foreign_pods;
  for (const v1::StoredForeignPod& pod : stored.foreign_pods()) {
    ASSIGN_OR_RETURN(NamedAmounts usage, ToNamed(pod.usage()));
    foreign_pods.push_back(
        {pod.name(), stored.uuid(), WithoutOnePod(std::move(usage))});
  }
  Machine machine;
  machine.id = {stored.machine_id()};
  machine.is_present = stored.is_present();
  machine.announcement = stored.announcement();
  machine.feed = {stored.feed_id()};
  if (stored.has_draining_from()) {
    RETURN_IF_ERROR(
        ContradictionIf(stored.draining_from() < 0,
                        "its task count at drain start is negative"));
    machine.draining_from = stored.draining_from();
  }
  for (const uint64_t uid : stored.claimed()) machine.claimed.insert({uid});
  return state_.RestoreMachine(machine, spec, foreign_pods, taints_since_ms);
}

absl::Status Recovery::AddMessage(const v1::StoredTask& stored) {
  RETURN_IF_ERROR(
      ContradictionIf(stored.sequence() >= counters_->next_task_sequence,
                      "its sequence has not been assigned yet"));
  RETURN_IF_ERROR(
      ContradictionIf(!task_sequences_.insert(stored.sequence()).second,
                      "another task has its sequence"));
  RETURN_IF_ERROR(ContradictionIf(
      stored.state() < static_cast<int>(TaskState::kPending) ||
          stored.state() > static_cast<int>(TaskState::kRemoved),
      "its state is unknown"));
  RETURN_IF_ERROR(ContradictionIf(stored.expected_removals() < 1,
                                  "no removal of it is expected"));
  Task task;
  task.id = {stored.uid()};
  task.job = {stored.job_id()};
  task.state = static_cast<TaskState>(stored.state());
  task.submitted_ms = stored.submitted_ms();
  task.placed_ms = stored.placed_ms();
  task.sequence = stored.sequence();
  task.machine = {stored.machine_id()};
  task.pu = stored.pu();
  task.client = ClientOf(stored);
  task.is_foreign = stored.is_foreign();
  RETURN_IF_ERROR(ContradictionIf(
      stored.disturbances() < 0 ||
          stored.disturbances() == std::numeric_limits<int32_t>::max(),
      "its number of disturbances is out of range"));
  task.disturbances = stored.disturbances();
  RETURN_IF_ERROR(AddRequeue(stored, &task));
  RETURN_IF_ERROR(ContradictionIf(
      !stored.runs_on().empty() && task.state != TaskState::kPending,
      "it waits for its machine but is not pending"));
  task.runs_on = stored.runs_on();
  task.is_template = stored.is_template();
  if (stored.has_made_from()) {
    task.made_from = TaskId{stored.made_from()};
    task.made_for = {stored.made_for()};
  }
  task.is_evicted = stored.is_evicted();
  RETURN_IF_ERROR(AddUnnamedHolders(stored));
  TaskSpec spec;
  spec.name = stored.spec().name();
  spec.task_namespace = stored.spec().namespace_();
  ASSIGN_OR_RETURN(NamedAmounts request, ToNamed(stored.spec().request()));
  spec.request = WithoutOnePod(std::move(request));
  spec.priority = stored.spec().priority();
  ASSIGN_OR_RETURN(spec.labels, ToPairs(stored.spec().labels()));
  ASSIGN_OR_RETURN(spec.namespace_labels,
                   ToPairs(stored.spec().namespace_labels()));
  spec.task_type = stored.spec().task_type();
  spec.binary = stored.spec().binary();
  RETURN_IF_ERROR(ContradictionIf(stored.spec().preemption_cost() < 0,
                                  "its cost of preemption is negative"));
  spec.preemption_cost = stored.spec().preemption_cost();
  spec.quarantine_reason = stored.spec().quarantine_reason();
  ASSIGN_OR_RETURN(spec.rules, Decode(stored.spec().rules()));
  RETURN_IF_ERROR(DecodeFields("owner", stored.spec().owner(), &spec.owner));
  return state_.RestoreTask(task, spec);
}

absl::Status Recovery::AddMessage(const v1::StoredDelta& stored) {
  RETURN_IF_ERROR(
      ContradictionIf(stored.sequence() >= counters_->next_delta_sequence,
                      "its sequence has not been assigned yet"));
  RETURN_IF_ERROR(
      ContradictionIf(stored.type() < static_cast<int>(DeltaType::kPlace) ||
                          stored.type() > static_cast<int>(DeltaType::kMigrate),
                      "its type is unknown"));
  return state_.RestoreDelta({.sequence = stored.sequence(),
                              .task = {stored.task_uid()},
                              .type = static_cast<DeltaType>(stored.type()),
                              .machine = {stored.machine_id()},
                              .is_repeat = stored.is_repeat(),
                              .may_be_known = stored.may_be_known()});
}

absl::Status Recovery::Finish() {
  if (!counters_.has_value()) return absl::OkStatus();
  RETURN_IF_ERROR(state_.RestoreHolders());
  state_.RestoreCounters(*counters_);
  for (const auto& [uid, machine, load] : unnamed_holders_) {
    RETURN_IF_ERROR(state_.RestoreLoadOfHolder(uid, machine, load));
  }
  return absl::OkStatus();
}

// Errors: kDataLoss for amounts that no sum can have, and for too many names.
absl::StatusOr<NamedAmounts> Recovery::ToNamed(const StoredAmounts& stored) {
  NamedAmounts amounts;
  amounts.reserve(static_cast<size_t>(stored.size()));
  for (const v1::StoredAmount& amount : stored) {
    RETURN_IF_ERROR(ContradictionIf(
        amount.amount() < 0 || amount.amount() > kAmountSaturated,
        "one of its amounts is out of range"));
    amounts.emplace_back(amount.resource(), amount.amount());
  }
  const absl::Status status = state_.FromNamed(amounts).status();
  RETURN_IF_ERROR(ContradictionIf(!status.ok(), Message(status)));
  return amounts;
}

absl::Status Recovery::AddUnnamedHolders(const v1::StoredTask& stored) {
  const TaskId uid = {stored.uid()};
  for (const v1::StoredSharedLoad& load : stored.shared_loads()) {
    TaskSpec spec;
    ASSIGN_OR_RETURN(NamedAmounts usage, ToNamed(load.request()));
    spec.request = WithoutOnePod(std::move(usage));
    ASSIGN_OR_RETURN(spec.rules.host_ports, Decode(load.host_ports()));
    unnamed_holders_.push_back({uid, MachineId{load.machine_id()}, spec});
  }
  // Holders that never ran.
  for (int i = stored.shared_loads_size() + 1; i < stored.holder_count(); ++i) {
    unnamed_holders_.push_back({uid, std::nullopt, {}});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Recover(const Store& store, ClusterState* state) {
  Recovery recovery(state);
  // The empty prefix, so that unknown records do not go unnoticed.
  RETURN_IF_ERROR(
      store.Scan("", [&](std::string_view key, std::string_view value) {
        return recovery.Add(key, value);
      }));
  return recovery.Finish();
}

}  // namespace sluice
