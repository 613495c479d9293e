// Who follows the leader of a store on etcd, and how far.
//
// A follower keeps the key PREFIX/followers/ADDRESS, with a lease of its own
// and the number of the last chunk of the log that it has seen, and writes it
// anew every second.  The leader reads these keys every second.
//
// That key tells as well that two daemons have one address: who finds it there,
// or a leader of that address, waits for as long as a lease, since it may be
// its own of a life before.
//
// Threads: any.  It has one of its own.

#ifndef SLUICE_ETCD_ETCD_ROSTER_H_
#define SLUICE_ETCD_ETCD_ROSTER_H_

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "etcd/etcd_client.h"
#include "sluice/base/clock.h"

namespace sluice {

class EtcdRoster {
 public:
  struct Options {
    // Where clients reach this daemon; no other has it.
    std::string address;
    int64_t lease_s = 10;
  };
  struct Follower {
    std::string address;
    // Chunks of the log that counts which it had not seen when it last wrote
    // its key; -1: it does not know yet what is in the store.
    int64_t lag = -1;
  };

  // Follows from now on.  Both must outlive it.
  EtcdRoster(EtcdClient& client, const Clock& clock, Options options);
  EtcdRoster(const EtcdRoster&) = delete;
  EtcdRoster& operator=(const EtcdRoster&) = delete;
  // Takes the key away, as far as etcd can be reached within a second.
  ~EtcdRoster();

  // The last chunk that this one has seen, if it follows; -1: none.
  void SetNumber(int64_t number);

  // It leads from now on, or follows again.
  void SetLeads(bool leads);

  // Errors: kAlreadyExists if another daemon has the address.
  absl::Status status() const;

  // While it leads: the followers by address, as of a second ago; of longer ago
  // while etcd does not answer.
  std::vector<Follower> followers() const;

 private:
  void Run();
  // Waits for a second, or less if there is something to do; false: to end.
  bool Pause();
  absl::Status Tell();  // As a follower.
  absl::Status Look();  // As the leader.
  void Leave();
  // Whether somebody else has the address now.
  void TakeNote(bool is_taken);
  // The number of the head at a revision, or of now if that is compacted.
  absl::StatusOr<int64_t> HeadAt(int64_t revision);

  EtcdClient& client_;
  const Clock& clock_;
  const Options options_;
  const std::string top_;  // Of all keys.
  const std::string key_;

  // The thread's.
  int64_t lease_ = 0;  // 0: none.
  int64_t lease_us_ = 0;
  bool has_key_ = false;
  int64_t taken_since_us_ = 0;  // 0: it is not.

  mutable Mutex mutex_;
  CondVar changes_;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool leads_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t number_ ABSL_GUARDED_BY(mutex_) = -1;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::vector<Follower> followers_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_ROSTER_H_
