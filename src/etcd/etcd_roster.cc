#include "etcd/etcd_roster.h"

#include <glog/logging.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "etcd/etcd_address.h"
#include "etcd/etcd_records.h"
#include "etcd/rpc.pb.h"

namespace sluice {
namespace {

constexpr int64_t kPauseUs = 1'000'000;
constexpr int64_t kCallMs = 1000;
constexpr int64_t kLeaveMs = 500;
// etcd may end a lease this much later than it says.
constexpr int64_t kGraceUs = 1'500'000;
// An etcd that took longer between two answers did not answer meanwhile.
constexpr int64_t kSilentUs = 2'500'000;

const mvccpb::KeyValue* Found(const etcdserverpb::TxnResponse& response,
                              int index) {
  if (index >= response.responses_size()) return nullptr;
  const auto& range = response.responses(index).response_range();
  return range.kvs_size() > 0 ? &range.kvs(0) : nullptr;
}

}  // namespace

EtcdRoster::EtcdRoster(EtcdClient& client, const Clock& clock, Options options)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      top_(client.address().prefix + "/"),
      key_(StrCat(top_, "followers/", options_.address)),
      thread_([this] { Run(); }) {}

EtcdRoster::~EtcdRoster() {
  {
    const MutexLock lock(mutex_);
    is_ending_ = true;
  }
  changes_.NotifyAll();
  thread_.join();
  Leave();
}

void EtcdRoster::SetNumber(int64_t number) {
  const MutexLock lock(mutex_);
  number_ = number;
}

void EtcdRoster::SetLeads(bool leads) {
  {
    const MutexLock lock(mutex_);
    leads_ = leads;
  }
  changes_.NotifyAll();
}

absl::Status EtcdRoster::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

std::vector<EtcdRoster::Follower> EtcdRoster::followers() const {
  const MutexLock lock(mutex_);
  return followers_;
}

void EtcdRoster::Run() {
  std::string last_error;
  bool leads = false;
  do {
    {
      const MutexLock lock(mutex_);
      leads = leads_;
    }
    const absl::Status status = leads ? ReadFollowers() : WriteNumber();
    if (!status.ok()) taken_since_us_ = 0;
    if (last_error != Message(status) && !absl::IsCancelled(status)) {
      last_error = std::string(Message(status));
      LOG_IF(WARNING, !status.ok()) << "followers: " << last_error;
    }
  } while (Pause());
}

bool EtcdRoster::Pause() {
  const int64_t end_us = clock_.MonotonicUs() + kPauseUs;
  const MutexLock lock(mutex_);
  const bool leads = leads_;
  for (int64_t left_us = kPauseUs;
       left_us > 0 && !is_ending_ && leads == leads_;
       left_us = end_us - clock_.MonotonicUs()) {
    changes_.WaitFor(mutex_, left_us);
  }
  return !is_ending_;
}

void EtcdRoster::Leave() {
  if (lease_ == 0) return;
  const absl::Status status = client_.RevokeLease(lease_, kLeaveMs);
  LOG_IF(WARNING, !status.ok()) << "followers: " << status.message();
  lease_ = 0;
  has_key_ = false;
}

absl::Status EtcdRoster::WriteNumber() {
  if (lease_ != 0) {
    ASSIGN_OR_RETURN(const int64_t ttl_s, client_.KeepAlive(lease_, kCallMs));
    if (ttl_s <= 0) lease_ = 0;
  }
  if (lease_ == 0) {
    has_key_ = false;
    ASSIGN_OR_RETURN(const EtcdClient::Grant grant,
                     client_.GrantLease(options_.lease_s));
    lease_ = grant.lease;
    lease_us_ = grant.ttl_s * 1'000'000;
  }
  etcdserverpb::TxnRequest request;
  etcdserverpb::Compare& compare = *request.add_compare();
  compare.set_key(key_);
  if (has_key_) {
    compare.set_target(etcdserverpb::Compare::LEASE);
    compare.set_lease(lease_);
  } else {
    compare.set_target(etcdserverpb::Compare::CREATE);
    compare.set_create_revision(0);
  }
  etcdserverpb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(key_);
  put.set_lease(lease_);
  {
    const MutexLock lock(mutex_);
    put.set_value(StrCat(number_));
  }
  request.add_failure()->mutable_request_range()->set_key(key_);
  for (auto* list : {request.mutable_success(), request.mutable_failure()}) {
    list->Add()->mutable_request_range()->set_key(top_ + "leader");
  }
  ASSIGN_OR_RETURN(const etcdserverpb::TxnResponse told, client_.Txn(request));
  const mvccpb::KeyValue* found = told.succeeded() ? nullptr : Found(told, 0);
  const mvccpb::KeyValue* leader = Found(told, 1);
  // The key is also ours if the call was executed twice.
  has_key_ = told.succeeded() || (found != nullptr && found->lease() == lease_);
  SetTaken((found != nullptr && !has_key_) ||
               (leader != nullptr && leader->value() == options_.address),
           told.header().raft_term());
  return absl::OkStatus();
}

void EtcdRoster::SetTaken(bool is_taken, uint64_t raft_term) {
  const int64_t now_us = clock_.MonotonicUs();
  const bool was_silent =
      now_us - std::exchange(answered_us_, now_us) > kSilentUs;
  // A new leader of etcd renews all leases in full.
  const bool is_renewed = std::exchange(raft_term_, raft_term) != raft_term;
  if (!is_taken) {
    taken_since_us_ = 0;
    return;
  }
  if (taken_since_us_ == 0) {
    LOG(INFO) << "followers: the address " << Printable(options_.address, 256)
              << " is taken, perhaps by what this daemon left when it was "
                 "killed; waiting for its lease to end";
  }
  if (taken_since_us_ == 0 || was_silent || is_renewed) {
    taken_since_us_ = now_us;
  }
  const MutexLock lock(mutex_);
  // This daemon may lead by now.
  if (leads_ || now_us - taken_since_us_ <= lease_us_ + kGraceUs) return;
  status_ = absl::AlreadyExistsError(
      StrCat("another daemon on ", ToString(client_.address()),
             " also has the address ", Printable(options_.address, 256),
             ": each needs its own --advertise_address"));
}

absl::Status EtcdRoster::ReadFollowers() {
  Leave();
  etcdserverpb::RangeRequest request;
  request.set_key(top_ + "followers/");
  request.set_range_end(EndOf(request.key()));
  ASSIGN_OR_RETURN(const etcdserverpb::RangeResponse found,
                   client_.Range(request));
  std::vector<Follower> followers;
  for (const mvccpb::KeyValue& entry : found.kvs()) {
    Follower& follower = followers.emplace_back();
    follower.address = entry.key().substr(request.key().size());
    const int64_t number = NumberAfter('/', entry.value());
    if (number < 0) continue;
    ASSIGN_OR_RETURN(const int64_t head, HeadAt(entry.mod_revision()));
    follower.lag = std::max<int64_t>(head - number, 0);
  }
  const MutexLock lock(mutex_);
  followers_ = std::move(followers);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> EtcdRoster::HeadAt(int64_t revision) {
  etcdserverpb::RangeRequest request;
  request.set_key(top_ + "head");
  request.set_revision(revision);
  absl::StatusOr<etcdserverpb::RangeResponse> found = client_.Range(request);
  if (absl::IsOutOfRange(found.status())) {
    request.set_revision(0);
    found = client_.Range(request);
  }
  RETURN_IF_ERROR(found.status());
  if (found->kvs_size() == 0) return 0;
  return NumberAfter('-', found->kvs(0).value());
}

}  // namespace sluice
