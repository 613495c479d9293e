// Plays a cluster's part in the Firmament contract: many events in flight, and
// rounds that see all events sent before them.
//
// Unlike a bridge it stops at the first call that the server refuses.
//
// Threads: none; everything happens on the caller's thread.

#ifndef SLUICE_CLI_CLIENT_CONTRACT_CLIENT_H_
#define SLUICE_CLI_CLIENT_CONTRACT_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/base/command.h"
#include "cli/client/call_pipeline.h"
#include "cli/client/connection.h"
#include "firmament/firmament_scheduler.pb.h"

namespace sluice {

class ContractClient {
 public:
  // At most `calls_max` calls are in flight.  `context` must outlive the
  // client.  REQUIRES: calls_max > 0.
  ContractClient(const CommandContext& context, size_t calls_max);

  // The calls of one machine, and those of one task, keep their order.
  // Errors: a call failed or was refused, this one or an earlier one.
  absl::Status AddMachine(
      const firmament::ResourceTopologyNodeDescriptor& machine);
  absl::Status RemoveMachine(std::string_view uuid);
  absl::Status SubmitTask(const firmament::TaskDescription& task);
  absl::Status CompleteTask(uint64_t uid);
  absl::Status RemoveTask(uint64_t uid);

  // Waits until every call has been answered.
  absl::Status Drain();

  // Drains, then runs a round and returns what it decided.
  absl::StatusOr<firmament::SchedulingDeltas> Schedule();

  // How long each Schedule call has taken so far, from request to reply.
  const std::vector<int64_t>& round_us() const { return round_us_; }

 private:
  absl::Status Send(std::string_view method, uint64_t key,
                    const google::protobuf::Message& request);

  const CommandContext& context_;
  Connection connection_;
  // The first call that the server refused.
  absl::Status refusal_;
  CallPipeline pipeline_;
  std::vector<int64_t> round_us_;
};

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_CONTRACT_CLIENT_H_
