// Keeps the records of a store on etcd in memory while another daemon leads, so
// that the next leader need not read them.
//
// It reads the store once, at one revision, and then watches the head and the
// log.  If a watch breaks, it goes on at another endpoint, provided that the
// head at the last revision is the one it knows.  Otherwise it reads the store
// again; it also does so if history is compacted or the log is not as it should
// be.  It never gives up: the leader is the one to report a faulty store.
//
// It needs as much memory as the store and its log.
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

  // Ends following; a first read that is under way ends first.
  // What the store held a short time ago; nothing if that is not known.
  std::optional<EtcdRecords> Take();

  // The last chunk of the log that it has seen; -1: it has not read the store
  // yet.
  int64_t number() const;

 private:
  enum class Wish { kFollow, kTake, kEnd };

  void Follow();
  void End(Wish wish);
  // Waits; returns at once when following is to end.
  void Pause(int64_t time_us);
  Wish wish() const;
  void SetNumber(int64_t number);

  // Reads the whole store.
  absl::Status Read();
  // Whether the store is still the one that was read, as far as that can be
  // told.  Errors: also kOutOfRange if it cannot be told.
  absl::Status CheckKnown();
  // Follows until that fails or is to end.
  absl::Status Watch();
  // Errors: kDataLoss.
  absl::Status Apply(mvccpb::Event& event);  // Takes its value.

  EtcdClient& client_;
  const std::string top_;  // All keys begin with it.

  // Only the thread uses these; whoever has joined it may use them, too.
  EtcdRecords records_;
  bool is_known_ = false;   // The records are true as of `revision_`.
  bool is_broken_ = false;  // The watch that went on from there has ended.
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
