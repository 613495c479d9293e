#include "rpc/feed_service.h"

#include <google/protobuf/arena.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "rpc/feed_protocol.h"
#include "rpc/status.h"
#include "rpc/wire.h"

namespace sluice {
namespace {

using google::protobuf::Arena;

grpc::ByteBuffer ToMessage(FeedNews news) {
  Arena arena;
  auto* response = Arena::CreateMessage<v1::FeedResponse>(&arena);
  response->set_events_durable(news.events_durable);
  for (FeedProblem& problem : news.problems) {
    v1::FeedProblem* message = response->add_problems();
    message->set_sequence(problem.sequence);
    message->set_code(static_cast<v1::FeedProblem::Code>(problem.code));
    message->set_message(std::move(problem.message));
  }
  response->set_problems_left_out(news.problems_left_out);
  for (auto& [task, machine] : news.nominations) {
    v1::FeedNomination* message = response->add_nominations();
    message->set_task(std::move(task));
    message->set_machine(std::move(machine));
  }
  for (FeedNews::Entry& delta : news.deltas) {
    v1::FeedDelta* message = response->add_deltas();
    message->set_sequence(delta.sequence);
    message->set_task(std::move(delta.task));
    message->set_type(static_cast<v1::FeedDelta::Type>(delta.type));
    message->set_machine(std::move(delta.machine));
    message->set_resource(std::move(delta.resource));
  }
  return SerializeMessage(*response);
}

// One call.  Once gRPC has it, it owns itself until OnDone(), and then until
// the loop has released it.
class FeedReactor final
    : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
      public FeedSession {
 public:
  FeedReactor(CoreLoop& loop, const MessageDefaults& defaults)
      : loop_(loop), protocol_(defaults) {}

  void Start() {
    const bool is_taken = loop_.TakeFromFeed(this, std::nullopt);
    if (!is_taken) End(absl::UnavailableError("the daemon has stopped"));
    const MutexLock lock(mutex_);
    Read();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      const MutexLock lock(mutex_);
      is_reading_ = false;
      has_client_closed_ = true;
      FinishIfOver();
      return;
    }
    absl::StatusOr<FeedBatch> batch = Parse();
    bool is_for_loop = false;
    {
      const MutexLock lock(mutex_);
      if (end_.has_value()) return;
      if (!batch.ok()) {
        end_ = ToGrpcStatus(batch.status());
        FinishIfOver();
        return;
      }
      is_for_loop = protocol_.has_begun();
      if (is_for_loop) ++batches_;
    }
    if (is_for_loop && !loop_.TakeFromFeed(this, *std::move(batch))) {
      End(absl::UnavailableError("the daemon has stopped"));
    }
    // Only once the loop has it.  Otherwise a write that ends meanwhile would
    // begin the next read, whose batch could overtake this one.
    const MutexLock lock(mutex_);
    is_reading_ = false;
    Read();
  }

  void OnWriteDone(bool ok) override {
    bool is_awaited = false;
    {
      const MutexLock lock(mutex_);
      is_writing_ = false;
      is_awaited = std::exchange(is_awaited_, false);
      if (!ok) has_client_closed_ = true;
      batches_ -= std::exchange(batches_answered_, 0);
      Read();
      FinishIfOver();
    }
    if (is_awaited) loop_.WakeUp();
  }

  void OnDone() override {
    if (!loop_.EndFeed(this)) Release();
  }

  void Release() override { const std::unique_ptr<FeedReactor> self(this); }

  bool AwaitReady() override {
    const MutexLock lock(mutex_);
    is_awaited_ = is_writing_;
    return !is_writing_;
  }

  void Tell(FeedNews news) override {
    {
      const MutexLock lock(mutex_);
      const int batches = news.batches;
      if (news.IsSilent() || end_.has_value() || is_finished_) {
        batches_ -= batches;
        Read();
        FinishIfOver();
        return;
      }
      is_writing_ = true;
      batches_answered_ = batches;
    }
    // Nothing else touches the message, or ends the call, before OnWriteDone().
    // That may run at once, and must not wait for the lock.
    message_ = ToMessage(std::move(news));
    StartWrite(&message_);
  }

  void End(const absl::Status& status) override {
    const MutexLock lock(mutex_);
    if (!end_.has_value()) end_ = ToGrpcStatus(status);
    FinishIfOver();
  }

 private:
  absl::StatusOr<FeedBatch> Parse() {
    Arena arena;
    auto* request = Arena::CreateMessage<v1::FeedRequest>(&arena);
    if (!ParseMessage(request_, request)) {
      return absl::InvalidArgumentError("the request cannot be parsed");
    }
    return protocol_.Take(*request);
  }

  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (is_reading_ || is_finished_ || has_client_closed_ || end_.has_value() ||
        batches_ >= kFeedBatchesMax) {
      return;
    }
    is_reading_ = true;
    StartRead(&request_);
  }

  // Ends the call when nothing is on its way any more.
  void FinishIfOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (is_finished_ || is_writing_) return;
    if (!end_.has_value() && has_client_closed_ && batches_ == 0) {
      end_ = grpc::Status::OK;
    }
    if (!end_.has_value()) return;
    is_finished_ = true;
    Finish(*end_);
  }

  CoreLoop& loop_;
  // Of the read under way.
  FeedProtocol protocol_;
  grpc::ByteBuffer request_;

  // Of the write under way.
  grpc::ByteBuffer message_;

  Mutex mutex_;
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  // True if the loop asked while a write was under way.
  bool is_awaited_ ABSL_GUARDED_BY(mutex_) = false;
  // Batches that are not answered yet, and those that the message under way
  // answers.
  int batches_ ABSL_GUARDED_BY(mutex_) = 0;
  int batches_answered_ ABSL_GUARDED_BY(mutex_) = 0;
  bool has_client_closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
};

// The call of a client to a daemon that follows.
class RefusedReactor final
    : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit RefusedReactor(const grpc::Status& status) { Finish(status); }

  void OnDone() override { const std::unique_ptr<RefusedReactor> self(this); }
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>*
FeedService::Connect(grpc::CallbackServerContext* /*context*/) {
  if (!gate_.is_open()) {
    return std::make_unique<RefusedReactor>(gate_.Refusal()).release();
  }
  auto reactor = std::make_unique<FeedReactor>(loop_, defaults_);
  reactor->Start();
  return reactor.release();
}

}  // namespace sluice
