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

// Between two tries where etcd does not answer as it should.
constexpr int64_t kRetryUs = 1'000'000;

// Stop() is noticed after so long at the latest.
constexpr int64_t kWatchMs = 500;

// A leader ends so long before others may lead, or a tenth of the lease if that
// is less.
constexpr int64_t kMarginUs = 500'000;

// Whether another try may mend it.
bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status) || absl::IsOutOfRange(status) ||
         absl::IsAborted(status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<EtcdReplica>> EtcdReplica::Make(
    const Options& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<EtcdClient> client,
                   EtcdClient::Make(options.client));
  return std::make_unique<EtcdReplica>(std::move(client), options.lease_s);
}

EtcdReplica::EtcdReplica(std::unique_ptr<EtcdClient> client, int64_t lease_s)
    : lease_s_(lease_s), client_(std::move(client)) {}

EtcdReplica::~EtcdReplica() = default;

absl::Status EtcdReplica::Lead(
    const std::string& address,
    absl::FunctionRef<void(const std::string&)> on_leader) {
  leadership_.emplace(
      *client_, clock_,
      EtcdLeadershipOptions{.name = address, .lease_s = lease_s_});
  roster_ = std::make_unique<EtcdRoster>(
      *client_, clock_,
      EtcdRoster::Options{.address = address, .lease_s = lease_s_});
  std::string last_error;
  while (!is_stopped()) {
    const absl::StatusOr<bool> leads = TryToLead(on_leader);
    if (leads.ok()) {
      last_error.clear();
      if (*leads) return absl::OkStatus();
      continue;
    }
    if (!IsPassing(leads.status())) return leads.status();
    if (last_error != Message(leads.status())) {
      last_error = std::string(Message(leads.status()));
      LOG(WARNING) << last_error << "; trying again";
    }
    Pause(kRetryUs);
  }
  return absl::CancelledError("stopped");
}

absl::StatusOr<bool> EtcdReplica::TryToLead(
    absl::FunctionRef<void(const std::string&)> on_leader) {
  RETURN_IF_ERROR(roster_->status());
  ASSIGN_OR_RETURN(const bool leads, leadership_->Campaign());
  roster_->SetLeads(leads);
  const std::string leader = leadership_->holder();
  if (told_leader_ != leader) {
    told_leader_ = leader;
    on_leader(leader);
  }
  if (leads) {
    std::optional<EtcdRecords> known;
    if (follower_ != nullptr) known = follower_->Take();
    follower_.reset();
    ASSIGN_OR_RETURN(store_, OpenEtcdStore(*client_, leadership_->fence(),
                                           std::move(known)));
    return true;
  }
  if (follower_ == nullptr)
    follower_ = std::make_unique<EtcdFollower>(*client_);
  absl::Status wait;
  do {
    RETURN_IF_ERROR(roster_->status());
    roster_->SetNumber(follower_->number());
    wait = leadership_->AwaitVacancy(kWatchMs);
  } while (absl::IsDeadlineExceeded(wait) && !is_stopped());
  // A watch that broke says nothing: the next campaign tells how things are.
  if (!wait.ok()) Pause(kWatchMs * 1000);
  return false;
}

absl::Status EtcdReplica::AwaitEnd() {
  const int64_t margin_us = std::min(kMarginUs, lease_s_ * 100'000);
  while (true) {
    const int64_t left_us =
        leadership_->valid_until_us() - margin_us - clock_.MonotonicUs();
    if (left_us <= 0) return Deposed();
    // A lease that etcd has ended is known before its time.
    if (!Pause(std::min(left_us, margin_us))) return absl::OkStatus();
  }
}

EtcdReplica::Replicas EtcdReplica::replicas() const {
  return {.leader = leadership_->holder(),
          .term = leadership_->fence().create_revision,
          .followers = roster_->followers()};
}

void EtcdReplica::Stop() {
  {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
  }
  stop_.NotifyAll();
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
  return absl::AbortedError(
      leadership_->is_lost()
          ? StrCat("deposed: the lease on ", description(), " has ended")
          : StrCat("deposed: the lease on ", description(),
                   " could not be kept alive, and ends"));
}

absl::Status EtcdReplica::Write(const WriteBatch& batch,
                                Durability durability) {
  return store_->Write(batch, durability);
}

absl::Status EtcdReplica::Scan(std::string_view prefix, Visitor visit) const {
  return store_->Scan(prefix, visit);
}

absl::Status EtcdReplica::CheckHeld() const {
  return leadership_->leads() ? absl::OkStatus() : Deposed();
}

std::string EtcdReplica::description() const {
  return ToString(client_->address());
}

}  // namespace sluice
