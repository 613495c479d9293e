#include "integration/feed_client.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/strings.h"
#include "integration/client.h"

namespace sluice {

FeedClient::FeedClient(int port, const std::string& feed)
    : FeedClient(Connect(port), feed) {}
FeedClient::FeedClient(std::shared_ptr<grpc::Channel> channel,
                       const std::string& feed)
    : feed_(feed),
      channel_(std::move(channel)),
      stub_(v1::Feed::NewStub(channel_)),
      stream_(stub_->Connect(&context_)) {}

FeedClient::~FeedClient() {
  if (is_over_) return;
  Cut();
  AwaitEnd();
}

v1::FeedEvent* FeedClient::Add() {
  v1::FeedEvent* event = next_.add_events();
  event->set_sequence(++sequence_);
  return event;
}

void FeedClient::AddMachine(const std::string& uuid, const NodeFields& fields) {
  *Add()->mutable_machine() = NodeMessage(uuid, fields);
}

void FeedClient::AddTask(const std::string& id, const TaskFields& fields,
                         const std::string& runs_on) {
  v1::TaskStated* task = Add()->mutable_task();
  task->set_id(id);
  *task->mutable_description() = TaskMessage(0, fields);
  task->set_runs_on(runs_on);
}

void FeedClient::TaskGone(const std::string& id) {
  Add()->mutable_task_gone()->set_id(id);
}

void FeedClient::StateMachines(int count, const NodeFields& fields) {
  BeginSnapshot();
  for (int i = 0; i < count; ++i) AddMachine(StrCat("m", i), fields);
  EndSnapshot();
}

bool FeedClient::Flush() {
  const bool goes_on = next_.events().empty() || Send(next_);
  next_.Clear();
  return goes_on;
}

bool FeedClient::Send(const v1::FeedRequest& request) {
  v1::FeedRequest named = request;
  if (named.feed().empty()) named.set_feed(feed_);
  return stream_->Write(named);
}

bool FeedClient::Settle() {
  Flush();
  while (durable_ < sequence_) {
    if (!Read()) return false;
  }
  return true;
}

bool FeedClient::AwaitDeltas(size_t count) {
  while (deltas_.size() < count) {
    if (!Read()) return false;
  }
  return true;
}

bool FeedClient::Confirm() {
  v1::FeedRequest request;
  request.set_deltas_received(deltas_.back().sequence());
  return Send(request);
}

bool FeedClient::Read() {
  v1::FeedResponse response;
  if (!stream_->Read(&response)) return false;
  if (response.events_durable() != 0) {
    EXPECT_GE(response.events_durable(), durable_) << "batches out of order";
    durable_ = response.events_durable();
  }
  deltas_.insert(deltas_.end(), response.deltas().begin(),
                 response.deltas().end());
  problems_.insert(problems_.end(), response.problems().begin(),
                   response.problems().end());
  return true;
}

grpc::Status FeedClient::AwaitEnd() {
  while (Read()) {
  }
  is_over_ = true;
  return stream_->Finish();
}

std::map<std::string, std::string> FeedClient::Places() const {
  std::map<std::string, std::string> places;
  for (const v1::FeedDelta& delta : deltas_) {
    if (delta.type() == v1::FeedDelta::PLACE) {
      places[delta.task()] = delta.machine();
    } else {
      places.erase(delta.task());
    }
  }
  return places;
}

}  // namespace sluice
