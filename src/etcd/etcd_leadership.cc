#include "etcd/etcd_leadership.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

constexpr int64_t kResignMs = 500;

// Creates the key with the lease if there is none; else reads the key.
etcdserverpb::TxnRequest MakeClaim(const std::string& key,
                                   const std::string& name, int64_t lease) {
  etcdserverpb::TxnRequest claim;
  etcdserverpb::Compare& compare = *claim.add_compare();
  compare.set_target(etcdserverpb::Compare::CREATE);
  compare.set_key(key);
  compare.set_create_revision(0);
  etcdserverpb::PutRequest& put = *claim.add_success()->mutable_request_put();
  put.set_key(key);
  put.set_value(name);
  put.set_lease(lease);
  claim.add_failure()->mutable_request_range()->set_key(key);
  return claim;
}

}  // namespace

EtcdLeadership::EtcdLeadership(EtcdClient& client, const Clock& clock,
                               EtcdLeadershipOptions options)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      key_(client.address().prefix + "/leader") {}

EtcdLeadership::~EtcdLeadership() { Resign(); }

void EtcdLeadership::Resign() {
  valid_until_us_ = 0;
  if (keeper_.joinable()) {
    {
      const MutexLock lock(mutex_);
      is_ending_ = true;
    }
    ends_.NotifyAll();
    keeper_.join();
    valid_until_us_ = 0;  // The thread may have moved it on once more.
    const MutexLock lock(mutex_);
    is_ending_ = false;
  }
  if (lease_ == 0) return;
  const absl::Status status = client_.RevokeLease(lease_, kResignMs);
  LOG_IF(WARNING, !status.ok()) << "resigning: " << status.message();
  lease_ = 0;
}

absl::StatusOr<bool> EtcdLeadership::Campaign() {
  Resign();
  etcdserverpb::RangeRequest look;
  look.set_key(key_);
  ASSIGN_OR_RETURN(etcdserverpb::RangeResponse seen, client_.Range(look));
  if (seen.kvs_size() == 0) {
    const int64_t sent_us = clock_.MonotonicUs();
    ASSIGN_OR_RETURN(const EtcdClient::Grant grant,
                     client_.GrantLease(options_.lease_s));
    lease_ = grant.lease;
    lease_us_ = grant.ttl_s * 1000000;
    ASSIGN_OR_RETURN(etcdserverpb::TxnResponse claim,
                     client_.Txn(MakeClaim(key_, options_.name, grant.lease)));
    int64_t revision = claim.succeeded() ? claim.header().revision() : 0;
    if (!claim.succeeded() && claim.responses_size() > 0) {
      seen = claim.responses(0).response_range();
      *seen.mutable_header() = claim.header();
      // The key is ours if the call was executed twice.
      if (seen.kvs_size() > 0 && seen.kvs(0).lease() == grant.lease) {
        revision = seen.kvs(0).create_revision();
      }
    }
    if (revision != 0) {
      create_revision_ = revision;
      is_lost_ = false;
      valid_until_us_ = sent_us + lease_us_;
      {
        const MutexLock lock(mutex_);
        holder_ = options_.name;
      }
      keeper_ = std::thread([this, lease = grant.lease] { KeepAlive(lease); });
      return true;
    }
    Resign();
  }
  if (seen.kvs_size() > 0) WarnIfWithoutLease(seen.kvs(0));
  vacant_from_ = seen.header().revision() + 1;
  holder_lease_ = seen.kvs_size() > 0 ? seen.kvs(0).lease() : 0;
  const MutexLock lock(mutex_);
  holder_ = seen.kvs_size() > 0 ? seen.kvs(0).value() : "";
  return false;
}

absl::Status EtcdLeadership::AwaitVacancy(int64_t timeout_ms) {
  return client_.AwaitDeletion(key_, vacant_from_, timeout_ms);
}

bool EtcdLeadership::IsHolderSilent(int64_t timeout_ms) {
  if (holder_lease_ == 0) return false;
  const absl::StatusOr<EtcdClient::Left> lease =
      client_.TimeToLive(holder_lease_, timeout_ms);
  if (!lease.ok()) return false;
  // etcd may have granted more than was asked for.  What is left is rounded
  // down: it is less than a second more.
  return lease->ttl_s == 0 || 2 * (lease->left_s + 1) <= lease->ttl_s;
}

void EtcdLeadership::KeepAlive(int64_t lease) {
  // Three attempts in each lease, and faster ones after a failure.
  const int64_t interval_us = lease_us_ / 3;
  int64_t next_us = clock_.MonotonicUs() + interval_us;
  for (;;) {
    {
      const MutexLock lock(mutex_);
      for (int64_t left_us = next_us - clock_.MonotonicUs();
           left_us > 0 && !is_ending_;
           left_us = next_us - clock_.MonotonicUs()) {
        ends_.WaitFor(mutex_, left_us);
      }
      if (is_ending_) return;
    }
    const int64_t sent_us = clock_.MonotonicUs();
    const absl::StatusOr<int64_t> ttl_s =
        client_.KeepAlive(lease, interval_us / 1000);
    // The client answers nothing more once etcd was set back.
    if (absl::IsDataLoss(ttl_s.status())) return Lose();
    if (!ttl_s.ok()) {
      LOG_IF(WARNING, !absl::IsCancelled(ttl_s.status()))
          << ttl_s.status().message();
      next_us = sent_us + interval_us / 4;
      continue;
    }
    if (*ttl_s <= 0) return Lose();
    valid_until_us_ = sent_us + *ttl_s * 1000000;
    next_us = sent_us + interval_us;
    if (IsKeyGone(interval_us / 1000)) return Lose();
  }
}

void EtcdLeadership::Lose() {
  is_lost_ = true;
  valid_until_us_ = 0;
}

bool EtcdLeadership::IsKeyGone(int64_t timeout_ms) {
  etcdserverpb::RangeRequest look;
  look.set_key(key_);
  const absl::StatusOr<etcdserverpb::RangeResponse> seen =
      client_.Range(look, timeout_ms);
  if (absl::IsDataLoss(seen.status())) return true;  // etcd was set back.
  if (!seen.ok()) return false;  // The next transaction will tell.
  if (seen->kvs_size() > 0) WarnIfWithoutLease(seen->kvs(0));
  return seen->kvs_size() == 0 ||
         seen->kvs(0).create_revision() != create_revision_;
}

void EtcdLeadership::WarnIfWithoutLease(const mvccpb::KeyValue& key) {
  if (key.lease() != 0 || key.mod_revision() == warned_of_) return;
  warned_of_ = key.mod_revision();
  LOG(ERROR) << "etcd: the key " << key_ << " has no lease, so it was put ('"
             << Printable(key.value(), 64)
             << "') by something other than a daemon; no daemon can lead until "
                "it is deleted: run `etcdctl del "
             << key_ << "`";
}

std::string EtcdLeadership::holder() const {
  const MutexLock lock(mutex_);
  return holder_;
}

Fence EtcdLeadership::fence() const {
  return {.key = key_, .create_revision = create_revision_.load()};
}

}  // namespace sluice
