#include "core/scheduler.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

#include "base/strings.h"
#include "cost/waiting_cost.h"

namespace sluice {
namespace {

// Bytes on the wire: a delta has two tags and lengths, a task uid of at most
// ten bytes, a type and the text of the resource id.
constexpr size_t kDeltaBytes = 20;
constexpr size_t kUnscheduledBytes = 10;

}  // namespace

Scheduler::Scheduler(const PolicySet& policies,
                     const ConstraintSet& constraints, RoundOptions options)
    : policies_(policies), constraints_(constraints), options_(options) {}

Ack Scheduler::Apply(const Command& command, int64_t now_ms) {
  return state_.Apply(command, now_ms);
}

bool Scheduler::ConcernsReplyInFlight(const Command& command) const {
  if (const auto* remove = std::get_if<RemoveTask>(&command)) {
    return tasks_in_flight_.contains(remove->task);
  }
  if (const auto* remove = std::get_if<RemoveMachine>(&command)) {
    const Machine* machine = state_.FindMachine(remove->uuid);
    return machine != nullptr && machines_in_flight_.contains(machine->id);
  }
  return false;
}

void Scheduler::StartRound(int64_t now_ms) {
  CHECK(!round_.has_value());
  const uint64_t number = round_stats_.number + 1;
  round_stats_ = RoundStats();
  round_stats_.number = number;
  round_.emplace(&state_, policies_, constraints_, options_, now_ms);
}

std::optional<FlowProblem> Scheduler::NextPass() {
  CHECK(round_.has_value());
  std::optional<FlowProblem> problem;
  if (!round_stats_.is_cut_short) problem = round_->NextPass(&round_stats_);
  if (!problem.has_value()) {
    round_.reset();
    round_stats_.pending = state_.pending_count();
  }
  return problem;
}

void Scheduler::FinishPass(const FlowSolution& solution) {
  CHECK(round_.has_value());
  if (solution.outcome == SolveOutcome::kOptimal) {
    round_->FinishPass(solution, &round_stats_);
  } else {
    round_stats_.is_cut_short = true;
  }
}

ScheduleReply Scheduler::TakeReply(size_t bytes_max) {
  CHECK(!in_flight_.has_value());
  ScheduleReply reply;
  size_t bytes = 0;
  for (const auto& [sequence, delta] : state_.outbox()) {
    const Task* task = state_.FindTask(delta.task);
    const Machine* machine = state_.FindMachine(delta.machine);
    CHECK(task != nullptr && machine != nullptr);
    const std::string& resource_id = machine->ResourceUuid(task->pu);
    bytes += kDeltaBytes + resource_id.size();
    if (bytes > bytes_max) break;
    reply.deltas.push_back(
        {sequence, delta.task, delta.type, delta.machine, resource_id});
  }
  for (const ScheduleReply::Entry& entry : reply.deltas) {
    state_.BeginDelivery(entry.sequence);
    tasks_in_flight_.insert(entry.task);
    machines_in_flight_.insert(entry.machine);
  }
  const size_t room =
      (bytes_max - std::min(bytes, bytes_max)) / kUnscheduledBytes;
  const auto& waiting = state_.unscheduled();
  if (waiting.size() <= room) {
    reply.unscheduled.assign(waiting.begin(), waiting.end());
  } else {
    auto it = waiting.upper_bound(last_unscheduled_);
    while (reply.unscheduled.size() < room) {
      if (it == waiting.end()) it = waiting.begin();
      reply.unscheduled.push_back(*it++);
    }
    if (!reply.unscheduled.empty())
      last_unscheduled_ = reply.unscheduled.back();
  }
  tasks_in_flight_.insert(reply.unscheduled.begin(), reply.unscheduled.end());
  in_flight_ = reply;
  return reply;
}

void Scheduler::EndReply(bool is_delivered) {
  CHECK(in_flight_.has_value());
  for (const ScheduleReply::Entry& entry : in_flight_->deltas) {
    state_.EndDelivery(entry.sequence, is_delivered);
  }
  in_flight_.reset();
  tasks_in_flight_.clear();
  machines_in_flight_.clear();
}

Explanation Scheduler::Explain(const Task& task, int64_t now_ms) const {
  Explanation explanation;
  explanation.waiting_cost = WaitingCost(now_ms - task.submitted_ms);
  const auto resource_name = [&](ResourceIndex index) -> const std::string& {
    return state_.ResourceName(index);
  };
  std::map<std::string, Explanation::Count> counts;
  struct Miss {
    size_t reason_count;
    Cost cost;
    MachineId machine;
    std::string lacks;
  };
  std::vector<Miss> misses;
  for (const auto& [id, machine] : state_.machines()) {
    if (!machine->IsUsable()) continue;
    ++explanation.machines;
    if (constraints_.Allows(task.class_key, *machine)) {
      ++explanation.feasible_machines;
      continue;
    }
    std::vector<Reason> reasons;
    constraints_.Explain(task.class_key, *machine, resource_name, &reasons);
    std::string lacks;
    for (const Reason& reason : reasons) {
      Explanation::Count& count = counts[reason.code];
      count.reason = {reason.code, reason.text, ""};
      ++count.machines;
      lacks += StrCat(lacks.empty() ? "" : ", ", reason.lacks);
    }
    misses.push_back({reasons.size(),
                      policies_.LoadCost(*machine, machine->used), id,
                      std::move(lacks)});
  }
  for (auto& [code, count] : counts) {
    explanation.reasons.push_back(std::move(count));
  }
  std::ranges::stable_sort(explanation.reasons, std::ranges::greater{},
                           &Explanation::Count::machines);
  std::ranges::stable_sort(misses, [](const Miss& a, const Miss& b) {
    return std::pair(a.reason_count, a.cost) <
           std::pair(b.reason_count, b.cost);
  });
  constexpr size_t kNearestMax = 3;
  for (size_t i = 0; i < std::min(misses.size(), kNearestMax); ++i) {
    explanation.nearest.push_back({misses[i].machine, misses[i].lacks});
  }
  explanation.summary = StrCat(explanation.feasible_machines, "/",
                               explanation.machines, " machines");
  std::string_view separator = ": ";
  for (const Explanation::Count& count : explanation.reasons) {
    explanation.summary +=
        StrCat(separator, count.machines, " ", count.reason.text);
    separator = ", ";
  }
  if (explanation.feasible_machines > 0) {
    explanation.summary +=
        StrCat(explanation.reasons.empty() ? ": " : "; ",
               "it fits, and waits for the next Schedule call");
  }
  return explanation;
}

}  // namespace sluice
