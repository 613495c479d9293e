// A client of sluice.v1.Feed, in a line per step.
//
// Events are numbered as they are added and go out with Flush().  Whatever
// comes meanwhile is kept; deltas are confirmed only where a test says so.

#ifndef SLUICE_TESTS_INTEGRATION_FEED_CLIENT_H_
#define SLUICE_TESTS_INTEGRATION_FEED_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "integration/messages.h"
#include "sluice/v1/feed.grpc.pb.h"

namespace sluice {

class FeedClient {
 public:
  // Opens a call on a connection of its own.
  FeedClient(int port, const std::string& feed);
  FeedClient(std::shared_ptr<grpc::Channel> channel, const std::string& feed);
  FeedClient(const FeedClient&) = delete;
  FeedClient& operator=(const FeedClient&) = delete;
  // Breaks the call off, if it goes on.
  ~FeedClient();

  // The next event, for what the others do not say.
  v1::FeedEvent* Add();
  void BeginSnapshot() { Add()->mutable_begin_snapshot(); }
  void EndSnapshot() { Add()->mutable_end_snapshot(); }
  void AddMachine(const std::string& uuid, const NodeFields& fields);
  void AddTask(const std::string& id, const TaskFields& fields,
               const std::string& runs_on = "");
  void TaskGone(const std::string& id);
  // States these machines and no tasks.
  void StateMachines(int count, const NodeFields& fields);

  // Sends what was added.  Returns whether the call goes on.
  bool Flush();
  bool Send(const v1::FeedRequest& request);
  // Flushes, and waits until all events are durable.  Returns whether they are.
  bool Settle();
  // Reads until so many deltas have come in all; false if the call ended.
  bool AwaitDeltas(size_t count);
  // Says that all deltas that came have been taken over.
  bool Confirm();
  // Reads one message.
  bool Read();

  // Says that it will send nothing more.
  void CloseSending() { stream_->WritesDone(); }
  // Breaks the call off.
  void Cut() { context_.TryCancel(); }
  // Reads to the end of the call, and says how that was.
  grpc::Status AwaitEnd();

  const std::vector<v1::FeedDelta>& deltas() const { return deltas_; }
  const std::vector<v1::FeedProblem>& problems() const { return problems_; }
  uint64_t durable() const { return durable_; }
  // The machine that each task was told to run on last.
  std::map<std::string, std::string> Places() const;

 private:
  const std::string feed_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::Feed::Stub> stub_;
  grpc::ClientContext context_;
  const std::unique_ptr<
      grpc::ClientReaderWriter<v1::FeedRequest, v1::FeedResponse>>
      stream_;
  v1::FeedRequest next_;
  uint64_t sequence_ = 0;
  uint64_t durable_ = 0;
  std::vector<v1::FeedDelta> deltas_;
  std::vector<v1::FeedProblem> problems_;
  bool is_over_ = false;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_FEED_CLIENT_H_
