// A client of sluice.v1.Feed: events out in batches, news in as they come.
//
// gRPC reads on its own threads, and news waits until it is taken.  Deltas
// that were taken are confirmed with the next batch, or by Confirm().
//
// Threads: one calls the public functions; gRPC's call On...Done().

#ifndef SLUICE_CLI_CLIENT_FEED_CLIENT_H_
#define SLUICE_CLI_CLIENT_FEED_CLIENT_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/client_callback.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "cli/base/command.h"
#include "cli/client/connection.h"
#include "sluice/v1/feed.pb.h"

namespace sluice {

class FeedClient
    : private grpc::ClientBidiReactor<v1::FeedRequest, v1::FeedResponse> {
 public:
  struct News {
    uint64_t events_durable = 0;  // Of the whole call.
    std::vector<v1::FeedProblem> problems;
    std::vector<v1::FeedDelta> deltas;
    std::vector<v1::FeedNomination> nominations;
    int64_t arrived_us = 0;  // When the last of it came.
    bool has_ended = false;  // The call has ended: nothing more comes.
  };

  // Opens the call.  `context` must outlive the client.
  FeedClient(const CommandContext& context, std::string feed);
  // Cancels the call unless it was closed.
  ~FeedClient() override;
  FeedClient(const FeedClient&) = delete;
  FeedClient& operator=(const FeedClient&) = delete;

  // The next event, without a kind yet.
  v1::FeedEvent* Add();
  uint64_t sequence() const { return sequence_; }  // Of the last event.
  int added() const { return request_.events_size(); }
  // Sends what was added.  Returns whether the call goes on.
  bool Flush();
  bool FlushIfFull();
  // Confirms the deltas that were taken, unless that was done.  Returns whether
  // the call goes on.
  bool Confirm();

  // The news since the last call; waits up to `timeout_us` if there is none.
  News Take(int64_t timeout_us);

  // Says that nothing more will be sent, takes what still comes, and returns
  // how the call ended.
  absl::Status Close(News* rest);

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  // Sends `request` when the one before it has left.
  bool Write(v1::FeedRequest* request);
  // Waits for the end of the call.
  grpc::Status AwaitEnd();

  const Clock& clock_;
  Connection connection_;
  const std::string feed_;
  grpc::ClientContext call_;
  v1::FeedRequest request_;
  uint64_t sequence_ = 0;
  uint64_t taken_ = 0;      // The last delta that was taken,
  uint64_t confirmed_ = 0;  // and the last that was confirmed.
  bool is_closed_ = false;
  // They are gRPC's while it reads or writes.
  v1::FeedRequest written_;
  v1::FeedResponse read_;

  Mutex mutex_;
  CondVar changed_;
  News news_ ABSL_GUARDED_BY(mutex_);
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_FEED_CLIENT_H_
