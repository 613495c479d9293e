// The protocol of a feed's client: what may come when, and what it means.
//
//   opened --feed, begin_snapshot--> snapshot --end_snapshot--> live
//                                       ^                        |
//                                       +----begin_snapshot------+
//
// A standby is live in this sense, too; it leads once it says so.
//
// Events are numbered from 1.  One that comes again is skipped; a gap, an event
// before the first snapshot, and an end without a beginning are errors that end
// the call.  An event that makes no sense is a problem of that event only.
//
// Threads: confined to one at a time.

#ifndef SLUICE_RPC_FEED_PROTOCOL_H_
#define SLUICE_RPC_FEED_PROTOCOL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "loop/feed_session.h"
#include "rpc/convert.h"
#include "sluice/v1/feed.pb.h"

namespace sluice {

class FeedProtocol {
 public:
  explicit FeedProtocol(MessageDefaults defaults)
      : defaults_(std::move(defaults)) {}

  // Takes the next message.  After an error it is of no use.
  // Errors: kInvalidArgument, with what is wrong for people.
  absl::StatusOr<FeedBatch> Take(const v1::FeedRequest& request);

  // Whether the first snapshot has begun.  Before, the client has no feed yet:
  // whether it may have one, its term says.
  bool has_begun() const { return has_snapshot_; }

 private:
  absl::Status TakeName(const std::string& name);
  static absl::Status TakeUsage(const v1::FeedRequest& request,
                                FeedBatch* batch);
  absl::Status TakeEvent(const v1::FeedEvent& event, FeedBatch* batch);
  // Tasks are most of all events, and large: one is made where it stays.
  void TakeTask(const v1::FeedEvent& event, FeedBatch* batch) const;
  // Any other event.  Nothing, where a problem says why.
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
