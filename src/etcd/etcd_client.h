// Calls to an etcd cluster, one by one or several at a time.
//
// A call goes to the endpoint that answered last.  If that endpoint is down, is
// silent or has no leader, the call is made again at the next one, round and
// round, until its time is over.  Each round gives an attempt twice the time of
// the round before: a silent member costs little, and a slow one is waited for.
// So etcd may execute a call twice, or execute it after the client gave it up.
// Callers only make calls that do no harm then, because their transactions
// compare what they expect.
//
// An etcd that was set back to an older state is not the one that we know.  The
// client checks each answer to Range and Txn: another cluster, or a revision
// below one that was seen before the call, is kDataLoss, and so is every later
// call.  A new process has seen nothing yet and cannot notice that an answer is
// old.
//
// Threads: any.  Every call blocks until it is answered, its time is over or
// Cancel() is called.

#ifndef SLUICE_ETCD_ETCD_CLIENT_H_
#define SLUICE_ETCD_ETCD_CLIENT_H_

#include <grpcpp/client_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "etcd/etcd_address.h"
#include "etcd/rpc.pb.h"
#include "sluice/base/clock.h"

namespace sluice {

struct EtcdClientOptions {
  EtcdAddress address;
  // Files in PEM.  With a `ca_file` the client speaks TLS to etcd and trusts
  // that CA; with the other two it shows etcd its own certificate.  What takes
  // their place is used for connections from two seconds later on.
  std::string ca_file = {};
  std::string cert_file = {};
  std::string key_file = {};
  // How long a call is tried, over all endpoints.
  int64_t timeout_ms = 10000;
  // In the first round: how long one endpoint may be silent before the next one
  // is asked.
  int64_t attempt_ms = 1000;
};

class EtcdClient {
 public:
  // Connects when the first call is made.
  // Errors: a file that cannot be read, a certificate without a key, a key
  // without a certificate, and either of them without a CA.
  static absl::StatusOr<std::unique_ptr<EtcdClient>> Make(
      const EtcdClientOptions& options);

  // As Make(), with credentials that the caller has made.
  EtcdClient(const EtcdClientOptions& options,
             const std::shared_ptr<grpc::ChannelCredentials>& credentials);
  ~EtcdClient();
  EtcdClient(const EtcdClient&) = delete;
  EtcdClient& operator=(const EtcdClient&) = delete;

  // Ends all calls and watches but RevokeLease(), now and later, with
  // kCancelled.  etcd may still execute a call that was under way.
  void Cancel();

  // Errors, here and below, name the endpoint and the prefix.
  // kUnavailable: no endpoint could be reached or had a leader.
  // kDeadlineExceeded: none answered in time; etcd may still execute the call.
  // kResourceExhausted: etcd is full.  kDataLoss: as above.  kOutOfRange: the
  // revision is compacted.  kInvalidArgument: too large, or too many
  // operations.  kPermissionDenied, kUnauthenticated: etcd does not let us in.
  // A timeout of 0 means that of the options.
  absl::StatusOr<etcdserverpb::RangeResponse> Range(
      const etcdserverpb::RangeRequest& request, int64_t timeout_ms = 0);
  absl::StatusOr<etcdserverpb::TxnResponse> Txn(
      const etcdserverpb::TxnRequest& request);
  // The same for several transactions, some at a time and in any order.
  absl::StatusOr<std::vector<etcdserverpb::TxnResponse>> TxnAll(
      const std::vector<etcdserverpb::TxnRequest>& requests);

  absl::Status Compact(int64_t revision);

  struct Grant {
    int64_t lease = 0;
    int64_t ttl_s = 0;  // May be longer than requested.
  };
  absl::StatusOr<Grant> GrantLease(int64_t ttl_s);
  // Also OK if there is no such lease.
  absl::Status RevokeLease(int64_t lease, int64_t timeout_ms);
  // Seconds for which the lease lasts after etcd got this; 0: it has ended.
  absl::StatusOr<int64_t> KeepAlive(int64_t lease, int64_t timeout_ms);

  struct Left {
    int64_t left_s = 0;  // Rounded down; also 0 if the lease has ended.
    int64_t ttl_s = 0;   // What was granted; 0 if the lease has ended.
  };
  absl::StatusOr<Left> TimeToLive(int64_t lease, int64_t timeout_ms);

  // Waits until `key` is deleted at `revision` or later.  Also OK if that
  // revision is compacted, since the key may be deleted then.
  // Errors: kDeadlineExceeded after the time; kUnavailable when the watch broke
  // or the endpoint was silent, which says nothing about the key.
  absl::Status AwaitDeletion(std::string_view key, int64_t revision,
                             int64_t timeout_ms);

  class Cancellable;  // A context that Cancel() also cancels.

  // The changes of a range of keys from a revision on.
  //
  // Threads: one, except for Cancel().
  class Watch {
   public:
    // Does not wait for etcd.  The client must outlive it.
    Watch(EtcdClient& client, const etcdserverpb::WatchCreateRequest& what);
    ~Watch();  // Ends the watch.
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // Waits for the next response, which may have no events.  Events come in
    // the order of their revisions, and none is left out.  Events of one
    // revision may be spread over several responses.
    // Errors are final.  kOutOfRange: the requested history is compacted.
    // kUnavailable, which names the endpoint: the watch broke or was cancelled;
    // the next watch goes to another endpoint.  kCancelled: by the client.
    absl::StatusOr<etcdserverpb::WatchResponse> Next();

    // Ends a wait, now or later.  May be called by any thread.
    void Cancel() { context_.TryCancel(); }

   private:
    absl::Status End(std::string_view reason);

    EtcdClient& client_;
    size_t endpoint_;                     // Its index.
    etcdserverpb::WatchRequest request_;  // Empty once sent.
    grpc::ClientContext context_;
    std::unique_ptr<Cancellable> cancellable_;
    std::unique_ptr<grpc::ClientReaderWriterInterface<
        etcdserverpb::WatchRequest, etcdserverpb::WatchResponse>>
        stream_;
  };

  // The version of the endpoint that answered last.
  absl::StatusOr<etcdserverpb::StatusResponse> MemberStatus();

  // kDataLoss once an answer has shown that etcd was set back.
  absl::Status set_back() const;

  const EtcdAddress& address() const { return address_; }

 private:
  struct Endpoint;  // A channel with its stubs.
  using Attempt =
      absl::FunctionRef<grpc::Status(Endpoint&, grpc::ClientContext&)>;
  enum class Ends { kByCancelToo, kByItself };

  // Repeats the call until it is answered; `what` is for errors.
  absl::Status Call(std::string_view what, int64_t timeout_ms, Attempt attempt,
                    Ends ends = Ends::kByCancelToo);
  // Errors: kCancelled after Cancel().
  absl::Status CheckNotCancelled(std::string_view what) const;
  // Makes some calls at once, each at one endpoint and only once.
  void TryAll(const std::vector<etcdserverpb::TxnRequest>& requests,
              size_t first, size_t end,
              std::vector<std::optional<etcdserverpb::TxnResponse>>* responses);
  absl::Status ToStatus(std::string_view what, const Endpoint& endpoint,
                        const grpc::Status& status) const;
  absl::Status Check(const etcdserverpb::ResponseHeader& header,
                     int64_t revision_before);
  // Calls after one that failed at `endpoint` go to the next one, unless
  // another thread has already moved on.
  void GoOnAfter(size_t endpoint);

  const EtcdAddress address_;
  const int64_t timeout_ms_;
  const int64_t attempt_ms_;
  const SystemClock clock_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::atomic<size_t> current_ = 0;

  std::atomic<int64_t> revision_ = 0;  // The largest seen.
  mutable Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_set<grpc::ClientContext*> under_way_ ABSL_GUARDED_BY(mutex_);
  uint64_t cluster_id_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status set_back_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_CLIENT_H_
