// The followers of a store's leader on etcd, and how far each has come.
//
// A follower keeps the key PREFIX/followers/ADDRESS, with a lease of its own.
// The value is the number of the last chunk of the log that the follower has
// seen, written every second.  The leader reads these keys every second.
//
// The key also shows that two daemons have the same address.  A daemon that
// finds the key of its address, or a leader of that address, waits for the
// length of a lease, since either may come from its own previous life.  It
// waits anew whenever leases may have been renewed or could not end: etcd has
// another leader of its own, or did not answer.
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
    // Where clients reach this daemon; no other daemon has it.
    std::string address;
    int64_t lease_s = 10;
  };
  struct Follower {
    std::string address;
    // How many committed chunks of the log it had not seen when it last wrote
    // its key; -1: it has not read the store yet.
    int64_t lag = -1;
  };

  // Follows from now on.  Both must outlive it.
  EtcdRoster(EtcdClient& client, const Clock& clock, Options options);
  EtcdRoster(const EtcdRoster&) = delete;
  EtcdRoster& operator=(const EtcdRoster&) = delete;
  // Deletes the key if etcd answers within half a second.
  ~EtcdRoster();

  // Sets the last chunk that this one has seen as a follower; -1: none.
  void SetNumber(int64_t number);

  // Says whether it leads or follows from now on.
  void SetLeads(bool leads);

  // Errors: kAlreadyExists if another daemon has the address.
  absl::Status status() const;

  // While it leads: the followers by address, up to a second old; older while
  // etcd does not answer.
  std::vector<Follower> followers() const;

 private:
  void Run();
  // Waits for a second, or until there is something to do; false: ends.
  bool Pause();
  absl::Status WriteNumber();    // As a follower.
  absl::Status ReadFollowers();  // As the leader.
  void Leave();
  // Notes whether another daemon has the address, by an answer of etcd in this
  // term of its own leader.
  void SetTaken(bool is_taken, uint64_t raft_term);
  // The number of the head at a revision; of the current head if that revision
  // is compacted.
  absl::StatusOr<int64_t> HeadAt(int64_t revision);

  EtcdClient& client_;
  const Clock& clock_;
  const Options options_;
  const std::string top_;  // All keys begin with it.
  const std::string key_;

  // Used by the thread alone.
  int64_t lease_ = 0;  // 0: none.
  int64_t lease_us_ = 0;
  bool has_key_ = false;
  int64_t taken_since_us_ = 0;  // 0: the address is not taken.
  int64_t answered_us_ = 0;     // When that was last heard.
  uint64_t raft_term_ = 0;      // Of that answer.

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
