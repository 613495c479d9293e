// A server that answers sluicectl as told and writes down what it was asked.
//
// Its Schedule places every waiting task that asks for at most
// `cpu_milli_max`, on "pu".
//
// Threads: any.

#ifndef SLUICE_TESTS_UNIT_CLI_FAKE_SERVER_H_
#define SLUICE_TESTS_UNIT_CLI_FAKE_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "firmament/firmament_scheduler.pb.h"
#include "grpcpp/grpcpp.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {

class FakeScheduler {
 public:
  explicit FakeScheduler(int64_t cpu_milli_max);
  ~FakeScheduler();

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
  // What TaskSubmitted took, in the order of arrival.
  std::vector<firmament::TaskDescription> submitted() const;
  // As the Inspector lists them, by uid.  A task that is placed is on the
  // machine "m".
  std::vector<v1::Task> Listed() const;

  // From now on TaskSubmitted refuses the tasks of this name, as a strict
  // daemon whose tasks have their uids.
  void Refuse(const std::string& name);

  grpc::Service& service();

 private:
  class Service;
  const std::unique_ptr<Service> service_;
};

// Answers from its members, which are set before the server starts; lists two a
// page, whatever the request says.
class FakeInspector {
 public:
  FakeInspector();
  ~FakeInspector();

  v1::Status status;
  std::vector<v1::Machine> machines;
  std::vector<v1::Task> tasks;
  // If it is set, what it knows is listed beside `tasks`: quarantined where
  // there is a reason.
  const FakeScheduler* scheduler = nullptr;
  std::string quarantine_reason;
  std::vector<v1::Budget> budgets;
  v1::Job job;
  v1::TaskExplanation explanation;
  v1::RoundNetwork network;
  v1::ListPoliciesResponse policies;
  v1::RebalancePlan plan;  // With --preemption=full; else it is empty.
  // What DrainMachine and GetDrain answer, one after the other; the last one
  // again and again.  Empty: no machine is known.
  std::vector<v1::Drain> drains;
  // Gives every page the same token, as a broken server might.
  bool repeats_page = false;

  grpc::Service& service();

 private:
  class Service;
  const std::unique_ptr<Service> service_;
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
