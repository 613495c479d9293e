#include "cli/client/feed_client.h"

#include <iterator>
#include <utility>

#include "sluice/v1/feed.grpc.pb.h"

namespace sluice {
namespace {

// Large enough to share the cost of a write in the daemon, and small enough
// that the daemon applies one batch while the next is on its way.
constexpr int kBatchEvents = 1000;

template <class T>
void Append(google::protobuf::RepeatedPtrField<T>* from, std::vector<T>* to) {
  to->insert(to->end(), std::make_move_iterator(from->begin()),
             std::make_move_iterator(from->end()));
}

}  // namespace

FeedClient::FeedClient(const CommandContext& context, std::string feed)
    : clock_(context.clock),
      connection_(context.options),
      feed_(std::move(feed)) {
  v1::Feed::NewStub(connection_.channel())->async()->Connect(&call_, this);
  AddHold();  // Since the owner starts writes, and not gRPC's callbacks.
  StartRead(&read_);
  StartCall();
}

FeedClient::~FeedClient() {
  if (is_closed_) return;
  call_.TryCancel();
  AwaitEnd();
}

v1::FeedEvent* FeedClient::Add() {
  v1::FeedEvent* event = request_.add_events();
  event->set_sequence(++sequence_);
  return event;
}

bool FeedClient::Flush() {
  return request_.events().empty() || Write(&request_);
}

bool FeedClient::FlushIfFull() {
  return request_.events_size() < kBatchEvents || Flush();
}

bool FeedClient::Confirm() {
  v1::FeedRequest request;
  return confirmed_ == taken_ || Write(&request);
}

bool FeedClient::Write(v1::FeedRequest* request) {
  request->set_feed(feed_);
  if (confirmed_ != taken_) request->set_deltas_received(taken_);
  confirmed_ = taken_;
  MutexLock lock(mutex_);
  while (is_writing_) changed_.Wait(mutex_);
  if (news_.has_ended) return false;
  written_.Swap(request);
  request->Clear();
  is_writing_ = true;
  StartWrite(&written_);
  return true;
}

FeedClient::News FeedClient::Take(int64_t timeout_us) {
  MutexLock lock(mutex_);
  if (!news_.has_ended && news_.arrived_us == 0) {
    changed_.WaitFor(mutex_, timeout_us);
  }
  News taken = std::exchange(news_, News());
  news_.events_durable = taken.events_durable;
  news_.has_ended = taken.has_ended;
  if (!taken.deltas.empty()) taken_ = taken.deltas.back().sequence();
  return taken;
}

absl::Status FeedClient::Close(News* rest) {
  {
    MutexLock lock(mutex_);
    while (is_writing_) changed_.Wait(mutex_);
  }
  StartWritesDone();
  const grpc::Status status = AwaitEnd();
  is_closed_ = true;
  *rest = Take(0);
  return connection_.StatusOf(status);
}

grpc::Status FeedClient::AwaitEnd() {
  RemoveHold();
  MutexLock lock(mutex_);
  while (!end_.has_value()) changed_.Wait(mutex_);
  return *end_;
}

void FeedClient::OnReadDone(bool ok) {
  {
    const MutexLock lock(mutex_);
    if (read_.events_durable() != 0) {
      news_.events_durable = read_.events_durable();
    }
    Append(read_.mutable_problems(), &news_.problems);
    Append(read_.mutable_deltas(), &news_.deltas);
    Append(read_.mutable_nominations(), &news_.nominations);
    news_.arrived_us = clock_.MonotonicUs();
    news_.has_ended = !ok;
    changed_.NotifyAll();
  }
  read_.Clear();
  if (ok) StartRead(&read_);
}

void FeedClient::OnWriteDone(bool /*ok*/) {
  const MutexLock lock(mutex_);
  is_writing_ = false;
  changed_.NotifyAll();
}

void FeedClient::OnDone(const grpc::Status& status) {
  const MutexLock lock(mutex_);
  end_ = status;
  changed_.NotifyAll();
}

}  // namespace sluice
