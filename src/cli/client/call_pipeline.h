// Keeps many calls of the Firmament contract in flight, up to a limit.
//
// Calls with one key (a task, say) are sent one after the other, each after the
// reply to the one before; calls with different keys may overtake each other.
//
// Threads: none of its own.  Replies are handed over on the caller's thread,
// within Send and Drain.

#ifndef SLUICE_CLI_CLIENT_CALL_PIPELINE_H_
#define SLUICE_CLI_CLIENT_CALL_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "cli/client/connection.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/codegen/proto_utils.h"

namespace sluice {

class CallPipeline {
 public:
  // Must not call the pipeline.
  using Handler = std::function<void(const google::protobuf::Message& reply)>;

  // `connection` must outlive the pipeline.  REQUIRES: calls_max > 0.
  CallPipeline(const Connection& connection, size_t calls_max);
  // Cancels what is in flight.
  ~CallPipeline();

  CallPipeline(const CallPipeline&) = delete;
  CallPipeline& operator=(const CallPipeline&) = delete;

  // Sends a call.  First waits for replies while `calls_max` calls are in
  // flight or queued behind one with their key.
  // Errors: those of the first call that failed; from then on nothing is sent.
  absl::Status Send(const google::protobuf::MethodDescriptor& method,
                    uint64_t key,
                    std::unique_ptr<google::protobuf::Message> request,
                    Handler handler);

  // Waits until every call has been answered.
  // Errors: those of the first call that failed.
  absl::Status Drain();

 private:
  using Stub = grpc::TemplatedGenericStub<google::protobuf::MessageLite,
                                          google::protobuf::MessageLite>;

  struct Call {
    const google::protobuf::MethodDescriptor* method = nullptr;
    uint64_t key = 0;
    std::unique_ptr<google::protobuf::Message> request;
    Handler handler;
    // From here on: set while the call is in flight.
    std::unique_ptr<grpc::ClientContext> context;
    std::unique_ptr<google::protobuf::Message> reply;
    grpc::Status status;
    std::unique_ptr<
        grpc::ClientAsyncResponseReader<google::protobuf::MessageLite>>
        reader;
  };

  void Start(Call call);
  // Waits for one reply and handles it, and starts what was queued behind it.
  void FinishOne();

  const Connection& connection_;
  const size_t calls_max_;
  Stub stub_;
  grpc::CompletionQueue completions_;
  // The calls in flight are those of `slots_` not in `free_slots_`.  A slot's
  // address is its call's tag, so the vector never grows.
  std::vector<Call> slots_;
  std::vector<size_t> free_slots_;
  // For each key with a call in flight, the calls that wait for it.
  std::unordered_map<uint64_t, std::deque<Call>> queued_by_key_;
  size_t queued_count_ = 0;
  absl::Status status_;
};

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_CALL_PIPELINE_H_
