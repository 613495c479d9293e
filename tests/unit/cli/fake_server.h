// A server that answers sluicectl as told and writes down what it was asked.
//
// Its Schedule places every waiting task that asks for at most
// `cpu_milli_max`, on "pu".
//
// Threads: any.

#ifndef SLUICE_TESTS_UNIT_CLI_FAKE_SERVER_H_
#define SLUICE_TESTS_UNIT_CLI_FAKE_SERVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "firmament/firmament_scheduler.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "sluice/v1/inspector.grpc.pb.h"

namespace sluice {

class FakeScheduler final : public firmament::FirmamentScheduler::Service {
 public:
  explicit FakeScheduler(int64_t cpu_milli_max)
      : cpu_milli_max_(cpu_milli_max) {}

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

  // The calls in the order of their arrival, e.g. "TaskSubmitted 7".
  std::vector<std::string> calls() const;
  // The arrivals among them that name `task`.
  std::vector<std::string> CallsOf(uint64_t uid) const;
  // How many tasks and machines are known.
  size_t task_count() const;
  size_t machine_count() const;
  // How many machines came with each label, "zone=a", and how many tasks with
  // each expression that their node or pod affinity requires, "zone In a".
  std::map<std::string, int> label_counts() const;
  std::map<std::string, int> expression_counts() const;

 private:
  struct Task {
    int64_t cpu_milli = 0;
    bool is_placed = false;
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
};

// Answers from its members, which are set before the server starts.
struct FakeInspector final : public sluice::v1::Inspector::Service {
  grpc::Status GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*,
                         v1::Status* reply) override;
  // Two a page, whatever the request says.
  grpc::Status ListMachines(grpc::ServerContext*,
                            const v1::ListMachinesRequest* request,
                            v1::ListMachinesResponse* reply) override;
  grpc::Status ListTasks(grpc::ServerContext*,
                         const v1::ListTasksRequest* request,
                         v1::ListTasksResponse* reply) override;
  grpc::Status GetJob(grpc::ServerContext*, const v1::GetJobRequest* request,
                      v1::Job* reply) override;
  grpc::Status ExplainTask(grpc::ServerContext*,
                           const v1::ExplainTaskRequest* request,
                           v1::TaskExplanation* reply) override;

  v1::Status status;
  std::vector<v1::Machine> machines;
  std::vector<v1::Task> tasks;
  v1::Job job;
  v1::TaskExplanation explanation;
  // Gives every page the same token, as a broken server might.
  bool repeats_page = false;
};

// Both services on a port of their own, while it lives.
class FakeServer {
 public:
  explicit FakeServer(int64_t cpu_milli_max = INT64_MAX)
      : scheduler(cpu_milli_max) {}
  ~FakeServer();

  // Starts at the first call.  Returns "127.0.0.1:PORT".
  std::string Address();

  FakeScheduler scheduler;
  FakeInspector inspector;

 private:
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_CLI_FAKE_SERVER_H_
