#include "etcd/etcd_client.h"

#include <grpc/grpc.h>
#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "etcd/rpc.grpc.pb.h"

namespace sluice {

using etcdserverpb::RangeRequest;
using etcdserverpb::RangeResponse;
using etcdserverpb::TxnRequest;
using etcdserverpb::TxnResponse;

struct EtcdClient::Endpoint {
  // Waits, and does its part of a handshake that is under way: gRPC does that
  // only in threads that wait for something.
  void Pause(int64_t time_us) {
    channel->WaitForStateChange(
        channel->GetState(/*try_to_connect=*/false),
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                     gpr_time_from_micros(time_us, GPR_TIMESPAN)));
  }

  std::string name;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<etcdserverpb::KV::Stub> kv;
  std::unique_ptr<etcdserverpb::Lease::Stub> lease;
  std::unique_ptr<etcdserverpb::Watch::Stub> watch;
  std::unique_ptr<etcdserverpb::Maintenance::Stub> maintenance;
};

class EtcdClient::Cancellable {
 public:
  Cancellable(EtcdClient& client, grpc::ClientContext& context);
  ~Cancellable();
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;

 private:
  EtcdClient& client_;
  grpc::ClientContext& context_;
};

namespace {

constexpr int64_t kPauseMs = 50;  // After all endpoints were tried.
// Only the first attempt has less time than this.
constexpr int64_t kAttemptUsMin = 1000;
// Transactions in flight at once: etcd writes them to its log together.
constexpr size_t kInFlightMax = 8;

// etcd closes connections that ping more often than every five seconds.
constexpr int kPingMs = 10000;
constexpr int kPingTimeoutMs = 3000;

// How often the files of TLS are looked at.
constexpr unsigned kReloadS = 2;

absl::Status CheckReadable(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (file.peek() != std::ifstream::traits_type::eof()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("'", Printable(path, 256), "' cannot be read or is empty"));
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const EtcdClientOptions& options) {
  if (options.cert_file.empty() != options.key_file.empty()) {
    return absl::InvalidArgumentError(
        "a certificate for etcd needs its key, and a key needs its "
        "certificate");
  }
  if (options.ca_file.empty()) {
    if (!options.cert_file.empty()) {
      return absl::InvalidArgumentError(
          "a certificate for etcd also needs the CA of etcd");
    }
    return grpc::InsecureChannelCredentials();
  }
  for (const std::string& path :
       {options.ca_file, options.cert_file, options.key_file}) {
    if (!path.empty()) RETURN_IF_ERROR(CheckReadable(path));
  }
  grpc::experimental::TlsChannelCredentialsOptions tls;
  tls.set_certificate_provider(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          options.key_file, options.cert_file, options.ca_file, kReloadS));
  tls.watch_root_certs();
  if (!options.cert_file.empty()) tls.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(tls);
}

std::shared_ptr<grpc::Channel> MakeChannel(
    const std::string& endpoint,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // Pages are bounded by the caller.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // etcd is never behind the proxy that the environment names.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(endpoint, credentials, arguments);
}

void Prepare(int64_t timeout_ms, grpc::ClientContext* context) {
  context->set_deadline(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                   gpr_time_from_millis(timeout_ms, GPR_TIMESPAN)));
  // A member that has lost contact with the others then fails at once.
  context->AddMetadata("hasleader", "true");
}

bool Has(const grpc::Status& status, std::string_view text) {
  return status.error_message().find(text) != std::string::npos;
}

// Whether the same call may succeed at another time or at another endpoint.
bool IsTransient(const grpc::Status& status) {
  const grpc::StatusCode code = status.error_code();
  return code == grpc::StatusCode::UNAVAILABLE ||
         code == grpc::StatusCode::DEADLINE_EXCEEDED ||
         code == grpc::StatusCode::CANCELLED ||
         // A member says these while it shuts down or has too much to do.
         Has(status, "server stopped") || Has(status, "too many requests") ||
         // etcd also knows our deadline and may be the first to act on it.
         Has(status, "context deadline") || Has(status, "context canceled");
}

// What people can do about it; empty if nothing.
std::string_view Advice(const grpc::Status& status) {
  if (Has(status, "database space exceeded")) {
    return "; etcd is full and takes no more writes: run `etcdctl compact`, "
           "`etcdctl defrag` and `etcdctl alarm disarm`, or give it a larger "
           "--quota-backend-bytes";
  }
  if (Has(status, "request is too large")) {
    return "; etcd accepts smaller requests than by default: give it a "
           "--max-request-bytes of at least 1572864";
  }
  if (Has(status, "too many operations")) {
    return "; etcd accepts smaller transactions than by default: give it a "
           "--max-txn-ops of at least 128";
  }
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return "; does etcd run there, and does it have a leader?";
  }
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return "; etcd is too slow, is cut off or has no leader";
  }
  return "";
}

}  // namespace

EtcdClient::EtcdClient(
    const EtcdClientOptions& options,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials)
    : address_(options.address),
      timeout_ms_(options.timeout_ms),
      attempt_ms_(std::max<int64_t>(options.attempt_ms, 1)) {
  for (const std::string& name : address_.endpoints) {
    auto endpoint = std::make_unique<Endpoint>();
    endpoint->name = name;
    endpoint->channel = MakeChannel(name, credentials);
    const std::shared_ptr<grpc::Channel>& channel = endpoint->channel;
    endpoint->kv = etcdserverpb::KV::NewStub(channel);
    endpoint->lease = etcdserverpb::Lease::NewStub(channel);
    endpoint->watch = etcdserverpb::Watch::NewStub(channel);
    endpoint->maintenance = etcdserverpb::Maintenance::NewStub(channel);
    endpoints_.push_back(std::move(endpoint));
  }
}

EtcdClient::~EtcdClient() = default;

absl::StatusOr<std::unique_ptr<EtcdClient>> EtcdClient::Make(
    const EtcdClientOptions& options) {
  const auto credentials = MakeCredentials(options);
  if (!credentials.ok()) {
    return Annotate(credentials.status(), ToString(options.address));
  }
  return std::make_unique<EtcdClient>(options, *credentials);
}

EtcdClient::Cancellable::Cancellable(EtcdClient& client,
                                     grpc::ClientContext& context)
    : client_(client), context_(context) {
  const MutexLock lock(client_.mutex_);
  client_.under_way_.insert(&context_);
  if (client_.is_cancelled_) context_.TryCancel();
}

EtcdClient::Cancellable::~Cancellable() {
  const MutexLock lock(client_.mutex_);
  client_.under_way_.erase(&context_);
}

void EtcdClient::Cancel() {
  const MutexLock lock(mutex_);
  is_cancelled_ = true;
  for (grpc::ClientContext* context : under_way_) context->TryCancel();
}

absl::Status EtcdClient::CheckNotCancelled(std::string_view what) const {
  const MutexLock lock(mutex_);
  if (!is_cancelled_) return absl::OkStatus();
  return absl::CancelledError(
      StrCat(what, " at ", ToString(address_), ": cancelled"));
}

absl::Status EtcdClient::set_back() const {
  const MutexLock lock(mutex_);
  return set_back_;
}

absl::Status EtcdClient::ToStatus(std::string_view what,
                                  const Endpoint& endpoint,
                                  const grpc::Status& status) const {
  const std::string text =
      StrCat(what, " at etcd ", endpoint.name, ", prefix ", address_.prefix,
             ": ", Printable(status.error_message(), 1024), Advice(status));
  // gRPC and absl number their codes alike.
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), text);
}

absl::Status EtcdClient::Call(std::string_view what, int64_t timeout_ms,
                              Attempt attempt, Ends ends) {
  RETURN_IF_ERROR(set_back());
  const int64_t end_us = clock_.MonotonicUs() + timeout_ms * 1000;
  int64_t attempt_ms = attempt_ms_;
  for (size_t attempts = 1;; ++attempts) {
    const size_t current = current_.load();
    Endpoint& endpoint = *endpoints_[current];
    const int64_t left_ms = (end_us - clock_.MonotonicUs()) / 1000;
    grpc::ClientContext context;
    Prepare(std::clamp<int64_t>(left_ms, 1, attempt_ms), &context);
    std::optional<Cancellable> cancellable;
    if (ends == Ends::kByCancelToo) cancellable.emplace(*this, context);
    const grpc::Status status = attempt(endpoint, context);
    cancellable.reset();
    if (status.ok()) return absl::OkStatus();
    if (ends == Ends::kByCancelToo) RETURN_IF_ERROR(CheckNotCancelled(what));
    if (!IsTransient(status)) return ToStatus(what, endpoint, status);
    GoOnAfter(current);
    const auto left_us = [&] { return end_us - clock_.MonotonicUs(); };
    if (attempts % endpoints_.size() == 0 && left_us() > 0) {
      attempt_ms = std::min(2 * attempt_ms, timeout_ms);
      endpoints_[current_.load()]->Pause(std::min(left_us(), kPauseMs * 1000));
    }
    // An attempt without time would say that etcd is too slow.
    if (left_us() < kAttemptUsMin) return ToStatus(what, endpoint, status);
  }
}

void EtcdClient::GoOnAfter(size_t endpoint) {
  current_.compare_exchange_strong(endpoint,
                                   (endpoint + 1) % endpoints_.size());
}

absl::Status EtcdClient::Check(const etcdserverpb::ResponseHeader& header,
                               int64_t revision_before) {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(set_back_);
  if (cluster_id_ == 0) cluster_id_ = header.cluster_id();
  if (header.cluster_id() != cluster_id_) {
    set_back_ = absl::DataLossError(
        StrCat(ToString(address_), ": cluster ", header.cluster_id(),
               " answers, and cluster ", cluster_id_,
               " answered before; was etcd restored from a backup, or do the "
               "endpoints belong to two clusters?"));
  } else if (header.revision() < revision_before) {
    set_back_ = absl::DataLossError(
        StrCat(ToString(address_), ": etcd is at revision ", header.revision(),
               " but was at ", revision_before,
               " before; was it restored from an old backup?"));
  }
  RETURN_IF_ERROR(set_back_);
  if (header.revision() > revision_.load()) revision_ = header.revision();
  return absl::OkStatus();
}

absl::StatusOr<RangeResponse> EtcdClient::Range(const RangeRequest& request,
                                                int64_t timeout_ms) {
  RangeResponse response;
  const int64_t before = revision_.load();
  RETURN_IF_ERROR(Call("reading", timeout_ms > 0 ? timeout_ms : timeout_ms_,
                       [&](Endpoint& endpoint, grpc::ClientContext& context) {
                         return endpoint.kv->Range(&context, request,
                                                   &response);
                       }));
  RETURN_IF_ERROR(Check(response.header(), before));
  return response;
}

absl::StatusOr<TxnResponse> EtcdClient::Txn(const TxnRequest& request) {
  TxnResponse response;
  const int64_t before = revision_.load();
  RETURN_IF_ERROR(Call("writing", timeout_ms_,
                       [&](Endpoint& endpoint, grpc::ClientContext& context) {
                         return endpoint.kv->Txn(&context, request, &response);
                       }));
  RETURN_IF_ERROR(Check(response.header(), before));
  return response;
}

void EtcdClient::TryAll(const std::vector<TxnRequest>& requests, size_t first,
                        size_t end,
                        std::vector<std::optional<TxnResponse>>* responses) {
  struct Trial {
    grpc::ClientContext context;
    std::optional<Cancellable> cancellable;
    TxnResponse response;
    grpc::Status status;
  };
  const size_t current = current_.load();
  Endpoint& endpoint = *endpoints_[current];
  std::vector<Trial> trials(end - first);
  Mutex mutex;
  CondVar is_done;
  size_t left = trials.size();
  for (size_t i = 0; i < trials.size(); ++i) {
    Trial* trial = &trials[i];
    Prepare(std::min(attempt_ms_, timeout_ms_), &trial->context);
    trial->cancellable.emplace(*this, trial->context);
    const auto end_trial = [&mutex, &is_done, &left,
                            trial](const grpc::Status& status) {
      const MutexLock lock(mutex);
      trial->status = status;
      if (--left == 0) is_done.NotifyOne();
    };
    endpoint.kv->async()->Txn(&trial->context, &requests[first + i],
                              &trial->response, end_trial);
  }
  {
    const MutexLock lock(mutex);
    while (left > 0) is_done.Wait(mutex);
  }
  for (size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].status.ok()) {
      if (IsTransient(trials[i].status)) GoOnAfter(current);
      continue;
    }
    (*responses)[first + i] = std::move(trials[i].response);
  }
}

absl::StatusOr<std::vector<TxnResponse>> EtcdClient::TxnAll(
    const std::vector<TxnRequest>& requests) {
  const int64_t before = revision_.load();
  std::vector<std::optional<TxnResponse>> tried(requests.size());
  for (size_t first = 0; first < requests.size(); first += kInFlightMax) {
    const size_t end = std::min(first + kInFlightMax, requests.size());
    if (end - first > 1) TryAll(requests, first, end, &tried);
    // Those that failed are made again, by the rules for a single call.
    for (size_t i = first; i < end; ++i) {
      if (tried[i].has_value()) {
        RETURN_IF_ERROR(Check(tried[i]->header(), before));
      } else {
        ASSIGN_OR_RETURN(tried[i], Txn(requests[i]));
      }
    }
  }
  std::vector<TxnResponse> responses;
  responses.reserve(tried.size());
  for (auto& response : tried) responses.push_back(*std::move(response));
  return responses;
}

absl::Status EtcdClient::Compact(int64_t revision) {
  etcdserverpb::CompactionRequest request;
  request.set_revision(revision);
  return Call("compacting", timeout_ms_,
              [&](Endpoint& endpoint, grpc::ClientContext& context) {
                etcdserverpb::CompactionResponse response;
                return endpoint.kv->Compact(&context, request, &response);
              });
}

absl::StatusOr<EtcdClient::Grant> EtcdClient::GrantLease(int64_t ttl_s) {
  etcdserverpb::LeaseGrantRequest request;
  request.set_ttl(ttl_s);
  etcdserverpb::LeaseGrantResponse response;
  RETURN_IF_ERROR(Call("asking for a lease", timeout_ms_,
                       [&](Endpoint& endpoint, grpc::ClientContext& context) {
                         return endpoint.lease->LeaseGrant(&context, request,
                                                           &response);
                       }));
  return Grant{.lease = response.id(), .ttl_s = response.ttl()};
}

absl::Status EtcdClient::RevokeLease(int64_t lease, int64_t timeout_ms) {
  etcdserverpb::LeaseRevokeRequest request;
  request.set_id(lease);
  absl::Status status = Call(
      "ending a lease", timeout_ms,
      [&](Endpoint& endpoint, grpc::ClientContext& context) {
        etcdserverpb::LeaseRevokeResponse response;
        return endpoint.lease->LeaseRevoke(&context, request, &response);
      },
      Ends::kByItself);
  if (status.code() == absl::StatusCode::kNotFound) return absl::OkStatus();
  return status;
}

absl::StatusOr<int64_t> EtcdClient::KeepAlive(int64_t lease,
                                              int64_t timeout_ms) {
  etcdserverpb::LeaseKeepAliveRequest request;
  request.set_id(lease);
  etcdserverpb::LeaseKeepAliveResponse response;
  RETURN_IF_ERROR(Call("keeping a lease", timeout_ms,
                       [&](Endpoint& endpoint, grpc::ClientContext& context) {
                         const auto stream =
                             endpoint.lease->LeaseKeepAlive(&context);
                         const bool is_answered =
                             stream->Write(request) && stream->Read(&response);
                         // etcd ends the stream only after we have.
                         if (is_answered) context.TryCancel();
                         const grpc::Status status = stream->Finish();
                         return is_answered ? grpc::Status::OK : status;
                       }));
  return response.ttl();
}

absl::StatusOr<EtcdClient::Left> EtcdClient::TimeToLive(int64_t lease,
                                                        int64_t timeout_ms) {
  etcdserverpb::LeaseTimeToLiveRequest request;
  request.set_id(lease);
  etcdserverpb::LeaseTimeToLiveResponse response;
  RETURN_IF_ERROR(Call("asking for a lease", timeout_ms,
                       [&](Endpoint& endpoint, grpc::ClientContext& context) {
                         return endpoint.lease->LeaseTimeToLive(
                             &context, request, &response);
                       }));
  if (response.ttl() < 0) return Left{};
  return Left{.left_s = response.ttl(), .ttl_s = response.grantedttl()};
}

absl::Status EtcdClient::AwaitDeletion(std::string_view key, int64_t revision,
                                       int64_t timeout_ms) {
  const int64_t begin_us = clock_.MonotonicUs();
  const size_t current = current_.load();
  Endpoint& endpoint = *endpoints_[current];
  grpc::ClientContext context;
  Prepare(timeout_ms, &context);
  const Cancellable cancellable(*this, context);
  etcdserverpb::WatchRequest request;
  etcdserverpb::WatchCreateRequest& watch = *request.mutable_create_request();
  watch.set_key(std::string(key));
  watch.set_start_revision(revision);
  watch.add_filters(etcdserverpb::WatchCreateRequest::NOPUT);
  const auto stream = endpoint.watch->Watch(&context);
  bool is_deleted = false;
  bool is_watched = false;
  if (stream->Write(request)) {
    etcdserverpb::WatchResponse response;
    while (!is_deleted && stream->Read(&response)) {
      is_watched = true;  // etcd says so at once, before any event.
      is_deleted = response.events_size() > 0 || response.canceled();
    }
  }
  if (is_deleted) context.TryCancel();
  grpc::Status status = stream->Finish();
  if (is_deleted) return absl::OkStatus();
  RETURN_IF_ERROR(CheckNotCancelled("watching"));
  if (status.ok() || IsTransient(status)) {
    const bool is_late =
        clock_.MonotonicUs() - begin_us > timeout_ms * 1000 * 9 / 10;
    status = grpc::Status(
        is_late && is_watched ? grpc::StatusCode::DEADLINE_EXCEEDED
                              : grpc::StatusCode::UNAVAILABLE,
        is_watched ? "the watch has ended" : "the watch did not begin");
  }
  if (status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) {
    GoOnAfter(current);
  }
  return ToStatus("watching", endpoint, status);
}

EtcdClient::Watch::Watch(EtcdClient& client,
                         const etcdserverpb::WatchCreateRequest& what)
    : client_(client),
      endpoint_(client.current_.load()),
      cancellable_(std::make_unique<Cancellable>(client, context_)) {
  *request_.mutable_create_request() = what;
  // A member that has lost contact with the others then ends the watch.
  context_.AddMetadata("hasleader", "true");
}

EtcdClient::Watch::~Watch() {
  if (stream_ == nullptr) return;
  context_.TryCancel();
  stream_->Finish();
}

absl::StatusOr<etcdserverpb::WatchResponse> EtcdClient::Watch::Next() {
  if (request_.has_create_request()) {
    stream_ = client_.endpoints_[endpoint_]->watch->Watch(&context_);
    const bool is_sent = stream_->Write(request_);
    request_.Clear();
    if (!is_sent) return End("");
  }
  etcdserverpb::WatchResponse response;
  if (stream_ == nullptr || !stream_->Read(&response)) return End("");
  if (response.compact_revision() > 0) {
    return absl::OutOfRangeError(
        StrCat(ToString(client_.address()),
               ": the watched history is compacted up to revision ",
               response.compact_revision()));
  }
  if (response.canceled()) return End(response.cancel_reason());
  return response;
}

absl::Status EtcdClient::Watch::End(std::string_view reason) {
  grpc::Status status(grpc::StatusCode::UNAVAILABLE, "the watch has ended");
  if (stream_ != nullptr) {
    context_.TryCancel();
    status = std::exchange(stream_, nullptr)->Finish();
  }
  RETURN_IF_ERROR(client_.CheckNotCancelled("watching"));
  client_.GoOnAfter(endpoint_);
  return client_.ToStatus(
      "watching", *client_.endpoints_[endpoint_],
      grpc::Status(grpc::StatusCode::UNAVAILABLE,
                   StrCat("the watch has ended: ",
                          reason.empty() ? status.error_message() : reason)));
}

absl::StatusOr<etcdserverpb::StatusResponse> EtcdClient::MemberStatus() {
  etcdserverpb::StatusResponse response;
  RETURN_IF_ERROR(Call("asking for the status", timeout_ms_,
                       [&](Endpoint& endpoint, grpc::ClientContext& context) {
                         return endpoint.maintenance->Status(&context, {},
                                                             &response);
                       }));
  return response;
}

}  // namespace sluice
