#include "util/test_scheduler.h"

#include <glog/logging.h>

#include <utility>
#include <variant>

#include "base/strings.h"
#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "network/eligibility.h"
#include "round/round_solver.h"
#include "solver/registry.h"

namespace sluice {

namespace {

std::string_view NameOf(DeltaType type) {
  switch (type) {
    case DeltaType::kPlace:
      return "PLACE";
    case DeltaType::kPreempt:
      return "PREEMPT";
    case DeltaType::kMigrate:
      return "MIGRATE";
  }
  return "";
}

}  // namespace

int64_t DrawImproveBudget(Rng* rng) {
  if (rng->Chance(1, 2)) return RoundOptions().improve_budget;
  return rng->Chance(1, 2) ? rng->Between(1, 100000) : 0;
}

TestScheduler::TestScheduler(RoundOptions options, std::string_view policies)
    : policies_(std::make_unique<PolicySet>(*PolicySet::FromNames(policies))),
      constraints_(std::make_unique<ConstraintSet>()),
      solver_(MakeSolver("automatic")),
      round_solver_(std::make_unique<RoundSolver>(*solver_)),
      state_(std::make_unique<ClusterState>()),
      replies_(std::make_unique<Replies>(state_.get())),
      scheduler_(std::make_unique<Scheduler>(state_.get(), *policies_,
                                             *constraints_, options)) {
  mutable_state().SetNeeds(policies_->Needs());
}

TestScheduler::~TestScheduler() = default;

Ack TestScheduler::Apply(const Command& command, int64_t now_ms) {
  return state_->Apply(command, now_ms);
}

RoundAnswer TestScheduler::Solve(const RoundWork& work) {
  RoundSolver::Result result = round_solver_->Solve(work);
  CHECK(result.certificate.ok()) << result.certificate;
  return std::move(result.answer);
}

std::optional<FlowProblem> TestScheduler::NextProblem() {
  while (std::optional<RoundWork> work = scheduler_->NextStep()) {
    if (auto* problem = std::get_if<FlowProblem>(&*work)) {
      return std::move(*problem);
    }
    scheduler_->FinishStep(Solve(*work));
  }
  return std::nullopt;
}

FlowSolution TestScheduler::SolveFlow(const FlowProblem& problem) {
  return std::get<FlowSolution>(Solve(RoundWork(problem)));
}

void TestScheduler::FinishRound() {
  while (const std::optional<RoundWork> work = scheduler_->NextStep()) {
    scheduler_->FinishStep(Solve(*work));
  }
}

const RoundStats& TestScheduler::Round(int64_t now_ms) {
  scheduler_->StartRound(now_ms);
  FinishRound();
  return scheduler_->round_stats();
}

ScheduleReply TestScheduler::Deliver(size_t bytes_max) {
  ScheduleReply reply = replies_->Take(bytes_max);
  replies_->End(/*is_delivered=*/true);
  return reply;
}

std::vector<std::string> TestScheduler::Reply(int64_t now_ms) {
  Round(now_ms);
  std::vector<std::string> texts;
  for (const ScheduleReply::Entry& entry : Deliver().deltas) {
    texts.push_back(StrCat(NameOf(entry.type), " ", entry.uid.value, " on ",
                           entry.resource_id));
  }
  return texts;
}

const Task* TestScheduler::FindTask(uint64_t uid) const {
  const Task* holder = state().FindHolder({uid});
  if (holder != nullptr) return holder;
  const Task* task = state().FindTask({uid});
  return task != nullptr && task->client.IsOfFeed() ? task : nullptr;
}

std::string TestScheduler::MachineOf(uint64_t uid) const {
  const Task* task = FindTask(uid);
  if (task == nullptr || task->state != TaskState::kRunning) return "";
  return state().FindMachine(task->machine)->uuid;
}

const Task& TestScheduler::TaskOf(uint64_t uid) const {
  const Task* task = FindTask(uid);
  CHECK(task != nullptr) << "no task " << uid;
  return *task;
}

Eligibility& TestScheduler::eligibility() {
  scheduler_->eligibility().Refresh(&mutable_state());
  return scheduler_->eligibility();
}

}  // namespace sluice
