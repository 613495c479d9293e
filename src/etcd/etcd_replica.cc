#include "etcd/etcd_replica.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "etcd/etcd_address.h"
#include "etcd/etcd_store.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 256;

// The pause between two attempts when etcd does not answer as it should.
constexpr int64_t kRetryUs = 1'000'000;

// The longest delay until Stop() and a leader's silence are noticed; an eighth
// of the lease if that is less.
constexpr int64_t kWatchMsMax = 500;

// A leader ends this long before others may lead; a tenth of the lease if that
// is less.
constexpr int64_t kMarginUs = 500'000;

// A member of etcd may be silent for a third of the lease before the next one
// is asked, so that a silent member costs no leader its lease.
int64_t AttemptMs(int64_t lease_s) {
  return std::min(EtcdClientOptions().attempt_ms, lease_s * 1000 / 3);
}

// How long a daemon that ends asks etcd why its lease is gone.
constexpr int64_t kLookMs = 500;

// Whether another attempt may succeed.
bool IsTransient(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status) || absl::IsOutOfRange(status) ||
         absl::IsAborted(status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<EtcdReplica>> EtcdReplica::Make(
    const Options& options) {
  EtcdClientOptions client_options = options.client;
  client_options.attempt_ms = AttemptMs(options.lease_s);
  ASSIGN_OR_RETURN(std::unique_ptr<EtcdClient> client,
                   EtcdClient::Make(client_options));
  return std::make_unique<EtcdReplica>(std::move(client), options.lease_s);
}

EtcdReplica::EtcdReplica(std::unique_ptr<EtcdClient> client, int64_t lease_s)
    : lease_s_(lease_s),
      watch_ms_(std::min(kWatchMsMax, lease_s * 1000 / 8)),
      client_(std::move(client)) {}

EtcdReplica::~EtcdReplica() {
  // What the threads of its parts still wait for is of no use any more.
  client_->Cancel();
}

absl::Status EtcdReplica::Lead(const std::string& address, const Calls& calls) {
  leadership_.emplace(
      *client_, clock_,
      EtcdLeadershipOptions{.name = address, .lease_s = lease_s_});
  roster_ = std::make_unique<EtcdRoster>(
      *client_, clock_,
      EtcdRoster::Options{.address = address, .lease_s = lease_s_});
  std::string last_error;
  while (!is_stopped()) {
    const absl::StatusOr<bool> leads = TryToLead(calls);
    if (leads.ok()) {
      last_error.clear();
      if (*leads && BeginToLead()) return absl::OkStatus();
      continue;
    }
    if (is_stopped()) break;
    if (!IsTransient(leads.status())) return leads.status();
    if (last_error != Message(leads.status())) {
      last_error = std::string(Message(leads.status()));
      LOG(WARNING) << last_error << "; trying again";
    }
    Pause(kRetryUs);
  }
  return absl::CancelledError("stopped");
}

absl::StatusOr<bool> EtcdReplica::TryToLead(const Calls& calls) {
  RETURN_IF_ERROR(roster_->status());
  ASSIGN_OR_RETURN(const bool leads, leadership_->Campaign());
  roster_->SetLeads(leads);
  const std::string leader = leadership_->holder();
  if (told_leader_ != leader) {
    told_leader_ = leader;
    calls.on_leader(leader);
  }
  if (leads) {
    if (follower_ != nullptr) known_ = follower_->Take();
    follower_.reset();
    std::string head;
    ASSIGN_OR_RETURN(store_,
                     OpenEtcdStore(*client_, leadership_->fence(),
                                   std::exchange(known_, std::nullopt), &head));
    is_prepared_ = prepared_head_ == head;
    return true;
  }
  absl::Status wait;
  do {
    RETURN_IF_ERROR(roster_->status());
    if (!leadership_->IsHolderSilent(watch_ms_)) {
      Follow();
    } else if (!known_.has_value()) {
      Prepare(calls);
    }
    roster_->SetNumber(known_.has_value() ? known_->number
                                          : follower_->number());
    wait = leadership_->AwaitVacancy(watch_ms_);
  } while (absl::IsDeadlineExceeded(wait) && !is_stopped());
  // If the watch broke, nothing is known: the next campaign will tell.
  if (!wait.ok()) Pause(watch_ms_ * 1000);
  return false;
}

void EtcdReplica::Follow() {
  known_.reset();
  if (follower_ != nullptr) return;
  follower_ = std::make_unique<EtcdFollower>(*client_);
}

void EtcdReplica::Prepare(const Calls& calls) {
  if (follower_ != nullptr) known_ = follower_->Take();
  follower_.reset();
  if (!known_.has_value()) return Follow();
  LOG(INFO) << "the leader is silent; preparing to lead";
  const absl::Status status = calls.prepare();
  LOG_IF(WARNING, !status.ok()) << "preparing to lead: " << Message(status);
  prepared_head_.reset();
  if (status.ok()) prepared_head_ = known_->head;
}

absl::Status EtcdReplica::AwaitEnd() {
  const int64_t margin_us = std::min(kMarginUs, lease_s_ * 100'000);
  while (true) {
    const int64_t left_us =
        leadership_->valid_until_us() - margin_us - clock_.MonotonicUs();
    if (left_us <= 0) {
      LookForASetBack();
      return Deposed();
    }
    // Wakes up early: etcd may say that it has ended the lease.
    if (!Pause(std::min(left_us, margin_us))) return absl::OkStatus();
  }
}

void EtcdReplica::LookForASetBack() {
  if (!leadership_->is_lost()) return;
  etcdserverpb::RangeRequest look;
  look.set_key(leadership_->fence().key);
  client_->Range(look, kLookMs).IgnoreError();
}

EtcdReplica::Replicas EtcdReplica::replicas() const {
  return {.leader = leadership_->holder(),
          .term = leadership_->fence().create_revision,
          .followers = roster_->followers()};
}

void EtcdReplica::Stop() {
  bool has_led = false;
  {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
    has_led = has_led_;
  }
  stop_.NotifyAll();
  if (!has_led) client_->Cancel();
}

void EtcdReplica::Cancel() {
  Stop();
  client_->Cancel();
}

bool EtcdReplica::BeginToLead() {
  const MutexLock lock(mutex_);
  has_led_ = !is_stopped_;
  return has_led_;
}

bool EtcdReplica::Pause(int64_t time_us) {
  const MutexLock lock(mutex_);
  if (!is_stopped_) stop_.WaitFor(mutex_, time_us);
  return !is_stopped_;
}

bool EtcdReplica::is_stopped() const {
  const MutexLock lock(mutex_);
  return is_stopped_;
}

absl::Status EtcdReplica::Deposed() const {
  RETURN_IF_ERROR(client_->set_back());
  return absl::AbortedError(
      leadership_->is_lost()
          ? StrCat("deposed: the lease on ", description(), " has ended")
          : StrCat("deposed: the lease on ", description(),
                   " could not be kept alive and is about to end"));
}

absl::Status EtcdReplica::Write(const WriteBatch& batch,
                                Durability durability) {
  return store_->Write(batch, durability);
}

absl::Status EtcdReplica::Scan(std::string_view prefix, Visitor visit) const {
  if (store_ != nullptr) return store_->Scan(prefix, visit);
  return known_->Scan(client_->address().prefix + "/", prefix, visit);
}

absl::Status EtcdReplica::CheckHeld() const {
  return leadership_->leads() ? absl::OkStatus() : Deposed();
}

std::string EtcdReplica::description() const {
  return ToString(client_->address());
}

}  // namespace sluice
