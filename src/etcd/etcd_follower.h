// Keeps the records of a store on etcd in memory while somebody else leads, so
// that who leads next need not read them.
//
// It reads the store once, at one revision, and then watches the head and the
// log.  A watch that breaks goes on at another endpoint if the head was then
// what it is known to have been; else, and where history is compacted or the
// log is not what it should be, the store is read again.  It never gives up:
// what is wrong with a store is for its leader to say.
//
// The memory is that of the store, with its log.
//
// Threads: any.  It has one of its own.

#ifndef SLUICE_ETCD_ETCD_FOLLOWER_H_
#define SLUICE_ETCD_ETCD_FOLLOWER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "etcd/etcd_client.h"
#include "etcd/etcd_records.h"
#include "etcd/rpc.pb.h"

namespace sluice {

class EtcdFollower {
 public:
  // Begins to follow the store at the address of `client`, which must outlive
  // it.
  explicit EtcdFollower(EtcdClient& client);
  EtcdFollower(const EtcdFollower&) = delete;
  EtcdFollower& operator=(const EtcdFollower&) = delete;
  ~EtcdFollower();

  // Ends following, after the first reading where that is under way.
  // What the store held not long ago; nothing if that is not known.
  std::optional<EtcdRecords> Take();

  // The last chunk of the log that it has seen; -1: it is not that far.
  int64_t number() const;

 private:
  enum class Wish { kFollow, kTake, kEnd };

  void Follow();
  void End(Wish wish);
  // Waits; returns at once when it is to end.
  void Pause(int64_t time_us);
  Wish wish() const;
  void SetNumber(int64_t number);

  // Reads the store anew.
  absl::Status Read();
  // Whether the store is still the one that was read, as far as it can be
  // told.  Errors: also kOutOfRange where it cannot.
  absl::Status CheckKnown();
  // Follows until that fails or is to end.
  absl::Status Watch();
  // Errors: kDataLoss.
  absl::Status Apply(mvccpb::Event& event);  // Takes its value.

  EtcdClient& client_;
  const std::string top_;  // Of all keys.

  // The thread's, and whose that was after it has ended.
  EtcdRecords records_;
  bool is_known_ = false;   // The records are true as of `revision_`.
  bool is_broken_ = false;  // And the watch that went on from there ended.
  int64_t revision_ = 0;

  mutable Mutex mutex_;
  CondVar changes_;
  Wish wish_ ABSL_GUARDED_BY(mutex_) = Wish::kFollow;
  std::unique_ptr<EtcdClient::Watch> watch_ ABSL_GUARDED_BY(mutex_);
  int64_t number_ ABSL_GUARDED_BY(mutex_) = -1;
  std::thread thread_;
};

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_FOLLOWER_H_
