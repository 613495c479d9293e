#include "server/server.h"

#include <glog/logging.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "access/certificates.h"
#include "access/secrets.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "etcd/etcd_replica.h"
#include "grpc/health/v1/health.pb.h"
#include "loop/core_loop.h"
#include "observe/metrics.h"
#include "persist/memory_store.h"
#include "persist/records.h"
#include "persist/recovery.h"
#include "persist/rocksdb_store.h"
#include "round/scheduler.h"
#include "rpc/feed_service.h"
#include "rpc/gate.h"
#include "rpc/inspector_service.h"
#include "rpc/scheduler_service.h"
#include "server/address.h"
#include "server/grpc_log.h"
#include "server/http_server.h"
#include "server/open_calls.h"
#include "server/tls_credentials.h"
#include "sluice/base/clock.h"
#include "solver/registry.h"

namespace sluice {
namespace {

// A connection whose peer is gone is closed after 30 s at the latest.  That
// ends its Schedule call, too, which everybody else would wait for.
constexpr int kPingMs = 20000;
constexpr int kPingTimeoutMs = 10000;
// Clients may ping us as often as they like.
constexpr int kClientPingMsMin = 1000;

// Calls under way on one connection.  A client holds further calls back until
// some are answered, so a burst meets HTTP/2's own flow control and never an
// error.  Sixteen such connections fill the mailbox.
constexpr int kStreamsPerConnectionMax = 4096;

// How long clients have to close their connections once no call is left.  The
// last replies may still be on their way: if a connection with unread data is
// closed, the kernel drops what it has not sent.
constexpr std::chrono::milliseconds kLastReplyTime{100};

// How long etcd has, once all calls have ended, to store what they wrote last.
constexpr std::chrono::milliseconds kLastWriteTime{300};

// The address at which others find a daemon that listens on `port`.
std::string AdvertisedAddress(const Options& options, int port) {
  if (!options.store.advertise_address.empty()) {
    return options.store.advertise_address;
  }
  Address address = ParseAddress(options.listen_address).value();
  address.port = static_cast<uint16_t>(port);
  if (address.host == "0.0.0.0" || address.host == "::") {
    std::array<char, 256> host = {};
    gethostname(host.data(), host.size() - 1);
    address.host = host.data();
  }
  return ToString(address);
}

absl::StatusOr<std::unique_ptr<Store>> OpenStore(const Options& options) {
  if (options.data_dir.empty()) return std::make_unique<MemoryStore>();
  return OpenRocksDbStore(options.data_dir);
}

absl::StatusOr<std::unique_ptr<EtcdReplica>> MakeReplica(
    const StoreOnEtcd& store) {
  return EtcdReplica::Make({.client = {.address = store.address,
                                       .ca_file = store.ca_file,
                                       .cert_file = store.cert_file,
                                       .key_file = store.key_file},
                            .lease_s = store.lease_s});
}

void FillReplicas(const EtcdReplica& replica, v1::Replicas* message) {
  const EtcdReplica::Replicas replicas = replica.replicas();
  message->set_leader(replicas.leader);
  message->set_term(replicas.term);
  for (const EtcdRoster::Follower& follower : replicas.followers) {
    v1::Follower* shown = message->add_followers();
    shown->set_address(follower.address);
    shown->set_is_warm(follower.lag >= 0);
    shown->set_lag(std::max<int64_t>(follower.lag, 0));
  }
}

std::unique_ptr<grpc::Server> StartGrpc(
    const std::string& address,
    const std::shared_ptr<grpc::ServerCredentials>& credentials,
    const std::vector<grpc::Service*>& services, OpenCalls& open_calls,
    int* port) {
  TakeGrpcLog();
  // Before the first server is built.
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  // gRPC serves health without the descriptor that reflection looks for.
  google::protobuf::LinkMessageReflection<
      grpc::health::v1::HealthCheckRequest>();
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, credentials, port);
  for (grpc::Service* service : services) builder.RegisterService(service);
  builder.SetContextAllocator(open_calls.MakeCounter());
  builder.SetMaxReceiveMessageSize(kRequestBytesMax);
  // Otherwise a kilobyte would become a megabyte before its size is checked.
  for (const grpc_compression_algorithm algorithm :
       {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  }
  // Otherwise two daemons on one port would each get some of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             kStreamsPerConnectionMax);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);  // Not served.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kClientPingMsMin);
  return builder.BuildAndStart();
}

Contract::Options ContractOptions(const Options& options) {
  return {.holds = {.removal_hold_us = options.removal_hold_ms * 1000,
                    .reused_uid_hold_us = options.reused_uid_hold_ms * 1000},
          .announcement_quiet_ms = options.announcement_quiet_ms,
          .forget_stale_after_ms = options.forget_stale_after_s * 1000};
}

class Daemon final : public Server {
 public:
  // `replica` is the store itself if that is on etcd, else null.
  Daemon(const Options& options, PolicySet policies,
         std::unique_ptr<Store> store, EtcdReplica* replica)
      : shutdown_timeout_(options.shutdown_timeout_ms),
        measured_use_(options.measured_use),
        policies_(std::move(policies)),
        round_options_{.arcs_max = options.round_arcs_max,
                       .improve_budget = options.improve_budget,
                       .network_arcs_max = options.network_arcs_max,
                       .evicts_on_no_execute = options.evict_on_no_execute,
                       .requeues = options.requeues,
                       .preemption = options.preemption,
                       .reservations = options.reservations},
        state_(std::in_place),
        scheduler_(std::in_place, &*state_, policies_, constraints_,
                   round_options_),
        store_(std::move(store)),
        replica_(replica),
        solver_(MakeSolver(options.solver)),
        loop_({*state_, *scheduler_, *store_, *solver_, clock_, metrics_},
              {.inline_arcs_max = kInlineArcsMax,
               .durability = options.durability,
               .core = {.contract = ContractOptions(options),
                        .feeds = {.round_interval_us =
                                      options.round_interval_ms * 1000,
                                  .grace_us = options.feed_grace_ms * 1000}}}) {
  }

  ~Daemon() override {
    if (replica_ == nullptr) {
      End();
      return;
    }
    std::promise<void> end;
    std::thread closer([this, has_ended = end.get_future()] {
      // An etcd that does not answer would be waited for much longer.
      if (has_ended.wait_for(shutdown_timeout_ + kLastWriteTime) ==
          std::future_status::timeout) {
        replica_->Cancel();
      }
    });
    replica_->Stop();
    if (leading_.joinable()) leading_.join();
    End();
    end.set_value();
    closer.join();
  }

  absl::Status Init(const Options& options) {
    if (!options.secrets.tls_cert.empty()) {
      RequireTls13();
      ASSIGN_OR_RETURN(secrets_,
                       Secrets::Open(options.secrets, clock_, metrics_));
    }
    if (!options.http_address.empty()) {
      ASSIGN_OR_RETURN(const Address address,
                       ParseAddress(options.http_address));
      http_ = std::make_unique<HttpServer>(metrics_, secrets_.get());
      RETURN_IF_ERROR(http_->Start(address));
    }
    // A daemon without replicas serves once it can answer.
    if (replica_ == nullptr) RETURN_IF_ERROR(Lead());
    RETURN_IF_ERROR(Listen(options));
    if (replica_ == nullptr) {
      AnswerProbes();
      return absl::OkStatus();
    }
    grpc_->GetHealthCheckService()->SetServingStatus(false);
    leading_ =
        std::thread([this, address = AdvertisedAddress(options, grpc_port_)] {
          FollowAndLead(address);
        });
    return absl::OkStatus();
  }

  int grpc_port() const override { return grpc_port_; }
  int http_port() const override {
    return http_ == nullptr ? 0 : http_->port();
  }

 private:
  // Ends all that is served, and then the loop.
  void End() {
    if (http_ != nullptr) http_->SetReady(false);
    if (grpc_ != nullptr) {
      grpc_->GetHealthCheckService()->Shutdown();
      loop_.BeginShutdown();
      EndGrpc();
    }
    loop_.Stop();
  }

  // Refuses new calls, waits for those under way, and then closes the
  // connections that are still open.  Shutdown() alone would also wait for idle
  // ones.
  void EndGrpc() {
    std::promise<void> end;
    std::thread closer([this, has_ended = end.get_future()] {
      open_calls_.AwaitNone(clock_, shutdown_timeout_.count());
      if (has_ended.wait_for(kLastReplyTime) == std::future_status::timeout) {
        grpc_server_cancel_all_calls(grpc_->c_server());
      }
    });
    grpc_->Shutdown(std::chrono::system_clock::now() + shutdown_timeout_);
    end.set_value();
    closer.join();
    grpc_->Wait();
  }

  // Makes the services and serves them; their gate may still be closed.
  absl::Status Listen(const Options& options) {
    const MessageDefaults defaults = {
        .max_pods = options.default_max_pods,
        .job_bounds = policies_.BoundsOfJobs(),
        .conditions_evict = options.evict_on_no_execute};
    scheduler_service_.emplace(
        SchedulerService::Parts{loop_, gate_, clock_, metrics_},
        SchedulerService::Options{
            .replies = options.replies,
            .defaults = defaults,
            .heeds_bandwidth = policies_.Has("network_aware")});
    feed_service_.emplace(loop_, gate_, defaults);
    DaemonInfo info = {.version = SLUICE_VERSION,
                       .store = store_->description(),
                       .cost_models = policies_.names(),
                       .ready_us = clock_.MonotonicUs()};
    if (replica_ != nullptr) {
      info.replicas = [this](v1::Replicas* message) {
        FillReplicas(*replica_, message);
      };
    }
    inspector_service_.emplace(loop_, gate_, clock_, std::move(info));
    ASSIGN_OR_RETURN(Address address, ParseAddress(options.listen_address));
    credentials_ = secrets_ == nullptr
                       ? grpc::InsecureServerCredentials()
                       : MakeTlsCredentials(*secrets_, clock_, metrics_);
    grpc_ =
        StartGrpc(options.listen_address, credentials_,
                  {&*scheduler_service_, &*feed_service_, &*inspector_service_},
                  open_calls_, &grpc_port_);
    if (grpc_ == nullptr) {
      RETURN_IF_ERROR(ProbeListen(address));
      return absl::UnavailableError(
          StrCat("cannot listen on ", options.listen_address, " for gRPC"));
    }
    address.port = static_cast<uint16_t>(grpc_port_);
    listens_ = StrCat("grpc=", ToString(address), " http_port=", http_port(),
                      secrets_ == nullptr ? "" : " tls=1.3",
                      " store=", store_->description());
    return absl::OkStatus();
  }

  // Starts to answer calls.
  absl::Status Lead() {
    if (replica_ == nullptr || !replica_->is_prepared()) {
      RETURN_IF_ERROR(RecoverState());
    }
    RETURN_IF_ERROR(WriteRecovered());
    loop_.Start();
    gate_.Open();
    return absl::OkStatus();
  }

  void AnswerProbes() {
    grpc_->GetHealthCheckService()->SetServingStatus(true);
    if (http_ != nullptr) http_->SetReady(true);
    LOG(INFO) << "ready: " << listens_ << " " << recovered_;
  }

  // The life of one of several daemons on a store.  A daemon that may no longer
  // lead ends at once, whatever it is doing: it must not answer.  It starts
  // afresh when a supervisor starts it again.
  void FollowAndLead(const std::string& address) {
    LOG(INFO) << "started: " << listens_ << " as " << address;
    const auto on_leader = [&](const std::string& leader) {
      gate_.SetLeader(leader);
      if (leader == address) return;
      LOG(INFO) << "following "
                << (leader.empty() ? "nobody yet" : Printable(leader, 256));
    };
    const auto prepare = [this] { return RecoverState(); };
    absl::Status status =
        replica_->Lead(address, {.on_leader = on_leader, .prepare = prepare});
    if (status.ok()) status = Lead();
    if (status.ok()) {
      AnswerProbes();
      status = replica_->AwaitEnd();
    }
    if (status.ok() || absl::IsCancelled(status)) return;
    LOG(ERROR) << Message(status) << "; ending";
    google::FlushLogFiles(google::GLOG_INFO);
    std::_Exit(EXIT_FAILURE);
  }

  // Reads the store into a new state: a prepared one may be out of date.
  absl::Status RecoverState() {
    // The loop has not started yet; it holds pointers to both.
    scheduler_.reset();
    state_.emplace();
    scheduler_.emplace(&*state_, policies_, constraints_, round_options_);
    ClusterState& state = *state_;
    state.measured_use().SetOptions(measured_use_);
    state.SetNeeds(policies_.Needs());
    RETURN_IF_ERROR(Annotate(Recover(*store_, &state),
                             StrCat("recovering ", store_->description())));
    // Answers before the first round also count what runs.
    state.SyncPeers();
    recovered_ =
        StrCat("recovered: machines=", state.machines().size(),
               " jobs=", state.jobs().size(), " tasks=", state.tasks().size(),
               " deltas=", state.outbox().size());
    return absl::OkStatus();
  }

  // What recovery had to undo is stored before anything builds on it.
  absl::Status WriteRecovered() {
    ClusterState& state = *state_;
    if (!state.has_changes()) return absl::OkStatus();
    const ChangeSet changes = state.TakeChanges();
    return store_->Write(EncodeChanges(state, changes), Durability::kSynced);
  }

  // In the order in which they are needed; destroyed in reverse.
  const SystemClock clock_;
  const std::chrono::milliseconds shutdown_timeout_;
  const MeasuredUseOptions measured_use_;
  Metrics metrics_;
  const ConstraintSet constraints_;
  const PolicySet policies_;
  const RoundOptions round_options_;
  std::optional<ClusterState> state_;  // Both always have a value.
  std::optional<Scheduler> scheduler_;
  const std::unique_ptr<Store> store_;
  EtcdReplica* const replica_;  // The store, or null.
  const std::unique_ptr<Solver> solver_;
  std::unique_ptr<Secrets> secrets_;  // Null: plain text.
  std::unique_ptr<HttpServer> http_;
  CoreLoop loop_;
  Gate gate_;
  std::optional<SchedulerService> scheduler_service_;
  std::optional<FeedService> feed_service_;
  std::optional<InspectorService> inspector_service_;
  OpenCalls open_calls_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  std::unique_ptr<grpc::Server> grpc_;
  int grpc_port_ = 0;
  // For the log.
  std::string listens_;
  std::string recovered_;
  std::thread leading_;  // Only with replicas.
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Options& options) {
  // The services report at a bounded rate what cannot be parsed; protobuf
  // itself would write a line for every string that is not UTF-8.
  google::protobuf::SetLogHandler(nullptr);
  ASSIGN_OR_RETURN(PolicySet policies,
                   PolicySet::FromNames(options.cost_model));
  if (const std::string wishes = policies.UnheededWishes(); !wishes.empty()) {
    LOG(WARNING) << "--cost_model=" << options.cost_model
                 << " ignores preferences of tasks: " << wishes;
  }
  std::unique_ptr<Store> store;
  EtcdReplica* replica = nullptr;
  if (options.store.address.endpoints.empty()) {
    ASSIGN_OR_RETURN(store, OpenStore(options));
  } else {
    ASSIGN_OR_RETURN(std::unique_ptr<EtcdReplica> made,
                     MakeReplica(options.store));
    replica = made.get();
    store = std::move(made);
  }
  auto daemon = std::make_unique<Daemon>(options, std::move(policies),
                                         std::move(store), replica);
  RETURN_IF_ERROR(daemon->Init(options));
  return daemon;
}

}  // namespace sluice
