// Who may write to a store on etcd: whoever holds its leader's key.
//
// The key PREFIX/leader has the lease of its holder, who keeps that alive. When
// the holder ends or is not heard of for a lease, etcd deletes the key and
// somebody else may make it anew, at another revision.  So the key with the
// revision at which it was made names one time of one holder: a transaction
// that compares it (Fence) does nothing after that time, whatever its sender
// believes.  What is not a transaction, such as an answer from memory, must not
// leave after valid_until_us().
//
// A key without a lease was put by somebody else and never goes by itself: then
// nobody can lead, and the log says once what to do.
//
// Threads: Campaign, AwaitVacancy and the destructor by one at a time; the rest
// by any.  Keeping the lease has a thread of its own.

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

// One time of one leader.
struct Fence {
  std::string key;
  int64_t create_revision = 0;
};

struct EtcdLeadershipOptions {
  // What others are told about the holder, such as "sluice-0 10.0.0.7:9090".
  std::string name;
  // How long the key outlives a holder that is not heard of.
  int64_t lease_s = 10;
};

class EtcdLeadership {
 public:
  // Both must outlive it.
  EtcdLeadership(EtcdClient& client, const Clock& clock,
                 EtcdLeadershipOptions options);
  EtcdLeadership(const EtcdLeadership&) = delete;
  EtcdLeadership& operator=(const EtcdLeadership&) = delete;
  // Gives the leadership back, as far as etcd can be reached within a second;
  // else the lease ends by itself.
  ~EtcdLeadership();

  // Tries once to become the leader; returns whether it is, from now on until
  // is_lost().  If not, holder() says who is.
  // May be called again then, or when it was lost.
  // Errors: those of the client.
  absl::StatusOr<bool> Campaign();

  // After a Campaign() that was lost: waits until the holder has gone.
  // Errors: kDeadlineExceeded if it is still there after the time; kUnavailable
  // if it cannot be known.
  absl::Status AwaitVacancy(int64_t timeout_ms);

  // After a Campaign() that was lost: whether the holder has not been heard of
  // for more than half of the lease.  False where that cannot be known.
  bool IsHolderSilent(int64_t timeout_ms);

  // The name of the leader that the last Campaign() found, or one's own.
  std::string holder() const;

  // REQUIRES: Campaign() returned true.
  Fence fence() const;

  // By the monotonic clock: until then nobody else leads.  It is later with
  // each message that keeps the lease, counted from before that was sent.
  // While a machine is suspended its clock stands still: what a machine does
  // first when it wakes up only the fence can stop.
  int64_t valid_until_us() const { return valid_until_us_.load(); }
  bool leads() const { return clock_.MonotonicUs() < valid_until_us(); }
  // etcd has said that the lease has ended.
  bool is_lost() const { return is_lost_.load(); }

 private:
  // Ends the thread and the lease.
  void Resign();
  void KeepAlive(int64_t lease);
  // Whether somebody has deleted the key, or made it anew, as far as that can
  // be known in this time.
  bool IsKeyGone(int64_t timeout_ms);
  void WarnIfItNeverGoes(const mvccpb::KeyValue& key);

  EtcdClient& client_;
  const Clock& clock_;
  const EtcdLeadershipOptions options_;
  const std::string key_;
  int64_t lease_ = 0;         // 0: none.
  int64_t lease_us_ = 0;      // How long it lasts.
  int64_t vacant_from_ = 0;   // The revision after which the key may go.
  int64_t holder_lease_ = 0;  // 0: none.
  int64_t warned_of_ = 0;     // A revision of the key without a lease.
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
