#include "rpc/feed_protocol.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "rpc/checks.h"
#include "rpc/convert.h"
#include "rpc/convert_budget.h"
#include "rpc/convert_rules.h"
#include "rpc/convert_usage.h"

namespace sluice {
namespace {

using Code = FeedProblem::Code;

void AddProblem(const v1::FeedEvent& event, Code code, std::string message,
                FeedBatch* batch) {
  batch->problems.push_back({event.sequence(), code, std::move(message)});
}

// Adds what is wrong with the description of a task or machine, if anything.
// The task or machine is known all the same.
void AddFaults(const v1::FeedEvent& event, std::string_view subject,
               const std::string& quarantine_reason, const Faults& faults,
               FeedBatch* batch) {
  if (!quarantine_reason.empty()) {
    AddProblem(event, Code::kMalformed,
               StrCat(subject, ": ", quarantine_reason, ": it is quarantined"),
               batch);
  } else if (!faults.empty()) {
    AddProblem(event, Code::kMalformed, StrCat(subject, ": ", faults.Text()),
               batch);
  }
}

// What is wrong with the id of a task or a budget; empty if nothing is.
std::string FaultOfId(std::string_view id, std::string_view what = "task") {
  if (id.empty()) return StrCat("the ", what, " has no id");
  if (id.size() <= kIdBytesMax) return "";
  return StrCat(what, " ", Quoted(id), ": its id has ", id.size(),
                " bytes, at most ", kIdBytesMax, " are allowed");
}

absl::Status CheckTerm(const v1::FeedTerm& term) {
  RETURN_IF_ERROR(CheckSize("term.lease", term.lease(), kFeedNameBytesMax));
  RETURN_IF_ERROR(CheckSize("term.holder", term.holder(), kFeedNameBytesMax));
  if (term.settle_ms() < 0 || term.settle_ms() > kFeedSettleMsMax) {
    return Invalid(StrCat("term.settle_ms: ", term.settle_ms(),
                          " is not in 0 to ", kFeedSettleMsMax));
  }
  return absl::OkStatus();
}

FeedTerm ToTerm(const v1::FeedTerm& term) {
  return {
      .lease = term.lease(), .number = term.number(), .holder = term.holder()};
}

uint64_t FingerprintOf(const v1::TaskStated& task) {
  std::string bytes;
  task.description().SerializeToString(&bytes);
  return Fnv1a64(task.is_foreign() ? "f" : "", Fnv1a64(bytes));
}

}  // namespace

absl::StatusOr<FeedBatch> FeedProtocol::Take(const v1::FeedRequest& request) {
  FeedBatch batch;
  RETURN_IF_ERROR(TakeName(request.feed()));
  if (request.events_size() > kFeedEventsMax) {
    return Invalid(StrCat("events: ", request.events_size(),
                          " in one message, at most ", kFeedEventsMax,
                          " are allowed"));
  }
  batch.deltas_received = request.deltas_received();
  batch.events.reserve(static_cast<size_t>(request.events_size()));
  for (const v1::FeedEvent& event : request.events()) {
    RETURN_IF_ERROR(TakeEvent(event, &batch));
  }
  if (!has_snapshot_ && request.deltas_received() > 0) {
    return Invalid(StrCat("deltas_received: ", request.deltas_received(),
                          ", but none was sent"));
  }
  if (request.events_size() > 0) batch.up_to = last_sequence_;
  RETURN_IF_ERROR(TakeUsage(request, &batch));
  return batch;
}

absl::Status FeedProtocol::TakeUsage(const v1::FeedRequest& request,
                                     FeedBatch* batch) {
  if (std::max(request.machine_usage_size(), request.task_usage_size()) >
      kFeedEventsMax) {
    return Invalid(
        StrCat("usage: more than ", kFeedEventsMax, " samples in one message"));
  }
  // A malformed sample is dropped: the next one is on its way.
  for (const firmament::ResourceStats& stats : request.machine_usage()) {
    absl::StatusOr<ReportMachineUsage> report = ToReportMachineUsage(stats);
    if (report.ok()) {
      batch->machine_usage.push_back(*std::move(report));
    } else {
      ++batch->malformed_samples;
    }
  }
  for (const v1::TaskUsage& sample : request.task_usage()) {
    const absl::StatusOr<TaskUsage> usage = ToTaskUsage(sample.stats());
    if (usage.ok()) {
      batch->task_usage.push_back({sample.id(), *usage});
    } else {
      ++batch->malformed_samples;
    }
  }
  return absl::OkStatus();
}

absl::Status FeedProtocol::TakeName(const std::string& name) {
  if (feed_.empty()) {
    if (name.empty()) return Invalid("feed: the first message must name it");
    RETURN_IF_ERROR(CheckSize("feed", name, kFeedNameBytesMax));
    feed_ = name;
  } else if (!name.empty() && name != feed_) {
    return Invalid(StrCat("feed: ", Quoted(name), ", but this call is for ",
                          Quoted(feed_)));
  }
  return absl::OkStatus();
}

absl::Status FeedProtocol::TakeEvent(const v1::FeedEvent& event,
                                     FeedBatch* batch) {
  if (event.sequence() == 0) return Invalid("event without a sequence");
  if (event.sequence() <= last_sequence_) return absl::OkStatus();
  if (event.sequence() != last_sequence_ + 1) {
    return Invalid(StrCat("event ", event.sequence(), " follows event ",
                          last_sequence_, ": the ones between are missing"));
  }
  last_sequence_ = event.sequence();
  const bool begins = event.has_begin_snapshot();
  const bool ends = event.has_end_snapshot();
  if (!begins && !has_snapshot_) {
    return Invalid(
        StrCat("event ", event.sequence(), ": begin_snapshot must come first"));
  }
  if ((begins && is_in_snapshot_) || (ends && !is_in_snapshot_)) {
    return Invalid(StrCat("event ", event.sequence(), ": ",
                          begins ? "begin_snapshot within a snapshot"
                                 : "end_snapshot outside a snapshot"));
  }
  if (begins) {
    const v1::BeginSnapshot& began = event.begin_snapshot();
    RETURN_IF_ERROR(CheckTerm(began.term()));
    if (began.is_standby() && began.has_term()) {
      return Invalid("term: a standby has none until it leads");
    }
    if (!has_snapshot_) batch->feed = feed_;
    has_snapshot_ = is_in_snapshot_ = true;
  }
  if (event.has_leads()) RETURN_IF_ERROR(CheckTerm(event.leads().term()));
  if (ends) is_in_snapshot_ = false;
  if (event.has_task()) {
    TakeTask(event, batch);
    return absl::OkStatus();
  }
  std::optional<FeedEvent> converted = Convert(event, batch);
  if (converted.has_value()) {
    batch->events.push_back({event.sequence(), *std::move(converted)});
  }
  return absl::OkStatus();
}

std::optional<FeedEvent> FeedProtocol::Convert(const v1::FeedEvent& event,
                                               FeedBatch* batch) const {
  const auto about_task = [&](std::string_view id, FeedEvent result) {
    std::string fault = FaultOfId(id);
    if (fault.empty()) return std::optional(std::move(result));
    AddProblem(event, Code::kInvalid, std::move(fault), batch);
    return std::optional<FeedEvent>();
  };
  switch (event.event_case()) {
    case v1::FeedEvent::kBeginSnapshot: {
      const v1::BeginSnapshot& began = event.begin_snapshot();
      return SnapshotBegan{.term = ToTerm(began.term()),
                           .settle_ms = began.term().settle_ms(),
                           .priority_zero = began.priority_zero(),
                           .is_standby = began.is_standby()};
    }
    case v1::FeedEvent::kLeads: {
      const v1::FeedTerm& term = event.leads().term();
      return FeedLed{.term = ToTerm(term), .settle_ms = term.settle_ms()};
    }
    case v1::FeedEvent::kEndSnapshot:
      return SnapshotEnded();
    case v1::FeedEvent::kMachine:
      return ConvertMachine(event, batch);
    case v1::FeedEvent::kMachineGone:
      return MachineGone{KeptId(event.machine_gone().machine())};
    case v1::FeedEvent::kTaskEnded:
      return about_task(
          event.task_ended().id(),
          TaskEnded{event.task_ended().id(), event.task_ended().failed()});
    case v1::FeedEvent::kTaskGone:
      return about_task(event.task_gone().id(),
                        TaskGone{event.task_gone().id()});
    case v1::FeedEvent::kBindFailed: {
      const v1::BindFailed& failed = event.bind_failed();
      return about_task(
          failed.id(),
          BindFailed{failed.id(), KeptId(failed.machine()), failed.reason()});
    }
    case v1::FeedEvent::kBudget:
      return ConvertBudget(event, batch);
    case v1::FeedEvent::kBudgetGone: {
      std::string fault = FaultOfId(event.budget_gone().id(), "budget");
      if (fault.empty()) return BudgetGone{event.budget_gone().id()};
      AddProblem(event, Code::kInvalid, std::move(fault), batch);
      return std::nullopt;
    }
    case v1::FeedEvent::kTask:  // See TakeTask().
    case v1::FeedEvent::EVENT_NOT_SET:
      break;
  }
  AddProblem(event, Code::kInvalid, "the kind of the event is unknown", batch);
  return std::nullopt;
}

void FeedProtocol::TakeTask(const v1::FeedEvent& event,
                            FeedBatch* batch) const {
  const v1::TaskStated& task = event.task();
  std::string fault = FaultOfId(task.id());
  if (fault.empty() && task.is_foreign() && task.runs_on().empty()) {
    fault = StrCat("task ", Quoted(task.id()),
                   " is placed by others but runs nowhere");
  }
  if (fault.empty() && task.is_terminating() && task.runs_on().empty()) {
    fault = StrCat("task ", Quoted(task.id()),
                   " is being stopped but runs nowhere");
  }
  if (!fault.empty()) {
    AddProblem(event, Code::kInvalid, std::move(fault), batch);
    return;
  }
  Faults faults;
  SubmitTask stated =
      ToStatedTask(task.description(), defaults_.job_bounds, &faults);
  if (std::exchange(stated.spec.is_template, false)) {
    stated.spec.quarantine_reason =
        "global: a feed states each task itself and cannot state a template";
  }
  AddFaults(event, StrCat("task ", Quoted(task.id())),
            stated.spec.quarantine_reason, faults, batch);
  FeedBatch::Entry& entry = batch->events.emplace_back();
  entry.sequence = event.sequence();
  entry.event.emplace<TaskStated>(
      TaskStated{.id = task.id(),
                 .job_uuid = std::move(stated.job_uuid),
                 .job_name = std::move(stated.job_name),
                 .gang = stated.gang,
                 .budget = std::move(stated.budget),
                 .keeps_budget = stated.keeps_budget,
                 .spec = std::move(stated.spec),
                 .machine_uuid = KeptId(task.runs_on()),
                 .is_foreign = task.is_foreign(),
                 .is_terminating = task.is_terminating(),
                 .fingerprint = FingerprintOf(task)});
}

std::optional<FeedEvent> FeedProtocol::ConvertBudget(const v1::FeedEvent& event,
                                                     FeedBatch* batch) {
  const v1::BudgetStated& stated = event.budget();
  std::string fault = FaultOfId(stated.id(), "budget");
  if (!fault.empty()) {
    AddProblem(event, Code::kInvalid, std::move(fault), batch);
    return std::nullopt;
  }
  const std::string subject = StrCat("budget ", Quoted(stated.id()));
  Faults faults;
  absl::StatusOr<DisruptionBudget> budget = ToBudget(stated.budget(), &faults);
  if (!budget.ok()) {
    AddProblem(event, Code::kInvalid,
               StrCat(subject, ": ", Message(budget.status())), batch);
    return BudgetKept{stated.id()};
  }
  // A job's budget comes with its tasks.
  if (!budget->tasks.has_value()) budget->tasks.emplace();
  AddFaults(event, subject, "", faults, batch);
  return BudgetStated{stated.id(), *std::move(budget)};
}

std::optional<FeedEvent> FeedProtocol::ConvertMachine(
    const v1::FeedEvent& event, FeedBatch* batch) const {
  if (event.machine().resource_desc().uuid().empty()) {
    AddProblem(event, Code::kInvalid, "the machine has no uuid", batch);
    return std::nullopt;
  }
  Faults faults;
  MachineSpec spec =
      ToAddMachine(event.machine(), defaults_.max_pods, &faults).spec;
  if (defaults_.conditions_evict) {
    AddEvictingTaints(event.machine().resource_desc(), &spec.taints);
  }
  AddFaults(event, StrCat("machine ", Quoted(spec.uuid)),
            spec.quarantine_reason, faults, batch);
  return MachineStated{std::move(spec)};
}

}  // namespace sluice
