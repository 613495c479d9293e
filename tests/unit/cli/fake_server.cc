#include "unit/cli/fake_server.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "base/strings.h"
#include "firmament/firmament_scheduler.grpc.pb.h"
#include "glog/logging.h"
#include "sluice/v1/inspector.grpc.pb.h"

namespace sluice {
namespace {

constexpr size_t kPageSize = 2;

// Appends the page of `all` that `token` names, and returns the next token.
template <class Item, class Field>
std::string AppendPage(const std::vector<Item>& all, const std::string& token,
                       Field* field) {
  const size_t begin = token.empty() ? 0 : std::stoul(token);
  const size_t end = std::min(begin + kPageSize, all.size());
  for (size_t i = begin; i < end; ++i) *field->Add() = all[i];
  return end < all.size() ? std::to_string(end) : "";
}

}  // namespace

class FakeScheduler::Service final
    : public firmament::FirmamentScheduler::Service {
 public:
  explicit Service(int64_t cpu_milli_max) : cpu_milli_max_(cpu_milli_max) {}

  grpc::Status Schedule(grpc::ServerContext*, const firmament::ScheduleRequest*,
                        firmament::SchedulingDeltas* reply) override;
  grpc::Status NodeAdded(
      grpc::ServerContext*,
      const firmament::ResourceTopologyNodeDescriptor* request,
      firmament::NodeAddedResponse* reply) override;
  grpc::Status NodeRemoved(grpc::ServerContext*,
                           const firmament::ResourceUID* request,
                           firmament::NodeRemovedResponse* reply) override;
  grpc::Status TaskSubmitted(grpc::ServerContext*,
                             const firmament::TaskDescription* request,
                             firmament::TaskSubmittedResponse* reply) override;
  grpc::Status TaskCompleted(grpc::ServerContext*,
                             const firmament::TaskUID* request,
                             firmament::TaskCompletedResponse* reply) override;
  grpc::Status TaskRemoved(grpc::ServerContext*,
                           const firmament::TaskUID* request,
                           firmament::TaskRemovedResponse* reply) override;
  grpc::Status Check(grpc::ServerContext*,
                     const firmament::HealthCheckRequest* request,
                     firmament::HealthCheckResponse* reply) override;

  std::vector<std::string> calls() const;
  size_t task_count() const;
  size_t machine_count() const;
  std::map<std::string, int> label_counts() const;
  std::map<std::string, int> expression_counts() const;
  std::vector<firmament::TaskDescription> submitted() const;
  std::vector<v1::Task> Listed() const;
  void Refuse(const std::string& name);

 private:
  struct Task {
    int64_t cpu_milli = 0;
    bool is_placed = false;
    std::string name = {};
    std::string job = {};
  };

  void Record(const std::string& method, const std::string& what)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t cpu_milli_max_;
  mutable Mutex mutex_;
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, bool> machines_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> label_counts_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> expression_counts_ ABSL_GUARDED_BY(mutex_);
  std::vector<firmament::TaskDescription> submitted_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> refused_ ABSL_GUARDED_BY(mutex_);
};

class FakeInspector::Service final : public sluice::v1::Inspector::Service {
 public:
  explicit Service(const FakeInspector& answers) : answers_(answers) {}

  grpc::Status GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*,
                         v1::Status* reply) override;
  grpc::Status ListMachines(grpc::ServerContext*,
                            const v1::ListMachinesRequest* request,
                            v1::ListMachinesResponse* reply) override;
  grpc::Status ListTasks(grpc::ServerContext*,
                         const v1::ListTasksRequest* request,
                         v1::ListTasksResponse* reply) override;
  grpc::Status ListBudgets(grpc::ServerContext*,
                           const v1::ListBudgetsRequest* request,
                           v1::ListBudgetsResponse* reply) override;
  grpc::Status GetJob(grpc::ServerContext*, const v1::GetJobRequest* request,
                      v1::Job* reply) override;
  grpc::Status ExplainTask(grpc::ServerContext*,
                           const v1::ExplainTaskRequest* request,
                           v1::TaskExplanation* reply) override;
  grpc::Status PlanRebalance(grpc::ServerContext*,
                             const v1::PlanRebalanceRequest* request,
                             v1::RebalancePlan* reply) override;
  grpc::Status GetNetwork(grpc::ServerContext*, const v1::GetNetworkRequest*,
                          v1::RoundNetwork* reply) override {
    *reply = answers_.network;
    return grpc::Status::OK;
  }
  grpc::Status ListPolicies(grpc::ServerContext*,
                            const v1::ListPoliciesRequest*,
                            v1::ListPoliciesResponse* reply) override {
    *reply = answers_.policies;
    return grpc::Status::OK;
  }
  grpc::Status DrainMachine(grpc::ServerContext*,
                            const v1::DrainMachineRequest* request,
                            v1::Drain* reply) override;
  grpc::Status GetDrain(grpc::ServerContext*,
                        const v1::GetDrainRequest* request,
                        v1::Drain* reply) override;

 private:
  grpc::Status NextDrain(const std::string& machine, v1::Drain* reply);

  std::atomic<size_t> drains_told_ = 0;
  const FakeInspector& answers_;
};

void FakeScheduler::Service::Record(const std::string& method,
                                    const std::string& what) {
  calls_.push_back(what.empty() ? method : StrCat(method, " ", what));
}

grpc::Status FakeScheduler::Service::Schedule(
    grpc::ServerContext*, const firmament::ScheduleRequest*,
    firmament::SchedulingDeltas* reply) {
  const MutexLock lock(mutex_);
  Record("Schedule", "");
  for (auto& [uid, task] : tasks_) {
    if (task.is_placed) continue;
    if (task.cpu_milli > cpu_milli_max_) {
      reply->add_unscheduled_tasks(uid);
      continue;
    }
    task.is_placed = true;
    firmament::SchedulingDelta& delta = *reply->add_deltas();
    delta.set_task_id(uid);
    delta.set_resource_id("pu");
    delta.set_type(firmament::SchedulingDelta::PLACE);
  }
  return grpc::Status::OK;
}

grpc::Status FakeScheduler::Service::NodeAdded(
    grpc::ServerContext*,
    const firmament::ResourceTopologyNodeDescriptor* request,
    firmament::NodeAddedResponse* reply) {
  const std::string& uuid = request->resource_desc().uuid();
  const MutexLock lock(mutex_);
  Record("NodeAdded", uuid);
  if (uuid.empty()) {  // As a strict daemon.
    return {grpc::StatusCode::INVALID_ARGUMENT, "machine '': uuid is empty"};
  }
  for (const firmament::Label& label : request->resource_desc().labels()) {
    ++label_counts_[StrCat(label.key(), "=", label.value())];
  }
  const bool is_new = machines_.emplace(uuid, true).second;
  reply->set_type(is_new ? firmament::NODE_ADDED_OK
                         : firmament::NODE_ALREADY_EXISTS);
  return grpc::Status::OK;
}

grpc::Status FakeScheduler::Service::NodeRemoved(
    grpc::ServerContext*, const firmament::ResourceUID* request,
    firmament::NodeRemovedResponse* reply) {
  const MutexLock lock(mutex_);
  Record("NodeRemoved", request->resource_uid());
  reply->set_type(machines_.erase(request->resource_uid()) == 1
                      ? firmament::NODE_REMOVED_OK
                      : firmament::NODE_NOT_FOUND);
  return grpc::Status::OK;
}

grpc::Status FakeScheduler::Service::TaskSubmitted(
    grpc::ServerContext*, const firmament::TaskDescription* request,
    firmament::TaskSubmittedResponse* reply) {
  const firmament::TaskDescriptor& task = request->task_descriptor();
  const MutexLock lock(mutex_);
  Record("TaskSubmitted", std::to_string(task.uid()));
  if (refused_.contains(task.name())) {
    reply->set_type(firmament::TASK_ALREADY_SUBMITTED);
    return grpc::Status::OK;
  }
  submitted_.push_back(*request);
  const auto count = [this](const auto& expressions) {
    for (const auto& expression : expressions) {
      ++expression_counts_[StrCat(expression.key(), " ", expression.operator_(),
                                  " ", expression.values(0))];
    }
  };
  const firmament::Affinity& affinity = task.affinity();
  for (const auto& term : affinity.node_affinity()
                              .requiredduringschedulingignoredduringexecution()
                              .nodeselectorterms()) {
    count(term.matchexpressions());
  }
  for (const auto& term :
       affinity.pod_affinity()
           .requiredduringschedulingignoredduringexecution()) {
    count(term.labelselector().matchexpressions());
  }
  const auto cpu_milli =
      static_cast<int64_t>(task.resource_request().cpu_cores());
  const bool is_new = tasks_
                          .emplace(task.uid(), Task{.cpu_milli = cpu_milli,
                                                    .name = task.name(),
                                                    .job = task.job_id()})
                          .second;
  reply->set_type(is_new ? firmament::TASK_SUBMITTED_OK
                         : firmament::TASK_ALREADY_SUBMITTED);
  return grpc::Status::OK;
}

grpc::Status FakeScheduler::Service::TaskCompleted(
    grpc::ServerContext*, const firmament::TaskUID* request,
    firmament::TaskCompletedResponse* reply) {
  const MutexLock lock(mutex_);
  Record("TaskCompleted", std::to_string(request->task_uid()));
  reply->set_type(tasks_.contains(request->task_uid())
                      ? firmament::TASK_COMPLETED_OK
                      : firmament::TASK_NOT_FOUND);
  return grpc::Status::OK;
}

grpc::Status FakeScheduler::Service::TaskRemoved(
    grpc::ServerContext*, const firmament::TaskUID* request,
    firmament::TaskRemovedResponse* reply) {
  const MutexLock lock(mutex_);
  Record("TaskRemoved", std::to_string(request->task_uid()));
  reply->set_type(tasks_.erase(request->task_uid()) == 1
                      ? firmament::TASK_REMOVED_OK
                      : firmament::TASK_NOT_FOUND);
  return grpc::Status::OK;
}

grpc::Status FakeScheduler::Service::Check(
    grpc::ServerContext*, const firmament::HealthCheckRequest*,
    firmament::HealthCheckResponse* reply) {
  const MutexLock lock(mutex_);
  Record("Check", "");
  reply->set_status(firmament::SERVING);
  return grpc::Status::OK;
}

std::map<std::string, int> FakeScheduler::Service::label_counts() const {
  const MutexLock lock(mutex_);
  return label_counts_;
}

std::map<std::string, int> FakeScheduler::Service::expression_counts() const {
  const MutexLock lock(mutex_);
  return expression_counts_;
}

std::vector<firmament::TaskDescription> FakeScheduler::Service::submitted()
    const {
  const MutexLock lock(mutex_);
  return submitted_;
}

std::vector<v1::Task> FakeScheduler::Service::Listed() const {
  const MutexLock lock(mutex_);
  std::vector<v1::Task> listed;
  for (const auto& [uid, known] : tasks_) {
    v1::Task& task = listed.emplace_back();
    task.set_uid(uid);
    task.set_name(known.name);
    task.set_job_uuid(known.job);
    task.set_state(known.is_placed ? v1::Task::RUNNING : v1::Task::PENDING);
    if (known.is_placed) task.set_machine_uuid("m");
  }
  return listed;
}

void FakeScheduler::Service::Refuse(const std::string& name) {
  const MutexLock lock(mutex_);
  refused_.insert(name);
}

std::vector<std::string> FakeScheduler::Service::calls() const {
  const MutexLock lock(mutex_);
  return calls_;
}

size_t FakeScheduler::Service::task_count() const {
  const MutexLock lock(mutex_);
  return tasks_.size();
}

size_t FakeScheduler::Service::machine_count() const {
  const MutexLock lock(mutex_);
  return machines_.size();
}

grpc::Status FakeInspector::Service::GetStatus(grpc::ServerContext*,
                                               const v1::GetStatusRequest*,
                                               v1::Status* reply) {
  *reply = answers_.status;
  return grpc::Status::OK;
}

grpc::Status FakeInspector::Service::ListMachines(
    grpc::ServerContext*, const v1::ListMachinesRequest* request,
    v1::ListMachinesResponse* reply) {
  reply->set_next_page_token(AppendPage(
      answers_.machines, request->page_token(), reply->mutable_machines()));
  if (answers_.repeats_page) reply->set_next_page_token("0");
  return grpc::Status::OK;
}

grpc::Status FakeInspector::Service::ListTasks(
    grpc::ServerContext*, const v1::ListTasksRequest* request,
    v1::ListTasksResponse* reply) {
  std::vector<v1::Task> listed = answers_.tasks;
  if (answers_.scheduler != nullptr) {
    for (v1::Task& task : answers_.scheduler->Listed()) {
      if (!answers_.quarantine_reason.empty()) {
        task.set_state(v1::Task::QUARANTINED);
        task.set_quarantine_reason(answers_.quarantine_reason);
      }
      listed.push_back(std::move(task));
    }
  }
  std::erase_if(listed, [&](const v1::Task& task) {
    return (!request->job().empty() && request->job() != task.job_uuid()) ||
           (!request->machine().empty() &&
            request->machine() != task.machine_name()) ||
           (!request->namespace_().empty() &&
            request->namespace_() != task.namespace_()) ||
           (request->states_size() > 0 && request->states(0) != task.state());
  });
  if (request->pending_only()) {
    std::erase_if(listed, [](const v1::Task& task) {
      return task.state() != v1::Task::PENDING &&
             task.state() != v1::Task::QUARANTINED;
    });
  }
  reply->set_next_page_token(
      AppendPage(listed, request->page_token(), reply->mutable_tasks()));
  return grpc::Status::OK;
}

grpc::Status FakeInspector::Service::ListBudgets(
    grpc::ServerContext*, const v1::ListBudgetsRequest* request,
    v1::ListBudgetsResponse* reply) {
  reply->set_next_page_token(AppendPage(answers_.budgets, request->page_token(),
                                        reply->mutable_budgets()));
  return grpc::Status::OK;
}

grpc::Status FakeInspector::Service::GetJob(grpc::ServerContext*,
                                            const v1::GetJobRequest* request,
                                            v1::Job* reply) {
  if (request->job() != answers_.job.uuid()) {
    return {grpc::StatusCode::NOT_FOUND, StrCat("no job ", request->job())};
  }
  *reply = answers_.job;
  return grpc::Status::OK;
}

grpc::Status FakeInspector::Service::NextDrain(const std::string& machine,
                                               v1::Drain* reply) {
  if (answers_.drains.empty()) {
    return {grpc::StatusCode::NOT_FOUND, StrCat("no machine ", machine)};
  }
  *reply = answers_.drains[std::min(drains_told_.fetch_add(1),
                                    answers_.drains.size() - 1)];
  return grpc::Status::OK;
}

grpc::Status FakeInspector::Service::DrainMachine(
    grpc::ServerContext*, const v1::DrainMachineRequest* request,
    v1::Drain* reply) {
  grpc::Status status = NextDrain(request->machine(), reply);
  if (request->cancel()) reply->set_is_draining(false);
  return status;
}

grpc::Status FakeInspector::Service::GetDrain(
    grpc::ServerContext*, const v1::GetDrainRequest* request,
    v1::Drain* reply) {
  return NextDrain(request->machine(), reply);
}

grpc::Status FakeInspector::Service::PlanRebalance(
    grpc::ServerContext*, const v1::PlanRebalanceRequest* request,
    v1::RebalancePlan* reply) {
  if (request->preemption() == v1::PlanRebalanceRequest::FULL) {
    *reply = answers_.plan;
  }
  return grpc::Status::OK;
}

grpc::Status FakeInspector::Service::ExplainTask(
    grpc::ServerContext*, const v1::ExplainTaskRequest* request,
    v1::TaskExplanation* reply) {
  if (request->task() != answers_.explanation.task().name() &&
      (answers_.scheduler == nullptr ||
       answers_.scheduler->CallsOf(std::stoull(request->task())).empty())) {
    return {grpc::StatusCode::NOT_FOUND, StrCat("no task ", request->task())};
  }
  *reply = answers_.explanation;
  return grpc::Status::OK;
}

FakeScheduler::FakeScheduler(int64_t cpu_milli_max)
    : service_(std::make_unique<Service>(cpu_milli_max)) {}

FakeScheduler::~FakeScheduler() = default;

std::vector<std::string> FakeScheduler::calls() const {
  return service_->calls();
}

std::vector<std::string> FakeScheduler::CallsOf(uint64_t uid) const {
  const std::string suffix = StrCat(" ", uid);
  std::vector<std::string> calls = this->calls();
  std::erase_if(calls, [&](const std::string& call) {
    return !call.starts_with("Task") || !call.ends_with(suffix);
  });
  return calls;
}

size_t FakeScheduler::task_count() const { return service_->task_count(); }

size_t FakeScheduler::machine_count() const {
  return service_->machine_count();
}

std::map<std::string, int> FakeScheduler::label_counts() const {
  return service_->label_counts();
}

std::map<std::string, int> FakeScheduler::expression_counts() const {
  return service_->expression_counts();
}

std::vector<firmament::TaskDescription> FakeScheduler::submitted() const {
  return service_->submitted();
}

std::vector<v1::Task> FakeScheduler::Listed() const {
  return service_->Listed();
}

void FakeScheduler::Refuse(const std::string& name) { service_->Refuse(name); }

grpc::Service& FakeScheduler::service() { return *service_; }

FakeInspector::FakeInspector() : service_(std::make_unique<Service>(*this)) {}

FakeInspector::~FakeInspector() = default;

grpc::Service& FakeInspector::service() { return *service_; }

FakeServer::~FakeServer() {
  if (server_ != nullptr) server_->Shutdown();
}

std::string FakeServer::Address() {
  if (server_ == nullptr) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(&scheduler.service());
    builder.RegisterService(&inspector.service());
    server_ = builder.BuildAndStart();
    CHECK(server_ != nullptr);
  }
  return StrCat("127.0.0.1:", port_);
}

}  // namespace sluice
