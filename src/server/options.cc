#include "server/options.h"

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/flag_set.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "server/logging_flags.h"
#include "server/option_checks.h"
#include "sluice/state/resources.h"
#include "solver/registry.h"

namespace sluice {
namespace {

constexpr std::string_view kUsage = R"(sluiced: the Sluice scheduler daemon

  sluiced [--flag=value...]

Serves firmament.FirmamentScheduler and sluice.v1.Inspector over gRPC, and
metrics and probes over HTTP, until SIGTERM or SIGINT.

  sluiced --data_dir=/var/lib/sluice      keeps its state over restarts
  sluiced --store=etcd://10.0.0.1:2379/sluice      and over machines
  sluiced --flagfile=/etc/sluice.flags    reads flags, one a line

Exit code: 0 after a signal, 1 if it cannot start or cannot write its store.

Flags, and what holds without them:
)";

void AddAccessFlags(FlagSet& flags, Options& options) {
  flags.AddString({"listen_address", "HOST:PORT",
                   "Where gRPC listens; port 0 takes any that is free."},
                  &options.listen_address);
  flags.AddString(
      {"http_address", "HOST:PORT",
       "Where /metrics, /healthz and /readyz are served; empty: nowhere."},
      &options.http_address);
  flags.AddString(
      {"tls_cert", "FILE",
       "File with the daemon's certificate and the chain to its authority, in "
       "PEM. With it gRPC and HTTP speak TLS 1.3. The files of this and the "
       "next three flags are read again when they change. Empty: plain text."},
      &options.secrets.tls_cert);
  flags.AddString(
      {"tls_key", "FILE", "File with the key of the certificate, in PEM."},
      &options.secrets.tls_key);
  flags.AddString(
      {"tls_client_ca", "FILE",
       "File with the authorities of clients' certificates, in PEM. Without "
       "--access_file every client must have such a certificate, and may do "
       "everything. Empty: clients need no certificate."},
      &options.secrets.tls_client_ca);
  flags.AddString(
      {"access_file", "FILE",
       "File that says who has which of the roles read, write and admin, by "
       "certificate or token. Empty: every client may do everything."},
      &options.secrets.access);
  flags.AddSwitch("insecure",
                  "Whether other machines may reach a daemon that lets "
                  "everybody in, or that speaks plain text.",
                  &options.is_insecure);
}

void AddStoreFlags(FlagSet& flags, Options& options) {
  StoreOnEtcd& store = options.store;
  flags.AddString({"data_dir", "DIR",
                   "Directory of the store, made if missing. Empty: everything "
                   "is kept in memory and is lost at the end."},
                  &options.data_dir);
  flags.AddOther(
      {"store", "URL",
       "etcd://HOST:PORT,HOST:PORT/PREFIX: everything is kept in etcd. "
       "Excludes --data_dir. If several daemons have the same store, one leads "
       "and the others follow."},
      "", [&store](std::string_view value) -> absl::Status {
        store.address = {};
        if (value.empty()) return absl::OkStatus();
        ASSIGN_OR_RETURN(store.address, ParseEtcdAddress(value));
        return absl::OkStatus();
      });
  flags.AddInteger(
      {"replicas_lease", "SECONDS",
       "With --store: seconds after which another daemon leads if the leader "
       "falls silent."},
      {1, 3600}, &store.lease_s);
  flags.AddString(
      {"advertise_address", "HOST:PORT",
       "With --store: the address at which clients and other daemons find "
       "this one, and no other. Empty: --listen_address, with the name of this "
       "machine if it listens on all addresses."},
      &store.advertise_address);
  flags.AddString({"store_ca", "FILE",
                   "File of the CA of etcd's certificates. With it the daemon "
                   "speaks TLS to etcd."},
                  &store.ca_file);
  flags.AddString(
      {"store_cert", "FILE", "File of the certificate to show to etcd."},
      &store.cert_file);
  flags.AddString({"store_key", "FILE", "File of its key."}, &store.key_file);
  flags.AddChoice(
      {"durability", "synced|buffered",
       "When an event is acknowledged. synced: once it survives a loss of "
       "power. buffered: once it survives a crash of the process. The members "
       "of etcd sync both."},
      {{"synced", Durability::kSynced}, {"buffered", Durability::kBuffered}},
      &options.durability);
}

void AddRoundFlags(FlagSet& flags, Options& options) {
  std::vector<std::string> solvers;
  for (const SolverEntry& entry : Solvers()) solvers.emplace_back(entry.name);

  flags.AddString({"cost_model", "NAMES",
                   "Comma-separated cost models, whose costs add up."},
                  &options.cost_model);
  flags.AddInteger(
      {"default_max_pods", "COUNT",
       "Pods that a machine takes if its description does not say."},
      {1, kAmountMax}, &options.default_max_pods);
  flags.AddChoice({"solver", "NAME", "The algorithm for flow problems."},
                  solvers, &options.solver);
  flags.AddInteger(
      {"round_arcs_max", "COUNT",
       "Work that a round may do, in arcs of its networks. The next round goes "
       "on with what still waits. 0: no bound."},
      {0, kAmountMax}, &options.round_arcs_max);
  flags.AddInteger(
      {"improve_budget", "COUNT",
       "Work that a round may spend on improving what its passes placed, and "
       "on proving how good it is, in units of some ten nanoseconds. 0: none."},
      {0, kAmountMax}, &options.improve_budget);
  flags.AddInteger(
      {"network_arcs_max", "COUNT",
       "The networks of the last round are kept for `sluicectl network` if "
       "they have at most so many arcs and cost segments. 0: none."},
      {0, 100'000'000}, &options.network_arcs_max);
  flags.AddSeconds(
      {"reserve_after", "SECONDS",
       "Seconds after which a machine is reserved for a waiting task: what "
       "becomes free there is kept until the task fits, so that smaller tasks "
       "do not take it for ever. 0: never."},
      {0, 1'000'000'000}, &options.reservations.after_ms);
  flags.AddInteger(
      {"reserved_machines_max", "PERCENT",
       "With --reserve_after: the percentage of machines that may be reserved "
       "at a time. One always may."},
      {0, 100}, &options.reservations.machines_percent);
}

void AddRequeueFlags(FlagSet& flags, Options& options) {
  flags.AddSwitch(
      "evict_on_no_execute",
      "Whether a task leaves a machine with a NoExecute taint that "
      "it does not tolerate, or no longer tolerates. For clusters without "
      "the taint eviction of Kubernetes.",
      &options.evict_on_no_execute);
  flags.AddSwitch("reschedule_failed_nodes",
                  "Whether the tasks of a machine that is reported as failed "
                  "wait again and are placed elsewhere. Not for Kubernetes, "
                  "whose controllers make new pods in their place.",
                  &options.requeues.from_failed_machines);
  flags.AddSwitch("requeue_evicted",
                  "Whether a task waits again if it was told to leave its "
                  "machine and is then reported as failed. Not for Kubernetes, "
                  "as above.",
                  &options.requeues.evicted);
}

void AddPreemptionFlags(FlagSet& flags, Options& options) {
  PreemptionOptions& preemption = options.preemption;
  flags.AddChoice(
      {"preemption", "off|priority|full",
       "What may be done to running tasks. off: nothing. priority: they are "
       "stopped for waiting tasks of higher priority. full: the same, and "
       "tasks are moved to make room, or to where they cost less."},
      {{"off", Preemption::kOff},
       {"priority", Preemption::kPriority},
       {"full", Preemption::kFull}},
      &preemption.mode);
  flags.AddInteger(
      {"preemption_cost", "POINTS",
       "What each stop costs: among tasks of the same priority those are "
       "stopped that cost the least in all. A task's own preemption_cost is "
       "added, and this cost again for each earlier disturbance of the task, "
       "up to three."},
      {1, kPreemptionCostMax}, &preemption.cost);
  flags.AddSwitch("preemption_breaks_budgets",
                  "Whether disruption budgets may be exceeded if nothing else "
                  "helps, as kube-scheduler does.",
                  &preemption.breaks_budgets);
  flags.AddInteger(
      {"move_cost", "POINTS",
       "With --preemption=full: the cost points that each move must gain, "
       "unless it makes room for a waiting task."},
      {1, kModelCostMax}, &preemption.moves.cost);
  flags.AddInteger(
      {"moves_per_round", "PERCENT",
       "With --preemption=full: how many tasks a round moves at most, in per "
       "cent of running tasks. Ten are always allowed. 0: nothing moves."},
      {0, 100}, &preemption.moves.percent_per_round);
  flags.AddInteger({"moves_per_hour", "PERCENT", "The same, for an hour."},
                   {0, 100}, &preemption.moves.percent_per_hour);
  flags.AddSeconds(
      {"min_run_time", "SECONDS",
       "With --preemption=full: seconds for which a task is left where it was "
       "placed before it may be moved."},
      {0, 86400}, &preemption.moves.min_run_ms);
}

void AddClientFlags(FlagSet& flags, Options& options) {
  flags.AddChoice(
      {"replies", "contract|lenient|strict",
       "How calls are answered. contract: by the enums of the wire contract, "
       "and no call ever fails. lenient: as contract, but unknown uids are "
       "answered as if they were known. strict: malformed requests fail with "
       "INVALID_ARGUMENT, and a known uid is refused."},
      {{"contract", ReplyMode::kContract},
       {"lenient", ReplyMode::kLenient},
       {"strict", ReplyMode::kStrict}},
      &options.replies);
  flags.AddInteger(
      {"removal_hold_ms", "MS",
       "How long the acknowledgment of a removal waits at most for the client "
       "to call Schedule again if the last reply named what is removed: a "
       "client that acts on replies later than on acknowledgments would meet "
       "what it has forgotten. For a client that counts up its uids every "
       "acknowledgment waits, since the task's replacement may be under way."},
      {0, 60000}, &options.removal_hold_ms);
  flags.AddInteger(
      {"reused_uid_hold_ms", "MS",
       "How long the acknowledgment of a removal waits at most for the client "
       "to read where another task of the same uid goes: after the "
       "acknowledgment it would no longer know the uid."},
      {0, 600000}, &options.reused_uid_hold_ms);
  flags.AddInteger(
      {"announcement_quiet_ms", "MS",
       "A client that starts again has announced everything once it has "
       "announced nothing for so long. A client that calls Check and then "
       "Schedule is awaited five times as long."},
      {1, 600000}, &options.announcement_quiet_ms);
  flags.AddInteger(
      {"forget_stale_after", "SECONDS",
       "Seconds after which machines and tasks are forgotten if a client that "
       "started again has not mentioned them. 0: never."},
      {0, int64_t{1} << 32}, &options.forget_stale_after_s);
  flags.AddInteger(
      {"round_interval_ms", "MS",
       "A round for the tasks of feeds begins as soon as something waits, but "
       "only after a pause: the longer of this and four times the last round, "
       "the latter 10 ms at most."},
      {0, 60000}, &options.round_interval_ms);
  flags.AddInteger(
      {"feed_grace_ms", "MS",
       "A feed without a client counts as away after so long, and a client "
       "whose snapshot stands still is disconnected."},
      {1, 86'400'000}, &options.feed_grace_ms);
  flags.AddInteger(
      {"shutdown_timeout_ms", "MS",
       "How long the daemon waits at its end for clients to take the replies "
       "of calls under way."},
      {0, 3'600'000}, &options.shutdown_timeout_ms);
}

void AddMeasuredUseFlags(FlagSet& flags, Options& options) {
  MeasuredUseOptions& use = options.measured_use;
  flags.AddInteger(
      {"statistics_samples", "COUNT",
       "The number of newest samples of use that are kept for each "
       "machine."},
      {1, 1000}, &use.kept_samples);
  flags.AddSwitch("use_measured_utilization",
                  "Whether machines take tasks by the reported use of their "
                  "cpu and memory, instead of by what their tasks requested. "
                  "Not for Kubernetes, whose kubelets refuse pods by "
                  "requests.",
                  &use.is_on);
  flags.AddInteger(
      {"utilization_samples", "COUNT",
       "With --use_measured_utilization: a machine's use is the larger of its "
       "newest sample and the mean of so many. A task counts with its full "
       "request until so many have come."},
      {1, 1000}, &use.samples);
  flags.AddInteger(
      {"utilization_floor", "PERCENT",
       "With --use_measured_utilization: tasks count with at least so many per "
       "cent of their requests."},
      {0, 100}, &use.floor_percent);
  flags.AddInteger(
      {"utilization_overcommit_max", "PERCENT",
       "With --use_measured_utilization: the requests of all tasks on a "
       "machine are at most so many per cent of what it offers."},
      {100, 1000}, &use.overcommit_percent);
  flags.AddSeconds(
      {"utilization_stale_after", "SECONDS",
       "With --use_measured_utilization, and with the cost model "
       "network_aware: seconds without a sample after which the requests of "
       "tasks count again."},
      {1, 1'000'000}, &use.stale_ms);
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(
    std::span<const std::string> arguments) {
  CommandLine line;
  Options& options = line.options;
  bool wants_help = false;
  bool wants_all_help = false;
  bool wants_version = false;

  FlagSet flags;
  AddAccessFlags(flags, options);
  AddStoreFlags(flags, options);
  AddRoundFlags(flags, options);
  AddRequeueFlags(flags, options);
  AddPreemptionFlags(flags, options);
  AddClientFlags(flags, options);
  AddMeasuredUseFlags(flags, options);
  flags.AddFile({"flagfile", "FILE",
                 "Reads flags from the file, one per line. Lines that begin "
                 "with # are comments."});
  flags.AddSwitch("help", "Shows this text.", &wants_help);
  flags.AddSwitch("helpfull", "Also shows the flags of logging.",
                  &wants_all_help);
  flags.AddSwitch("version", "Shows the version.", &wants_version);
  const std::string help = flags.HelpWithDefaults();
  AddLoggingFlags(flags);

  ASSIGN_OR_RETURN(const std::vector<std::string> others,
                   flags.Parse(arguments));
  if (wants_help || wants_all_help || wants_version) {
    line.answer = wants_all_help ? StrCat(kUsage, flags.HelpWithDefaults())
                  : wants_help   ? StrCat(kUsage, help)
                                 : "sluiced version " SLUICE_VERSION "\n";
    return line;
  }
  if (!others.empty()) {
    return absl::InvalidArgumentError(
        StrCat("unexpected argument '", Printable(others.front(), 256), "'"));
  }
  RETURN_IF_ERROR(CheckOptions(options));
  return line;
}

}  // namespace sluice
