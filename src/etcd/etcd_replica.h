// One of several daemons on a store in etcd: it follows the one that leads, and
// leads when that has gone.  While it follows it keeps what is in the store in
// memory, so that it need not read it when it leads.  Once the leader has been
// silent for half of its lease, it has its owner prepare to lead.
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

  // What the owner does meanwhile.
  struct Calls {
    // Somebody else leads, at this address; empty: nobody does.
    absl::FunctionRef<void(const std::string& leader)> on_leader;
    // The leader may have gone: read what the store holds, by Scan(), and make
    // of it what leading needs.  May be called again, with newer records.
    // An error is logged.
    absl::FunctionRef<absl::Status()> prepare;
  };

  // Follows until this one leads, and opens the store.  `address`, which no
  // other has, is where clients reach this one.  What cannot be done for now
  // (etcd is away, full or slow) is logged and tried again.
  // Errors: kCancelled after Stop(); whatever trying again does not mend: those
  // of OpenEtcdStore(), of a client that etcd does not let in, and
  // kAlreadyExists where another one has the address.
  absl::Status Lead(const std::string& address, const Calls& calls);

  // While it leads, from Lead() on: whether the last `prepare` succeeded, and
  // read what the store held when this one began to lead.
  bool is_prepared() const { return is_prepared_; }

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

  // While it leads, from Lead() on; Scan() in `prepare` as well.
  absl::Status Write(const WriteBatch& batch, Durability durability) override;
  absl::Status Scan(std::string_view prefix, Visitor visit) const override;
  absl::Status CheckHeld() const override;

  // The address in etcd.
  std::string description() const override;

 private:
  // One try.  Returns whether it leads.
  absl::StatusOr<bool> TryToLead(const Calls& calls);
  void Follow();
  // Ends following for as long as the leader is silent.
  void Prepare(const Calls& calls);
  // Returns false after Stop().
  bool Pause(int64_t time_us);
  bool is_stopped() const;
  absl::Status Deposed() const;

  const SystemClock clock_;
  const int64_t lease_s_;
  const int64_t watch_ms_;  // Stop() and silence are noticed so soon.
  const std::unique_ptr<EtcdClient> client_;
  std::optional<EtcdLeadership> leadership_;
  std::unique_ptr<EtcdFollower> follower_;    // While it follows.
  std::optional<EtcdRecords> known_;          // While the leader is silent.
  std::optional<std::string> prepared_head_;  // Of the records prepared from.
  bool is_prepared_ = false;
  std::unique_ptr<EtcdRoster> roster_;
  std::unique_ptr<Store> store_;
  std::optional<std::string> told_leader_;

  mutable Mutex mutex_;
  CondVar stop_;
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_REPLICA_H_
