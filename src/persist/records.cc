#include "persist/records.h"

#include <glog/logging.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/strings.h"
#include "messages/fields.h"
#include "persist/sealed_value.h"
#include "persist/stored_rules.h"
#include "sluice/v1/store.pb.h"

namespace sluice {
namespace {

constexpr size_t kRulesKept = 256;

template <std::unsigned_integral Rep>
std::string Key(RecordKind kind, Rep id) {
  std::string key(1, static_cast<char>(kind));
  for (int shift = static_cast<int>(sizeof(Rep)) * 8 - 8; shift >= 0;
       shift -= 8) {
    key += static_cast<char>(id >> shift);
  }
  return key;
}

// Turns objects of the state into messages.  A message is reused, with its
// memory, for the next object of its kind.
class Encoder {
 public:
  explicit Encoder(const ClusterState& state) : state_(state) {}

  const v1::StoredTask& Encode(const Task& task);
  const v1::StoredJob& Encode(const Job& job);
  const v1::StoredMachine& Encode(const Machine& machine);
  const v1::StoredDelta& Encode(const Delta& delta);
  v1::StoredCounters EncodeCounters() const;

 private:
  template <class Amounts>
  void AddAmounts(const Resources& resources, Amounts* amounts) const {
    for (auto& [name, amount] : state_.ToNamed(resources)) {
      v1::StoredAmount* stored = amounts->Add();
      stored->set_resource(std::move(name));
      stored->set_amount(amount);
    }
  }

  template <class Labels>
  static void AddLabels(const LabelPairs& labels, Labels* stored_labels) {
    for (const auto& [key, value] : labels) {
      v1::StoredLabel* stored = stored_labels->Add();
      stored->set_key(key);
      stored->set_value(value);
    }
  }

  const v1::StoredRules& Encode(const PlacementRules& rules);

  const ClusterState& state_;
  v1::StoredTask task_;
  v1::StoredJob job_;
  v1::StoredMachine machine_;
  v1::StoredDelta delta_;
  // The rules of recent tasks, by id: many tasks have the same rules.
  absl::flat_hash_map<uint32_t, v1::StoredRules> rules_;
};

const v1::StoredRules& Encoder::Encode(const PlacementRules& rules) {
  if (rules_.size() == kRulesKept && !rules_.contains(rules.id)) rules_.clear();
  const auto [it, is_new] = rules_.try_emplace(rules.id);
  if (is_new) it->second = sluice::Encode(rules);
  return it->second;
}

const v1::StoredTask& Encoder::Encode(const Task& task) {
  v1::StoredTask& stored = task_;
  // Clear() would free the message that describes the task, with its memory.
  std::unique_ptr<v1::StoredTaskSpec> kept(stored.release_spec());
  if (kept == nullptr) kept = std::make_unique<v1::StoredTaskSpec>();
  kept->Clear();
  stored.Clear();
  v1::StoredTaskSpec* spec = kept.get();
  stored.set_allocated_spec(kept.release());
  stored.set_uid(task.id.value);
  if (!task.client.IsOfFeed() && task.client.uid.value != task.id.value) {
    stored.set_client_uid(task.client.uid.value);
  }
  stored.set_job_id(task.job.value);
  stored.set_state(static_cast<int32_t>(task.state));
  spec->set_name(task.name);
  spec->set_namespace_(task.task_namespace);
  AddAmounts(task.class_key.request, spec->mutable_request());
  spec->set_priority(task.class_key.priority);
  AddLabels(state_.ToPairs(task.labels), spec->mutable_labels());
  AddLabels(task.namespace_labels, spec->mutable_namespace_labels());
  spec->set_task_type(task.task_type);
  spec->set_binary(task.binary);
  spec->set_preemption_cost(task.preemption_cost);
  spec->set_quarantine_reason(task.quarantine_reason);
  // Absent, not empty, if they only name an owner.  The owner comes and goes
  // with what machines avoid, and must not change the record.
  if (task.class_key.rules != &NoRules()) {
    const v1::StoredRules& rules = Encode(*task.class_key.rules);
    if (rules.ByteSizeLong() > 0) *spec->mutable_rules() = rules;
  }
  if (!task.owner.empty()) WriteFields(task.owner, spec->mutable_owner());
  stored.set_submitted_ms(task.submitted_ms);
  stored.set_placed_ms(task.placed_ms);
  stored.set_sequence(task.sequence);
  stored.set_machine_id(task.machine.value);
  stored.set_pu(task.pu);
  stored.set_expected_removals(task.client.expected_removals);
  stored.set_is_muted(task.client.IsMuted());
  stored.set_is_evicted(task.is_evicted);
  for (const TaskId id : task.client.earlier_holders) {
    stored.add_earlier_holders(id.value);
  }
  stored.set_is_displaced(task.client.IsDisplaced());
  if (!task.client.IsOfFeed())
    stored.set_announcement(task.client.announcement);
  stored.set_feed_id(task.client.feed.value);
  stored.set_feed_task_id(task.client.feed_task_id);
  stored.set_is_foreign(task.is_foreign);
  stored.set_disturbances(task.disturbances);
  if (task.runs_again != RunsAgain::kNo) {
    stored.set_runs_again(static_cast<int32_t>(task.runs_again));
    stored.set_lost_on(task.lost_on.value);
  }
  stored.set_failures(task.failures);
  stored.set_retry_ms(task.retry_ms);
  stored.set_runs_on(task.runs_on);
  stored.set_is_template(task.is_template);
  if (task.made_from.has_value()) {
    stored.set_made_from(task.made_from->value);
    stored.set_made_for(task.made_for.value);
  }
  return stored;
}

const v1::StoredJob& Encoder::Encode(const Job& job) {
  v1::StoredJob& stored = job_;
  stored.Clear();
  stored.set_job_id(job.id.value);
  stored.set_uuid(job.uuid);
  stored.set_name(job.name);
  stored.set_gang_minimum(job.gang.minimum);
  stored.set_gang_timeout_ms(job.gang.timeout_ms);
  stored.set_completed_count(job.completed_count);
  stored.set_was_started(job.was_started);
  stored.set_aborted_count(job.aborted_count);
  stored.set_is_group(job.is_group);
  if (job.group.has_value()) stored.set_group_id(job.group->value);
  if (job.budget.has_value()) {
    WriteFields(*job.budget, stored.mutable_budget());
  }
  if (job.on_failure != OnFailure()) {
    v1::StoredOnFailure* on_failure = stored.mutable_on_failure();
    on_failure->set_action(static_cast<int32_t>(job.on_failure.action));
    on_failure->set_failures_max(job.on_failure.failures_max);
    on_failure->set_backoff_ms(job.on_failure.backoff_ms);
  }
  return stored;
}

const v1::StoredMachine& Encoder::Encode(const Machine& machine) {
  v1::StoredMachine& stored = machine_;
  stored.Clear();
  stored.set_machine_id(machine.id.value);
  stored.set_uuid(machine.uuid);
  stored.set_name(machine.name);
  AddAmounts(machine.allocatable, stored.mutable_allocatable());
  AddAmounts(machine.capacity, stored.mutable_capacity());
  AddLabels(machine.labels, stored.mutable_labels());
  for (const ProcessingUnit& pu : machine.pus) {
    v1::StoredPu* stored_pu = stored.add_pus();
    stored_pu->set_uuid(pu.uuid);
    AddAmounts(pu.capacity, stored_pu->mutable_capacity());
    AddLabels(pu.labels, stored_pu->mutable_labels());
    if (pu.numa_node >= 0) stored_pu->set_numa_node(pu.numa_node);
  }
  for (const NumaNode& node : machine.numa_nodes) {
    v1::StoredNumaNode* stored_node = stored.add_numa_nodes();
    stored_node->set_uuid(node.uuid);
    AddAmounts(node.capacity, stored_node->mutable_capacity());
    AddLabels(node.labels, stored_node->mutable_labels());
  }
  for (const std::string& uuid : machine.other_uuids) {
    stored.add_other_uuids(uuid);
  }
  stored.set_is_present(machine.is_present);
  if (machine.feed == FeedId()) stored.set_announcement(machine.announcement);
  stored.set_feed_id(machine.feed.value);
  stored.set_quarantine_reason(machine.quarantine_reason);
  if (machine.IsDraining()) stored.set_draining_from(*machine.draining_from);
  for (const TaskUid uid : machine.claimed) stored.add_claimed(uid.value);
  for (const auto& [name, usage] : machine.foreign_pods) {
    v1::StoredForeignPod* stored_pod = stored.add_foreign_pods();
    stored_pod->set_name(name);
    AddAmounts(usage, stored_pod->mutable_usage());
  }
  *stored.mutable_taints() = sluice::Encode(machine.taints);
  *stored.mutable_avoids() = sluice::Encode(machine.avoids);
  return stored;
}

const v1::StoredDelta& Encoder::Encode(const Delta& delta) {
  v1::StoredDelta& stored = delta_;
  stored.Clear();
  stored.set_sequence(delta.sequence);
  stored.set_task_uid(delta.task.value);
  stored.set_type(static_cast<int32_t>(delta.type));
  stored.set_machine_id(delta.machine.value);
  stored.set_is_repeat(delta.is_repeat);
  stored.set_may_be_known(delta.may_be_known);
  return stored;
}

v1::StoredCounters Encoder::EncodeCounters() const {
  const StateCounters& counters = state_.counters();
  v1::StoredCounters stored;
  stored.set_format(state_.uids().AreIds() ? kRecordFormatOfPlainUids
                                           : kRecordFormat);
  stored.set_next_job_id(counters.next_job_id);
  stored.set_next_machine_id(counters.next_machine_id);
  stored.set_next_task_sequence(counters.next_task_sequence);
  stored.set_next_delta_sequence(counters.next_delta_sequence);
  stored.set_version(counters.version);
  stored.set_last_own_task_id(counters.last_own_task_id);
  stored.set_announcement(counters.announcement);
  stored.set_announcement_ms(counters.announcement_ms);
  stored.set_stale_below(counters.stale_below);
  stored.set_next_feed_id(counters.next_feed_id);
  for (const auto& [id, feed] : state_.feeds()) {
    v1::StoredFeed* stored_feed = stored.add_feeds();
    stored_feed->set_feed_id(id.value);
    stored_feed->set_name(feed.name);
    stored_feed->set_lease(feed.term.lease);
    stored_feed->set_term(feed.term.number);
    stored_feed->set_holder(feed.term.holder);
    stored_feed->set_is_standby(feed.is_standby);
  }
  for (ResourceIndex i = kBuiltinResourceCount; i < state_.resource_count();
       ++i) {
    stored.add_extended_resources(state_.ResourceName(i));
  }
  return stored;
}

// Makes a batch of records.
class Writer {
 public:
  explicit Writer(const ClusterState& state) : encoder_(state) {}

  // Puts the object as it is now, or deletes it if it is null.
  template <class Record>
  void PutOrDelete(std::string key, const Record* record) {
    if (record == nullptr) {
      Add({std::move(key), std::nullopt});
    } else {
      Put(std::move(key), encoder_.Encode(*record));
    }
  }
  void PutCounters() { Put(CountersKey(), encoder_.EncodeCounters()); }

  WriteBatch Finish() && {
    Seal();
    return std::move(batch_);
  }

 private:
  // How many are sealed together.
  static constexpr size_t kUnsealedMax = 64;

  // The messages have no maps, so their bytes follow from their content.
  template <class Message>
  void Put(std::string key, const Message& message) {
    std::string value;
    value.reserve(kSealBytes + message.ByteSizeLong());
    value.resize(kSealBytes);
    // Fails beyond 2 GiB only; what comes in is bounded (base/limits.h).
    CHECK(message.AppendToString(&value));
    Add({std::move(key), std::move(value)});
  }

  void Add(WriteBatch::Operation operation) {
    unsealed_.push_back(std::move(operation));
    if (unsealed_.size() == kUnsealedMax) Seal();
  }

  void Seal() {
    std::vector<Unsealed> records;
    records.reserve(unsealed_.size());
    for (auto& [key, value] : unsealed_) {
      if (value.has_value()) records.push_back({key, &*value});
    }
    SealInPlace(records);
    for (auto& [key, value] : unsealed_) {
      if (value.has_value()) {
        batch_.Put(std::move(key), *std::move(value));
      } else {
        batch_.Delete(std::move(key));
      }
    }
    unsealed_.clear();
  }

  Encoder encoder_;
  std::vector<WriteBatch::Operation> unsealed_;
  WriteBatch batch_;
};

}  // namespace

std::string CountersKey() {
  return std::string(1, static_cast<char>(RecordKind::kCounters));
}

std::string JobKey(JobId id) { return Key(RecordKind::kJob, id.value); }

std::string MachineKey(MachineId id) {
  return Key(RecordKind::kMachine, id.value);
}

std::string TaskKey(TaskId id) { return Key(RecordKind::kTask, id.value); }

std::string DeltaKey(uint64_t sequence) {
  return Key(RecordKind::kDelta, sequence);
}

std::string KeyText(std::string_view key) {
  // Our own keys have at most nine bytes.
  constexpr size_t kShownBytes = 32;
  std::string text = "0x";
  for (const char c : key.substr(0, kShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  if (key.size() > kShownBytes) text += StrCat("..., ", key.size(), " bytes");
  return text;
}

WriteBatch EncodeChanges(const ClusterState& state, const ChangeSet& changes) {
  if (changes.empty()) return {};
  Writer writer(state);
  // Always: nearly every change changes the counters, and nothing marks a
  // change of the names of extended resources.
  writer.PutCounters();
  for (const JobId id : changes.jobs) {
    writer.PutOrDelete(JobKey(id), state.FindJob(id));
  }
  for (const MachineId id : changes.machines) {
    writer.PutOrDelete(MachineKey(id), state.FindMachine(id));
  }
  state.tasks().VisitAll(changes.tasks, [&](TaskId id, const Task* task) {
    writer.PutOrDelete(TaskKey(id), task);
  });
  for (const uint64_t sequence : changes.deltas) {
    const auto it = state.outbox().find(sequence);
    writer.PutOrDelete(DeltaKey(sequence),
                       it == state.outbox().end() ? nullptr : &it->second);
  }
  return std::move(writer).Finish();
}

}  // namespace sluice
