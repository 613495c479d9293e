#include "server/options.h"

#include <gflags/gflags.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "server/address.h"
#include "sluice/cost/cost_model.h"
#include "sluice/state/resources.h"
#include "solver/registry.h"

DEFINE_string(listen_address, "127.0.0.1:9090",
              "HOST:PORT for gRPC; port 0 takes any that is free.");
DEFINE_string(http_address, "127.0.0.1:9091",
              "HOST:PORT for /metrics, /healthz and /readyz; empty: none.");
DEFINE_string(tls_cert, "",
              "File with the daemon's certificate and what leads from it to "
              "its authority, in PEM. With it gRPC and HTTP speak TLS 1.3. The "
              "files of this and the next three flags are read again when they "
              "change. Empty: plain text.");
DEFINE_string(tls_key, "", "File with the key of the certificate, in PEM.");
DEFINE_string(tls_client_ca, "",
              "File with the authorities of clients' certificates, in PEM. "
              "Without --access_file every client must have such a "
              "certificate, and may do everything. Empty: none is asked for.");
DEFINE_string(access_file, "",
              "File that says who has which of the roles read, write and "
              "admin, by certificate or token. Empty: every client may do "
              "everything.");
DEFINE_bool(insecure, false,
            "Whether others than this machine may reach a daemon that asks "
            "nobody who he is, or that speaks plain text.");
DEFINE_string(data_dir, "",
              "Directory of the store, made if missing; empty: everything is "
              "kept in memory and forgotten at the end.");
DEFINE_string(store, "",
              "etcd://HOST:PORT,HOST:PORT/PREFIX: everything is kept in etcd, "
              "and --data_dir is not given. Of several daemons with the same "
              "store one leads, and the others follow.");
DEFINE_int64(replicas_lease, 10,
             "With --store: seconds after which another daemon leads when the "
             "one that does is not heard of any more.");
DEFINE_string(advertise_address, "",
              "With --store: HOST:PORT at which clients and other daemons are "
              "told to find this one, and no other. Empty: as "
              "--listen_address, by the name of this machine where that has "
              "no name.");
DEFINE_string(store_ca, "",
              "File of the CA of etcd's certificates; with it etcd is spoken "
              "to by TLS.");
DEFINE_string(store_cert, "", "File of the certificate to show to etcd.");
DEFINE_string(store_key, "", "File of its key.");
DEFINE_string(cost_model,
              "cpu_memory,job_spread,node_affinity,pod_affinity,taint,"
              "topology_spread",
              "Comma-separated cost models, whose costs add up.");
DEFINE_string(replies, "contract",
              "How calls are answered. contract: by the enums of the wire "
              "contract, and no call ever fails. lenient: as contract, but "
              "what is unknown is answered as if it were known. strict: "
              "malformed requests fail with INVALID_ARGUMENT and a known uid "
              "is refused.");
DEFINE_int64(default_max_pods, 110,
             "Pods that a machine takes whose description does not say.");
DEFINE_string(solver, "automatic", "The algorithm for flow problems.");
DEFINE_int64(round_arcs_max, 0,
             "Work that a round may do, in arcs of its networks; what then "
             "still waits is the next round's. 0: no bound.");
DEFINE_int64(improve_budget, 30000000,
             "Work that a round may spend on placing better than its passes "
             "did, and on proving how good it is, in looks of some ten "
             "nanoseconds. 0: none.");
DEFINE_int64(network_arcs_max, 20000,
             "The networks of the last round are kept for `sluicectl network`, "
             "as far as they have no more arcs and cost segments than this. 0: "
             "none are.");
DEFINE_int64(removal_hold_ms, 500,
             "How long the acknowledgment of a removal waits at most for the "
             "client to call Schedule again, where the reply before named "
             "what is removed: a client that acts on replies later than on "
             "acknowledgments would meet what it has forgotten. To a client "
             "that makes uids by counting each waits so long, since what "
             "replaces the task may be under way.");
DEFINE_int64(reused_uid_hold_ms, 30000,
             "How long the acknowledgment of a removal waits at most for the "
             "client to read where another task of the same uid goes: it "
             "would know the uid no more.");
DEFINE_int64(announcement_quiet_ms, 2000,
             "A client that begins anew has announced all there is once it "
             "has announced nothing for so long.");
DEFINE_int64(forget_stale_after, 0,
             "Seconds after which machines and tasks are forgotten that a "
             "client which began anew has not mentioned again. 0: never.");
DEFINE_int64(round_interval_ms, 0,
             "Rounds for the tasks of feeds begin as soon as something waits, "
             "but not before a pause: the longer of this and four times the "
             "last round, the latter 10 ms at most.");
DEFINE_int64(feed_grace_ms, 30000,
             "A feed without a client is away after so long, and a client that "
             "stands still in its snapshot is let go.");
DEFINE_int64(statistics_samples, 32,
             "Samples of use that are kept of each machine, the newest.");
DEFINE_bool(use_measured_utilization, false,
            "Whether machines take tasks by what is used of their cpu and "
            "memory, as reported, instead of by what their tasks asked for. "
            "Not for Kubernetes, whose kubelets refuse pods by requests.");
DEFINE_int64(utilization_samples, 5,
             "With --use_measured_utilization: a machine uses the larger of "
             "its newest sample and the mean of so many. A task counts with "
             "all that it asked for until so many have come.");
DEFINE_int64(utilization_floor, 50,
             "With --use_measured_utilization: tasks count with at least so "
             "many per cent of what they asked for.");
DEFINE_int64(utilization_overcommit_max, 150,
             "With --use_measured_utilization: tasks on a machine ask for at "
             "most so many per cent of what it offers, together.");
DEFINE_int64(utilization_stale_after, 300,
             "With --use_measured_utilization, and with the cost model "
             "network_aware: seconds without a sample after which what tasks "
             "asked for counts again.");
DEFINE_int64(shutdown_timeout_ms, 2000,
             "How long the daemon, told to end, waits at most for clients to "
             "take the replies of the calls under way.");
DEFINE_bool(evict_on_no_execute, false,
            "Whether a task leaves a machine with a NoExecute taint that it "
            "does not, or no longer, tolerate. Kubernetes does that itself; "
            "for clusters without its taint eviction.");
DEFINE_bool(reschedule_failed_nodes, false,
            "Whether tasks wait again, and are placed elsewhere, whose machine "
            "is reported as failed. Not for Kubernetes, whose controllers make "
            "new pods in their place.");
DEFINE_bool(requeue_evicted, false,
            "Whether a task waits again that was told to leave its machine and "
            "is then reported as failed. Not for Kubernetes, as above.");
DEFINE_int64(reserve_after, 0,
             "Seconds after which a machine is reserved for a task that waits: "
             "what becomes free there is kept until the task fits, so that "
             "smaller ones do not take it for ever. 0: never.");
DEFINE_int64(reserved_machines_max, 1,
             "With --reserve_after: of all machines, how many per cent may be "
             "reserved at a time. One always may.");
DEFINE_string(preemption, "off",
              "What may be done to tasks that run. off: nothing. priority: "
              "those are stopped for tasks that wait that have a lower "
              "priority than they. full: the same, and tasks are moved to "
              "make room, or to where they cost less.");
DEFINE_int64(preemption_cost, 100,
             "What each stop costs: of the same priority those are stopped "
             "that cost the least in all. A task's own preemption_cost comes "
             "on top, and the same once more for each time that it was "
             "disturbed before, up to three.");
DEFINE_bool(preemption_breaks_budgets, false,
            "Whether disruption budgets may be exceeded where nothing else "
            "helps, as kube-scheduler does.");
DEFINE_int64(move_cost, 30000,
             "With --preemption=full: the cost points that each move must "
             "gain, unless it makes room for a task that waits.");
DEFINE_int64(moves_per_round, 1,
             "With --preemption=full: how many tasks a round moves at most, in "
             "per cent of those that run. Ten are always allowed, but for 0: "
             "nothing moves.");
DEFINE_int64(moves_per_hour, 10, "The same for an hour.");
DEFINE_int64(min_run_time, 300,
             "With --preemption=full: seconds for which a task is left where "
             "it was placed before it may be moved.");
DEFINE_string(durability, "synced",
              "When an event is acknowledged. synced: when it would survive "
              "the loss of power. buffered: when it would survive the death "
              "of the process. On etcd both are synced by its members.");

namespace sluice {
namespace {

constexpr char kUsage[] =
    "the Sluice scheduler daemon\n"
    "\n"
    "  sluiced [--flag=value...]\n"
    "\n"
    "Serves firmament.FirmamentScheduler and sluice.v1.Inspector over gRPC, "
    "and\n"
    "metrics and probes over HTTP, until SIGTERM or SIGINT.\n"
    "\n"
    "  sluiced --data_dir=/var/lib/sluice      keeps its state over restarts\n"
    "  sluiced --store=etcd://10.0.0.1:2379/sluice      and over machines\n"
    "  sluiced --flagfile=/etc/sluice.flags    reads flags, one a line\n"
    "\n"
    "Exit code: 0 after a signal, 1 if it cannot start or cannot write its "
    "store.\n"
    "All flags, those of logging included: sluiced --helpfull\n";

constexpr std::array<std::pair<std::string_view, ReplyMode>, 3> kReplyModes = {
    {{"contract", ReplyMode::kContract},
     {"lenient", ReplyMode::kLenient},
     {"strict", ReplyMode::kStrict}}};
constexpr std::array<std::pair<std::string_view, Durability>, 2> kDurabilities =
    {{{"synced", Durability::kSynced}, {"buffered", Durability::kBuffered}}};

constexpr std::array<std::pair<std::string_view, Preemption>, 3> kPreemptions =
    {{{"off", Preemption::kOff},
      {"priority", Preemption::kPriority},
      {"full", Preemption::kFull}}};

absl::Status Invalid(std::string_view flag, std::string_view value,
                     std::string_view why) {
  return absl::InvalidArgumentError(
      StrCat("--", flag, "=", Printable(value, 256), ": ", why));
}

template <class T, size_t n>
absl::StatusOr<T> ParseChoice(
    std::string_view flag, std::string_view value,
    const std::array<std::pair<std::string_view, T>, n>& choices) {
  std::string known;
  for (const auto& [name, choice] : choices) {
    if (name == value) return choice;
    known += StrCat(known.empty() ? "" : ", ", name);
  }
  return Invalid(flag, value, StrCat("is none of ", known));
}

absl::Status CheckRanges(const Options& options) {
  const struct {
    std::string_view flag;
    int64_t value;
    int64_t low;
    int64_t high;
  } ranges[] = {
      {"default_max_pods", options.default_max_pods, 1, kAmountMax},
      {"round_arcs_max", options.round_arcs_max, 0, kAmountMax},
      {"improve_budget", options.improve_budget, 0, kAmountMax},
      {"network_arcs_max", options.network_arcs_max, 0, 100'000'000},
      {"reserve_after", FLAGS_reserve_after, 0, 1000000000},
      {"reserved_machines_max", FLAGS_reserved_machines_max, 0, 100},
      {"preemption_cost", options.preemption.cost, 1, kPreemptionCostMax},
      {"move_cost", FLAGS_move_cost, 1, kModelCostMax},
      {"moves_per_round", FLAGS_moves_per_round, 0, 100},
      {"moves_per_hour", FLAGS_moves_per_hour, 0, 100},
      {"min_run_time", FLAGS_min_run_time, 0, 86400},
      {"removal_hold_ms", options.removal_hold_ms, 0, 60000},
      {"reused_uid_hold_ms", options.reused_uid_hold_ms, 0, 600000},
      {"announcement_quiet_ms", options.announcement_quiet_ms, 1, 600000},
      {"forget_stale_after", options.forget_stale_after_s, 0, int64_t{1} << 32},
      {"round_interval_ms", options.round_interval_ms, 0, 60000},
      {"feed_grace_ms", options.feed_grace_ms, 1, 86400000},
      {"statistics_samples", FLAGS_statistics_samples, 1, 1000},
      {"utilization_samples", options.measured_use.samples, 1,
       FLAGS_statistics_samples},
      {"utilization_floor", options.measured_use.floor_percent, 0, 100},
      {"utilization_overcommit_max", options.measured_use.overcommit_percent,
       100, 1000},
      {"utilization_stale_after", options.measured_use.stale_ms / 1000, 1,
       1000000},
      {"replicas_lease", options.store.lease_s, 1, 3600},
      {"shutdown_timeout_ms", options.shutdown_timeout_ms, 0, 3600000},
  };
  for (const auto& [flag, value, low, high] : ranges) {
    if (value >= low && value <= high) continue;
    return Invalid(flag, StrCat(value),
                   StrCat("is not between ", low, " and ", high));
  }
  return absl::OkStatus();
}

absl::StatusOr<StoreOnEtcd> ParseStore() {
  StoreOnEtcd store;
  store.ca_file = FLAGS_store_ca;
  store.cert_file = FLAGS_store_cert;
  store.key_file = FLAGS_store_key;
  store.lease_s = FLAGS_replicas_lease;
  store.advertise_address = FLAGS_advertise_address;
  if (FLAGS_store.empty()) {
    if (store.ca_file.empty() && store.cert_file.empty() &&
        store.key_file.empty() && store.advertise_address.empty()) {
      return store;
    }
    return absl::InvalidArgumentError(
        "--store_ca, --store_cert, --store_key and --advertise_address are for "
        "--store=etcd://...");
  }
  if (!store.advertise_address.empty()) {
    RETURN_IF_ERROR(Annotate(ParseAddress(store.advertise_address).status(),
                             "--advertise_address"));
  }
  auto address = ParseEtcdAddress(FLAGS_store);
  RETURN_IF_ERROR(Annotate(address.status(), "--store"));
  if (!FLAGS_data_dir.empty()) {
    return Invalid("store", FLAGS_store,
                   "a daemon has one store, and --data_dir is another one");
  }
  store.address = *std::move(address);
  return store;
}

absl::Status CheckNames(const Options& options) {
  const auto policies = PolicySet::FromNames(options.cost_model);
  if (!policies.ok()) {
    std::string known;
    for (const CostModelEntry& entry : CostModels()) {
      known += StrCat(known.empty() ? "" : ", ", entry.name);
    }
    return Invalid("cost_model", options.cost_model,
                   StrCat(Message(policies.status()), "; there are: ", known));
  }
  std::string known;
  for (const SolverEntry& entry : Solvers()) {
    if (entry.name == options.solver) return absl::OkStatus();
    known += StrCat(known.empty() ? "" : ", ", entry.name);
  }
  return Invalid("solver", options.solver, StrCat("is none of ", known));
}

// What must be given together, and what anybody could reach who should not.
absl::Status CheckAccess(const Options& options) {
  const SecretFiles& files = options.secrets;
  if (files.tls_cert.empty() != files.tls_key.empty()) {
    return absl::InvalidArgumentError(
        "--tls_cert and --tls_key need each other");
  }
  const bool has_tls = !files.tls_cert.empty();
  const bool knows_clients =
      !files.tls_client_ca.empty() || !files.access.empty();
  if (knows_clients && !has_tls) {
    return absl::InvalidArgumentError(
        StrCat(files.access.empty() ? "--tls_client_ca" : "--access_file",
               " needs --tls_cert and --tls_key"));
  }
  ASSIGN_OR_RETURN(const Address grpc, ParseAddress(options.listen_address));
  if (!FLAGS_insecure && !knows_clients && !IsLoopback(grpc)) {
    return Invalid(
        "listen_address", options.listen_address,
        "whoever reaches it could schedule; give --tls_cert and --tls_key with "
        "--tls_client_ca or --access_file, or say --insecure");
  }
  if (FLAGS_insecure || has_tls || options.http_address.empty()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Address http, ParseAddress(options.http_address));
  if (IsLoopback(http)) return absl::OkStatus();
  return Invalid("http_address", options.http_address,
                 "whoever reaches it could read metrics, in plain text; give "
                 "--tls_cert and --tls_key, or say --insecure");
}

void ShowHelpIfAsked(const char* program) {
  std::string value;
  gflags::GetCommandLineOption("help", &value);
  if (value == "true") {
    gflags::ShowUsageWithFlagsRestrict(program, "server/options.cc");
    std::exit(EXIT_SUCCESS);
  }
  gflags::HandleCommandLineHelpFlags();
}

}  // namespace

absl::StatusOr<Options> ParseOptions(int argc, char** argv) {
  gflags::SetUsageMessage(kUsage);
  gflags::SetVersionString(SLUICE_VERSION);
  // Logs go to whoever started the daemon, unless it is told otherwise.
  gflags::SetCommandLineOptionWithMode("logtostderr", "true",
                                       gflags::SET_FLAGS_DEFAULT);
  gflags::ParseCommandLineNonHelpFlags(&argc, &argv, /*remove_flags=*/true);
  ShowHelpIfAsked(argv[0]);
  if (argc > 1) {
    return absl::InvalidArgumentError(
        StrCat("'", Printable(argv[1], 256), "' is no flag"));
  }
  Options options;
  options.listen_address = FLAGS_listen_address;
  options.http_address = FLAGS_http_address;
  options.secrets = {.tls_cert = FLAGS_tls_cert,
                     .tls_key = FLAGS_tls_key,
                     .tls_client_ca = FLAGS_tls_client_ca,
                     .access = FLAGS_access_file};
  options.data_dir = FLAGS_data_dir;
  ASSIGN_OR_RETURN(options.store, ParseStore());
  options.cost_model = FLAGS_cost_model;
  options.default_max_pods = FLAGS_default_max_pods;
  options.solver = FLAGS_solver;
  options.round_arcs_max = FLAGS_round_arcs_max;
  options.improve_budget = FLAGS_improve_budget;
  options.network_arcs_max = FLAGS_network_arcs_max;
  options.evict_on_no_execute = FLAGS_evict_on_no_execute;
  options.requeues.from_failed_machines = FLAGS_reschedule_failed_nodes;
  options.requeues.evicted = FLAGS_requeue_evicted;
  options.removal_hold_ms = FLAGS_removal_hold_ms;
  options.reused_uid_hold_ms = FLAGS_reused_uid_hold_ms;
  options.announcement_quiet_ms = FLAGS_announcement_quiet_ms;
  options.forget_stale_after_s = FLAGS_forget_stale_after;
  options.round_interval_ms = FLAGS_round_interval_ms;
  options.feed_grace_ms = FLAGS_feed_grace_ms;
  options.measured_use = {
      .kept_samples = static_cast<size_t>(FLAGS_statistics_samples),
      .is_on = FLAGS_use_measured_utilization,
      .samples = FLAGS_utilization_samples,
      .floor_percent = FLAGS_utilization_floor,
      .overcommit_percent = FLAGS_utilization_overcommit_max,
      .stale_ms = FLAGS_utilization_stale_after * 1000};
  options.shutdown_timeout_ms = FLAGS_shutdown_timeout_ms;
  ASSIGN_OR_RETURN(options.replies,
                   ParseChoice("replies", FLAGS_replies, kReplyModes));
  options.reservations = {.after_ms = FLAGS_reserve_after * 1000,
                          .machines_percent = FLAGS_reserved_machines_max};
  options.preemption.cost = FLAGS_preemption_cost;
  options.preemption.breaks_budgets = FLAGS_preemption_breaks_budgets;
  options.preemption.moves = {.cost = FLAGS_move_cost,
                              .percent_per_round = FLAGS_moves_per_round,
                              .percent_per_hour = FLAGS_moves_per_hour,
                              .min_run_ms = FLAGS_min_run_time * 1000};
  ASSIGN_OR_RETURN(options.preemption.mode,
                   ParseChoice("preemption", FLAGS_preemption, kPreemptions));
  ASSIGN_OR_RETURN(options.durability,
                   ParseChoice("durability", FLAGS_durability, kDurabilities));
  RETURN_IF_ERROR(Annotate(ParseAddress(options.listen_address).status(),
                           "--listen_address"));
  if (!options.http_address.empty()) {
    RETURN_IF_ERROR(Annotate(ParseAddress(options.http_address).status(),
                             "--http_address"));
  }
  RETURN_IF_ERROR(CheckAccess(options));
  RETURN_IF_ERROR(CheckRanges(options));
  RETURN_IF_ERROR(CheckNames(options));
  return options;
}

}  // namespace sluice
