// Who may write to a store on etcd: whoever holds its leader's key.
//
// The key PREFIX/leader is bound to a lease, which its holder keeps alive. When
// the holder ends, or is silent for the length of the lease, etcd deletes the
// key.  Then another daemon may create it again, at another revision.  So the
// key and the revision that created it name one term of one leader: a
// transaction that compares both (Fence) does nothing after that term, whatever
// its sender believes.  Whatever is not a transaction, such as an answer from
// memory, must not leave after valid_until_us().
//
// A key without a lease was put by something else and never disappears by
// itself.  Then nobody can lead, and the log says once what to do.
//
// Threads: Campaign, AwaitVacancy and the destructor by one at a time; the rest
// by any.  A thread of its own keeps the lease alive.

#ifndef SLUICE_ETCD_ETCD_LEADERSHIP_H_
#define SLUICE_ETCD_ETCD_LEADERSHIP_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "etcd/etcd_client.h"
#include "sluice/base/clock.h"

namespace sluice {

// One term of one leader.
struct Fence {
  std::string key;
  int64_t create_revision = 0;
};

struct EtcdLeadershipOptions {
  // What others are told about the holder, such as "sluice-0 10.0.0.7:9090".
  std::string name;
  // How long the key outlives a holder that has fallen silent.
  int64_t lease_s = 10;
};

class EtcdLeadership {
 public:
  // Both must outlive it.  The clock must count while the machine is suspended
  // (base/boot_clock.h), since the lease ends meanwhile.
  EtcdLeadership(EtcdClient& client, const Clock& clock,
                 EtcdLeadershipOptions options);
  EtcdLeadership(const EtcdLeadership&) = delete;
  EtcdLeadership& operator=(const EtcdLeadership&) = delete;
  // Resigns if etcd answers within half a second; otherwise the lease ends by
  // itself.
  ~EtcdLeadership();

  // Tries once to become the leader and returns whether it leads now, which it
  // does until is_lost().  If it does not, holder() says who leads.
  // May be called again then, and after the leadership was lost.
  // Errors: those of the client.
  absl::StatusOr<bool> Campaign();

  // After a Campaign() that was lost: waits until the holder has gone.
  // Errors: kDeadlineExceeded if it is still there after the time; kUnavailable
  // if etcd does not tell.
  absl::Status AwaitVacancy(int64_t timeout_ms);

  // After a Campaign() that was lost: whether the holder has been silent for
  // more than half of the lease.  False if etcd does not tell.
  bool IsHolderSilent(int64_t timeout_ms);

  // The name of the leader that the last Campaign() found; it may be our own.
  std::string holder() const;

  // REQUIRES: Campaign() returned true.
  Fence fence() const;

  // A time of the clock until which nobody else leads.  Each message that keeps
  // the lease alive moves it, counted from before it was sent.
  int64_t valid_until_us() const { return valid_until_us_.load(); }
  bool leads() const { return clock_.MonotonicUs() < valid_until_us(); }
  // etcd has said that the lease has ended, or was set back.
  bool is_lost() const { return is_lost_.load(); }

 private:
  // Ends the thread and the lease.
  void Resign();
  void KeepAlive(int64_t lease);
  void Lose();
  // Whether somebody has deleted the key, has created it again or has set etcd
  // back.  False if etcd does not tell within this time.
  bool IsKeyGone(int64_t timeout_ms);
  void WarnIfWithoutLease(const mvccpb::KeyValue& key);

  EtcdClient& client_;
  const Clock& clock_;
  const EtcdLeadershipOptions options_;
  const std::string key_;
  int64_t lease_ = 0;         // 0: none.
  int64_t lease_us_ = 0;      // Its length.
  int64_t vacant_from_ = 0;   // The key may go from this revision on.
  int64_t holder_lease_ = 0;  // 0: none.
  int64_t warned_of_ = 0;     // Revision at which the key had no lease.
  std::thread keeper_;

  std::atomic<int64_t> create_revision_ = 0;
  std::atomic<int64_t> valid_until_us_ = 0;
  std::atomic<bool> is_lost_ = false;

  mutable Mutex mutex_;
  CondVar ends_;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::string holder_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_LEADERSHIP_H_
