#include "etcd/etcd_follower.h"

#include <glog/logging.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

// The pause after a failure; it doubles with each further one.
constexpr int64_t kPauseUsMin = 100'000;
constexpr int64_t kPauseUsMax = 10'000'000;

etcdserverpb::RangeRequest RangeOf(const std::string& first, int64_t revision) {
  etcdserverpb::RangeRequest request;
  request.set_key(first);
  request.set_range_end(EndOf(first));
  request.set_revision(revision);
  return request;
}

std::string ValueIn(const etcdserverpb::RangeResponse& range) {
  return range.kvs_size() > 0 ? range.kvs(0).value() : "";
}

// The number at the end of a head or a tail; 0 if there is none yet.
absl::StatusOr<int64_t> NumberOf(char mark, const std::string& value) {
  const int64_t number = value.empty() ? 0 : NumberAfter(mark, value);
  if (number >= 0) return number;
  return absl::DataLossError(StrCat("'", Printable(value, 64),
                                    "' is neither a head nor a tail of a log"));
}

}  // namespace

EtcdFollower::EtcdFollower(EtcdClient& client)
    : client_(client),
      top_(client.address().prefix + "/"),
      thread_([this] { Follow(); }) {}

EtcdFollower::~EtcdFollower() { End(Wish::kEnd); }

std::optional<EtcdRecords> EtcdFollower::Take() {
  End(Wish::kTake);
  if (!is_known_ || is_broken_) return std::nullopt;
  is_known_ = false;
  return std::move(records_);
}

void EtcdFollower::End(Wish wish) {
  {
    const MutexLock lock(mutex_);
    wish_ = wish;
    if (watch_ != nullptr) watch_->Cancel();
  }
  changes_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

int64_t EtcdFollower::number() const {
  const MutexLock lock(mutex_);
  return number_;
}

void EtcdFollower::SetNumber(int64_t number) {
  const MutexLock lock(mutex_);
  number_ = number;
}

EtcdFollower::Wish EtcdFollower::wish() const {
  const MutexLock lock(mutex_);
  return wish_;
}

void EtcdFollower::Pause(int64_t time_us) {
  const MutexLock lock(mutex_);
  if (wish_ == Wish::kFollow) changes_.WaitFor(mutex_, time_us);
}

void EtcdFollower::Follow() {
  int64_t pause_us = kPauseUsMin;
  std::string last_error;
  while (true) {
    absl::Status status = is_known_ ? CheckKnown() : Read();
    if (status.ok()) {
      is_known_ = true;
      is_broken_ = false;
      SetNumber(records_.number);
      const int64_t revision = revision_;
      if (wish() == Wish::kFollow) status = Watch();
      if (revision_ != revision) pause_us = kPauseUsMin;
    }
    if (absl::IsOutOfRange(status) || absl::IsDataLoss(status)) {
      is_known_ = false;
      records_ = {};
      SetNumber(-1);
    }
    if (wish() != Wish::kFollow) return;
    is_broken_ = true;
    if (last_error != Message(status) && !absl::IsCancelled(status)) {
      last_error = std::string(Message(status));
      LOG(WARNING) << "following: " << last_error << "; trying again";
    }
    Pause(pause_us);
    pause_us = std::min(2 * pause_us, kPauseUsMax);
  }
}

absl::Status EtcdFollower::Read() {
  etcdserverpb::TxnRequest look;
  look.add_success()->mutable_request_range()->set_key(top_ + "head");
  look.add_success()->mutable_request_range()->set_key(top_ + "tail");
  ASSIGN_OR_RETURN(const etcdserverpb::TxnResponse found, client_.Txn(look));
  revision_ = found.header().revision();
  std::string head_value = ValueIn(found.responses(0).response_range());
  ASSIGN_OR_RETURN(const int64_t head, NumberOf('-', head_value));
  ASSIGN_OR_RETURN(const int64_t tail,
                   NumberOf('/', ValueIn(found.responses(1).response_range())));
  records_ = {};
  records_.head = std::move(head_value);
  records_.number = tail;
  const auto add = [&](const std::string& key,
                       const std::string& value) -> absl::Status {
    if (wish() == Wish::kEnd) return absl::CancelledError("ended");
    records_.values.emplace_hint(records_.values.end(), key, value);
    return absl::OkStatus();
  };
  for (const char* area : {"data/", "parts/"}) {
    etcdserverpb::RangeRequest request = RangeOf(top_ + area, revision_);
    RETURN_IF_ERROR(ReadValues(client_, &request, add));
  }
  const auto add_chunk = [&](const std::string& key, const std::string& value) {
    const int64_t number = NumberAfter('/', key);
    if (number > tail) records_.log[number] = value;
    return absl::OkStatus();
  };
  etcdserverpb::RangeRequest request = RangeOf(top_ + "log/", revision_);
  RETURN_IF_ERROR(ReadPages(client_, &request, add_chunk));
  while (records_.number < head) RETURN_IF_ERROR(records_.Advance());
  LOG(INFO) << "the store is in memory: records=" << records_.values.size()
            << " chunk=" << head;
  return absl::OkStatus();
}

absl::Status EtcdFollower::CheckKnown() {
  // The head never has the same value twice.
  etcdserverpb::RangeRequest request;
  request.set_key(top_ + "head");
  request.set_revision(revision_);
  ASSIGN_OR_RETURN(const etcdserverpb::RangeResponse found,
                   client_.Range(request));
  if (ValueIn(found) == records_.head) return absl::OkStatus();
  return absl::OutOfRangeError(StrCat(ToString(client_.address()),
                                      " differs from what it was at revision ",
                                      revision_));
}

absl::Status EtcdFollower::Watch() {
  // A single watch keeps everything in order: the head, the leader's key, which
  // is not needed, and the log.
  etcdserverpb::WatchCreateRequest request;
  request.set_key(top_ + "head");
  request.set_range_end(EndOf(top_ + "log/"));
  request.set_start_revision(revision_ + 1);
  request.set_fragment(true);
  EtcdClient::Watch* watch = nullptr;
  {
    const MutexLock lock(mutex_);
    if (wish_ != Wish::kFollow) return absl::CancelledError("ended");
    watch_ = std::make_unique<EtcdClient::Watch>(client_, request);
    watch = watch_.get();
  }
  absl::Status status;
  while (status.ok()) {
    absl::StatusOr<etcdserverpb::WatchResponse> response = watch->Next();
    status = response.status();
    if (!status.ok()) break;
    int64_t revision = revision_;
    for (mvccpb::Event& event : *response->mutable_events()) {
      if (event.kv().mod_revision() > revision) {
        revision_ = revision;  // All of it has arrived.
        revision = event.kv().mod_revision();
      }
      status = Apply(event);
      if (!status.ok()) break;
    }
    if (!response->fragment()) revision_ = revision;
    SetNumber(records_.number);
  }
  const MutexLock lock(mutex_);
  watch_.reset();
  return status;
}

absl::Status EtcdFollower::Apply(mvccpb::Event& event) {
  const bool is_put = event.type() == mvccpb::Event::PUT;
  mvccpb::KeyValue& entry = *event.mutable_kv();
  const std::string_view key =
      std::string_view(entry.key())
          .substr(std::min(top_.size(), entry.key().size()));
  if (key.starts_with("log/")) {
    const int64_t number = NumberAfter('/', key);
    if (!is_put) {
      records_.log.erase(number);
    } else if (number > records_.number) {
      records_.log[number] = std::move(*entry.mutable_value());
    }
    return absl::OkStatus();
  }
  if (key != "head") return absl::OkStatus();
  records_.head = is_put ? entry.value() : "";
  ASSIGN_OR_RETURN(const int64_t head, NumberOf('-', records_.head));
  if (head < records_.number) {
    return absl::DataLossError(StrCat("the head of the log went back from ",
                                      records_.number, " to ", head));
  }
  while (records_.number < head) RETURN_IF_ERROR(records_.Advance());
  return absl::OkStatus();
}

}  // namespace sluice
