// One of several daemons on a store in etcd: it follows the leader, and leads
// when the leader has gone.  While it follows, it keeps the contents of the
// store in memory, so that it need not read them when it leads.  Once the
// leader has been silent for half of its lease, it has its owner prepare to
// lead.
//
// It can be used as a store while it leads.  etcd refuses its writes once
// another daemon may lead, and CheckHeld() reports that earlier, by a clock
// that also counts while the machine is suspended.
//
// Threads: Stop(), Cancel(), replicas() and CheckHeld() by any, the rest by one
// at a time.

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
#include "base/boot_clock.h"
#include "base/mutex.h"
#include "etcd/etcd_client.h"
#include "etcd/etcd_follower.h"
#include "etcd/etcd_leadership.h"
#include "etcd/etcd_roster.h"
#include "persist/store.h"

namespace sluice {

class EtcdReplica final : public Store {
 public:
  struct Options {
    EtcdClientOptions client;
    // How long a leader that has fallen silent still leads.
    int64_t lease_s = 10;
  };

  // Connects at the first call.
  // Errors: those of EtcdClient::Make().
  static absl::StatusOr<std::unique_ptr<EtcdReplica>> Make(
      const Options& options);

  // For Make().
  EtcdReplica(std::unique_ptr<EtcdClient> client, int64_t lease_s);
  // Resigns, so that another daemon may lead at once.  If etcd does not answer,
  // that ends after half a second.
  ~EtcdReplica() override;

  // What the owner does while this one follows.
  struct Calls {
    // Another daemon leads, at this address; empty: none does.
    absl::FunctionRef<void(const std::string& leader)> on_leader;
    // The leader may have gone: the owner reads the store by Scan() and builds
    // what it needs to lead.  May be called again, with newer records.
    // An error is logged.
    absl::FunctionRef<absl::Status()> prepare;
  };

  // Follows until this one leads, and opens the store.  Clients reach this one
  // at `address`, which no other daemon has.  If etcd is down, full or slow,
  // that is logged and tried again.
  // Errors: kCancelled after Stop(), and whatever another attempt does not
  // mend: the errors of OpenEtcdStore(), those of a client that etcd does not
  // let in, and kAlreadyExists if another daemon has the address.
  absl::Status Lead(const std::string& address, const Calls& calls);

  // While it leads, from Lead() on: whether the last `prepare` succeeded and
  // read exactly what the store held when this one began to lead.
  bool is_prepared() const { return is_prepared_; }

  // Waits until this one leads no longer.
  // Errors: kAborted, shortly before others may lead; kDataLoss if etcd was set
  // back.  OK after Stop().
  absl::Status AwaitEnd();

  // Ends Lead() and AwaitEnd(), now and later, at once even if etcd does not
  // answer.  If it leads by then, it still reads and writes.
  void Stop();

  // Stop(), and ends reads and writes as well, now and later, with kCancelled.
  // Whether a write that was under way was done is then unknown.
  void Cancel();

  struct Replicas {
    std::string leader;  // Its own address.
    int64_t term = 0;    // Grows with each leader.
    std::vector<EtcdRoster::Follower> followers;
  };
  // While it leads, from Lead() on; up to a second old.
  Replicas replicas() const;

  // While it leads, from Lead() on; Scan() in `prepare` as well.
  absl::Status Write(const WriteBatch& batch, Durability durability) override;
  absl::Status Scan(std::string_view prefix, Visitor visit) const override;
  absl::Status CheckHeld() const override;

  // The address in etcd.
  std::string description() const override;

 private:
  // One attempt.  Returns whether it leads.
  absl::StatusOr<bool> TryToLead(const Calls& calls);
  void Follow();
  // Suspends following for as long as the leader is silent.
  void Prepare(const Calls& calls);
  // Returns false after Stop().
  bool Pause(int64_t time_us);
  bool is_stopped() const;
  // Whether it leads; false after Stop().
  bool BeginToLead();
  // An etcd that was set back has lost the lease, too: has the client notice.
  void LookForASetBack();
  absl::Status Deposed() const;

  const BootClock clock_;
  const int64_t lease_s_;
  const int64_t watch_ms_;  // The delay until Stop() or silence is noticed.
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
  bool has_led_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_REPLICA_H_
