// One of several daemons on a store in etcd: it follows the one that leads, and
// leads when that has gone.  While it follows it keeps what is in the store in
// memory, so that it need not read it when it leads.
//
// As a store it is usable while it leads: what it writes is refused by etcd
// once somebody else may lead, and CheckHeld() says so by the monotonic clock
// before that.
//
// Threads: Stop(), replicas() and CheckHeld() by any, the rest by one at a
// time.

#ifndef SLUICE_ETCD_ETCD_REPLICA_H_
#define SLUICE_ETCD_ETCD_REPLICA_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "etcd/etcd_client.h"
#include "etcd/etcd_follower.h"
#include "etcd/etcd_leadership.h"
#include "etcd/etcd_roster.h"
#include "persist/store.h"
#include "sluice/base/clock.h"

namespace sluice {

class EtcdReplica final : public Store {
 public:
  struct Options {
    EtcdClientOptions client;
    // How long a leader that is not heard of still leads.
    int64_t lease_s = 10;
  };

  // Connects when it is needed.
  // Errors: those of EtcdClient::Make().
  static absl::StatusOr<std::unique_ptr<EtcdReplica>> Make(
      const Options& options);

  // For Make().
  EtcdReplica(std::unique_ptr<EtcdClient> client, int64_t lease_s);
  // Lets others lead at once.
  ~EtcdReplica() override;

  // Follows until this one leads, and opens the store.  `address`, which no
  // other has, is where clients reach this one.  Calls `on_leader` with the
  // address of whoever leads meanwhile, each time that it is another; empty:
  // nobody does.  What cannot be done for now (etcd is away, full or slow) is
  // logged and tried again.
  // Errors: kCancelled after Stop(); whatever trying again does not mend: those
  // of OpenEtcdStore(), of a client that etcd does not let in, and
  // kAlreadyExists where another one has the address.
  absl::Status Lead(const std::string& address,
                    absl::FunctionRef<void(const std::string&)> on_leader);

  // Waits as long as this one leads.
  // Errors: kAborted, shortly before others may lead.  OK after Stop().
  absl::Status AwaitEnd();

  // Ends both waits, now and later.
  void Stop();

  struct Replicas {
    std::string leader;  // The address of this one.
    int64_t term = 0;    // Grows with each leader.
    std::vector<EtcdRoster::Follower> followers;
  };
  // While it leads, from Lead() on: as of a second ago.
  Replicas replicas() const;

  // While it leads, from Lead() on.
  absl::Status Write(const WriteBatch& batch, Durability durability) override;
  absl::Status Scan(std::string_view prefix, Visitor visit) const override;
  absl::Status CheckHeld() const override;

  // The address in etcd.
  std::string description() const override;

 private:
  // One try.  Returns whether it leads.
  absl::StatusOr<bool> TryToLead(
      absl::FunctionRef<void(const std::string&)> on_leader);
  // Returns false after Stop().
  bool Pause(int64_t time_us);
  bool is_stopped() const;
  absl::Status Deposed() const;

  const SystemClock clock_;
  const int64_t lease_s_;
  const std::unique_ptr<EtcdClient> client_;
  std::optional<EtcdLeadership> leadership_;
  std::unique_ptr<EtcdFollower> follower_;  // While it follows.
  std::unique_ptr<EtcdRoster> roster_;
  std::unique_ptr<Store> store_;
  std::optional<std::string> told_leader_;

  mutable Mutex mutex_;
  CondVar stop_;
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_REPLICA_H_
