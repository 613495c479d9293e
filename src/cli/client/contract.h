// The calls of the Firmament contract as data, read from its descriptors, so
// that no list of ours can fall behind it.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_CLIENT_CONTRACT_H_
#define SLUICE_CLI_CLIENT_CONTRACT_H_

#include <memory>
#include <string>
#include <string_view>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace sluice {

// firmament.FirmamentScheduler.
const google::protobuf::ServiceDescriptor& SchedulerService();

// A method by its name in the contract.  REQUIRES: there is one.
const google::protobuf::MethodDescriptor& SchedulerMethod(
    std::string_view name);

// The name of a method in event files: "nodeAdded" for NodeAdded.
std::string EventName(const google::protobuf::MethodDescriptor& method);

// An empty message of `type`.  REQUIRES: generated code for it is linked in.
std::unique_ptr<google::protobuf::Message> MakeMessage(
    const google::protobuf::Descriptor& type);

// What a server answered to a call.
struct Answer {
  // The name of the reply's value, e.g. "TASK_SUBMITTED_OK"; "OK" if the call
  // has no reply type (Schedule).
  std::string name;
  // True if the call did what its name says.  NODE_ALREADY_EXISTS counts as
  // done: the machine is known and in use.
  bool is_done = true;
};

Answer AnswerOf(const google::protobuf::Message& reply);

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_CONTRACT_H_
