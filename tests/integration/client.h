// A client of the daemon over a connection of its own, in a line per call.
//
// Every call of the contract that does not end with the status OK fails the
// test: the bridge would end itself.

#ifndef SLUICE_TESTS_INTEGRATION_CLIENT_H_
#define SLUICE_TESTS_INTEGRATION_CLIENT_H_

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firmament/firmament_scheduler.grpc.pb.h"
#include "integration/messages.h"
#include "sluice/v1/inspector.grpc.pb.h"

namespace sluice {

class Client {
 public:
  using Scheduler = firmament::FirmamentScheduler;

  explicit Client(int port);
  explicit Client(std::shared_ptr<grpc::Channel> channel);

  firmament::SchedulingDeltas Schedule();
  // The same as texts: "PLACE 1 m".
  std::vector<std::string> ScheduleTexts();
  firmament::TaskReplyType Submit(const firmament::TaskDescription& task);
  firmament::TaskReplyType Update(const firmament::TaskDescription& task);
  firmament::TaskReplyType Complete(uint64_t uid);
  firmament::TaskReplyType Fail(uint64_t uid);
  firmament::TaskReplyType Remove(uint64_t uid);
  firmament::NodeReplyType AddNode(
      const firmament::ResourceTopologyNodeDescriptor& node);
  firmament::NodeReplyType UpdateNode(
      const firmament::ResourceTopologyNodeDescriptor& node);
  firmament::NodeReplyType FailNode(const std::string& uuid);
  firmament::NodeReplyType RemoveNode(const std::string& uuid);
  firmament::TaskInfoReplyType AddInfo(const firmament::TaskInfo& info);
  firmament::TaskReplyType AddStats(const firmament::TaskStats& stats);
  firmament::NodeReplyType AddStats(const firmament::ResourceStats& stats);
  firmament::ServingStatus Check(const std::string& service);

  v1::Status Status();
  v1::TaskExplanation Explain(uint64_t uid);
  v1::Drain Drain(const std::string& machine, bool cancels = false);
  v1::RebalancePlan Plan(v1::PlanRebalanceRequest::Preemption mode);

  // Calls a method ("package.Service/Method") with any bytes as its only
  // message; one that streams, too.
  grpc::Status CallRaw(const std::string& method, const std::string& request,
                       std::string* response);

  Scheduler::Stub& scheduler() { return *scheduler_; }
  v1::Inspector::Stub& inspector() { return *inspector_; }
  const std::shared_ptr<grpc::Channel>& channel() { return channel_; }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Scheduler::Stub> scheduler_;
  const std::unique_ptr<v1::Inspector::Stub> inspector_;
};

// A channel that shares its connection with nobody.
std::shared_ptr<grpc::Channel> Connect(int port);

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_CLIENT_H_
