// The protocol of a feed's client: which messages may come when, and what they
// mean.
//
//   opened --feed, begin_snapshot--> snapshot --end_snapshot--> live
//                                       ^                        |
//                                       +----begin_snapshot------+
//
// A standby is also live in this sense.  It leads once it says so.
//
// Events are numbered from 1.  A repeated event is skipped.  A gap, an event
// before the first snapshot, and an end without a beginning are errors that end
// the call.  An event that makes no sense is a problem of that event only.
//
// Threads: one at a time.

#ifndef SLUICE_RPC_FEED_PROTOCOL_H_
#define SLUICE_RPC_FEED_PROTOCOL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "clients/feed_session.h"
#include "rpc/convert.h"
#include "sluice/v1/feed.pb.h"

namespace sluice {

class FeedProtocol {
 public:
  explicit FeedProtocol(MessageDefaults defaults)
      : defaults_(std::move(defaults)) {}

  // Takes the next message.  Unusable after an error.
  // Errors: kInvalidArgument, with what is wrong for people.
  absl::StatusOr<FeedBatch> Take(const v1::FeedRequest& request);

  // True once the first snapshot has begun.  Before that the client has no
  // feed: its term decides whether it may have one.
  bool has_begun() const { return has_snapshot_; }

 private:
  absl::Status TakeName(const std::string& name);
  static absl::Status TakeUsage(const v1::FeedRequest& request,
                                FeedBatch* batch);
  absl::Status TakeEvent(const v1::FeedEvent& event, FeedBatch* batch);
  // Most events are tasks, and these are large, so they are built in place.
  void TakeTask(const v1::FeedEvent& event, FeedBatch* batch) const;
  // Any other event.  Nullopt if a problem says why.
  std::optional<FeedEvent> Convert(const v1::FeedEvent& event,
                                   FeedBatch* batch) const;
  static std::optional<FeedEvent> ConvertBudget(const v1::FeedEvent& event,
                                                FeedBatch* batch);
  std::optional<FeedEvent> ConvertMachine(const v1::FeedEvent& event,
                                          FeedBatch* batch) const;

  const MessageDefaults defaults_;
  std::string feed_;
  uint64_t last_sequence_ = 0;
  bool has_snapshot_ = false;    // One has begun,
  bool is_in_snapshot_ = false;  // and has not ended.
};

}  // namespace sluice

#endif  // SLUICE_RPC_FEED_PROTOCOL_H_
