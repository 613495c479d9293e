// sluice.v1.Feed: the stream of a client that watches a cluster
// (sluice/v1/feed.proto, docs/feed.md).
//
// Only one message is read while the one before is applied.  So HTTP/2 slows
// down a client that sends faster than the daemon applies.  What a client does
// not read is merged into one message of bounded size.
//
// Threads: any.

#ifndef SLUICE_RPC_FEED_SERVICE_H_
#define SLUICE_RPC_FEED_SERVICE_H_

#include <cstdint>
#include <utility>

#include "loop/core_loop.h"
#include "rpc/convert.h"
#include "rpc/gate.h"
#include "sluice/v1/feed.grpc.pb.h"

namespace sluice {

using RawFeedService =
    v1::Feed::WithRawCallbackMethod_Connect<v1::Feed::Service>;

class FeedService final : public RawFeedService {
 public:
  // Both must outlive the service; `loop` must run while the gate is open.
  FeedService(CoreLoop& loop, const Gate& gate, MessageDefaults defaults)
      : loop_(loop), gate_(gate), defaults_(std::move(defaults)) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Connect(
      grpc::CallbackServerContext* context) override;

 private:
  CoreLoop& loop_;
  const Gate& gate_;
  const MessageDefaults defaults_;
};

}  // namespace sluice

#endif  // SLUICE_RPC_FEED_SERVICE_H_
