#include "cli/client/call_pipeline.h"

#include <utility>

#include "base/strings.h"
#include "cli/client/contract.h"
#include "glog/logging.h"

namespace sluice {

CallPipeline::CallPipeline(const Connection& connection, size_t calls_max)
    : connection_(connection),
      calls_max_(calls_max),
      stub_(connection.channel()),
      slots_(calls_max) {
  CHECK_GT(calls_max, 0u);
  for (size_t slot = calls_max; slot > 0; --slot) {
    free_slots_.push_back(slot - 1);
  }
}

CallPipeline::~CallPipeline() {
  for (Call& call : slots_) {
    if (call.context != nullptr) call.context->TryCancel();
  }
  completions_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (completions_.Next(&tag, &ok)) {
  }
}

absl::Status CallPipeline::Send(
    const google::protobuf::MethodDescriptor& method, uint64_t key,
    std::unique_ptr<google::protobuf::Message> request, Handler handler) {
  while (status_.ok() &&
         calls_max_ - free_slots_.size() + queued_count_ >= calls_max_) {
    FinishOne();
  }
  if (!status_.ok()) return status_;
  Call call;
  call.method = &method;
  call.key = key;
  call.request = std::move(request);
  call.handler = std::move(handler);
  const auto [queue, is_first] = queued_by_key_.try_emplace(key);
  if (is_first) {
    Start(std::move(call));
  } else {
    queue->second.push_back(std::move(call));
    ++queued_count_;
  }
  return absl::OkStatus();
}

absl::Status CallPipeline::Drain() {
  while (free_slots_.size() < calls_max_) FinishOne();
  return status_;
}

void CallPipeline::Start(Call call) {
  const size_t slot = free_slots_.back();
  free_slots_.pop_back();
  Call& started = slots_[slot] = std::move(call);
  started.context = connection_.MakeContext();
  started.reply = MakeMessage(*started.method->output_type());
  const std::string path =
      StrCat("/", SchedulerService().full_name(), "/", started.method->name());
  started.reader = stub_.PrepareUnaryCall(started.context.get(), path,
                                          *started.request, &completions_);
  started.reader->StartCall();
  started.reader->Finish(started.reply.get(), &started.status, &started);
}

void CallPipeline::FinishOne() {
  void* tag = nullptr;
  bool ok = false;
  CHECK(completions_.Next(&tag, &ok));
  auto* const finished = static_cast<Call*>(tag);
  free_slots_.push_back(static_cast<size_t>(finished - slots_.data()));
  const Call call = std::exchange(*finished, Call());
  if (status_.ok()) status_ = connection_.StatusOf(call.status);

  const auto queue = queued_by_key_.find(call.key);
  if (queue->second.empty()) {
    queued_by_key_.erase(queue);
  } else {
    Call next = std::move(queue->second.front());
    queue->second.pop_front();
    --queued_count_;
    if (status_.ok()) {
      Start(std::move(next));
    }
  }
  if (call.status.ok()) call.handler(*call.reply);
}

}  // namespace sluice
