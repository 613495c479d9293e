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
       "File with the daemon's certificate and what leads from it to its "
       "authority, in PEM. With it gRPC and HTTP speak TLS 1.3. The files of "
       "this and the next three flags are read again when they change. Empty: "
       "plain text."},
      &options.secrets.tls_cert);
  flags.AddString(
      {"tls_key", "FILE", "File with the key of the certificate, in PEM."},
      &options.secrets.tls_key);
  flags.AddString(
      {"tls_client_ca", "FILE",
       "File with the authorities of clients' certificates, in PEM. Without "
       "--access_file every client must have such a certificate, and may do "
       "everything. Empty: none is asked for."},
      &options.secrets.tls_client_ca);
  flags.AddString(
      {"access_file", "FILE",
       "File that says who has which of the roles read, write and admin, by "
       "certificate or token. Empty: every client may do everything."},
      &options.secrets.access);
  flags.AddSwitch("insecure",
                  "Whether others than this machine may reach a daemon that "
                  "asks nobody who he is, or that speaks plain text.",
                  &options.is_insecure);
}

void AddStoreFlags(FlagSet& flags, Options& options) {
  StoreOnEtcd& store = options.store;
  flags.AddString({"data_dir", "DIR",
                   "Directory of the store, made if missing; empty: everything "
                   "is kept in memory and forgotten at the end."},
                  &options.data_dir);
  flags.AddOther(
      {"store", "URL",
       "etcd://HOST:PORT,HOST:PORT/PREFIX: everything is kept in etcd, and "
       "--data_dir is not given. Of several daemons with the same store one "
       "leads, and the others follow."},
      "", [&store](std::string_view value) -> absl::Status {
        store.address = {};
        if (value.empty()) return absl::OkStatus();
        ASSIGN_OR_RETURN(store.address, ParseEtcdAddress(value));
        return absl::OkStatus();
      });
  flags.AddInteger(
      {"replicas_lease", "SECONDS",
       "With --store: seconds after which another daemon leads when the one "
       "that does is not heard of any more."},
      {1, 3600}, &store.lease_s);
  flags.AddString(
      {"advertise_address", "HOST:PORT",
       "With --store: where clients and other daemons are told to find this "
       "one, and no other. Empty: as --listen_address, by the name of this "
       "machine "
       "where that has no name."},
      &store.advertise_address);
  flags.AddString({"store_ca", "FILE",
                   "File of the CA of etcd's certificates; with it etcd is "
                   "spoken to by TLS."},
                  &store.ca_file);
  flags.AddString(
      {"store_cert", "FILE", "File of the certificate to show to etcd."},
      &store.cert_file);
  flags.AddString({"store_key", "FILE", "File of its key."}, &store.key_file);
  flags.AddChoice(
      {"durability", "synced|buffered",
       "When an event is acknowledged. synced: when it would survive the loss "
       "of power. buffered: when it would survive the death of the process. On "
       "etcd both are synced by its members."},
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
       "Pods that a machine takes whose description does not say."},
      {1, kAmountMax}, &options.default_max_pods);
  flags.AddChoice({"solver", "NAME", "The algorithm for flow problems."},
                  solvers, &options.solver);
  flags.AddInteger(
      {"round_arcs_max", "COUNT",
       "Work that a round may do, in arcs of its networks; what then still "
       "waits is the next round's. 0: no bound."},
      {0, kAmountMax}, &options.round_arcs_max);
  flags.AddInteger(
      {"improve_budget", "COUNT",
       "Work that a round may spend on placing better than its passes did, and "
       "on proving how good it is, in looks of some ten nanoseconds. 0: none."},
      {0, kAmountMax}, &options.improve_budget);
  flags.AddInteger(
      {"network_arcs_max", "COUNT",
       "The networks of the last round are kept for `sluicectl network`, as "
       "far as they have no more arcs and cost segments than this. 0: none "
       "are."},
      {0, 100'000'000}, &options.network_arcs_max);
  flags.AddSeconds(
      {"reserve_after", "SECONDS",
       "Seconds after which a machine is reserved for a task that waits: what "
       "becomes free there is kept until the task fits, so that smaller ones "
       "do not take it for ever. 0: never."},
      {0, 1'000'000'000}, &options.reservations.after_ms);
  flags.AddInteger(
      {"reserved_machines_max", "PERCENT",
       "With --reserve_after: of all machines, how many per cent may be "
       "reserved at a time. One always may."},
      {0, 100}, &options.reservations.machines_percent);
}

void AddRequeueFlags(FlagSet& flags, Options& options) {
  flags.AddSwitch("evict_on_no_execute",
                  "Whether a task leaves a machine with a NoExecute taint that "
                  "it does not, or no longer, tolerate. Kubernetes does that "
                  "itself; for clusters without its taint eviction.",
                  &options.evict_on_no_execute);
  flags.AddSwitch("reschedule_failed_nodes",
                  "Whether tasks wait again, and are placed elsewhere, whose "
                  "machine is reported as failed. Not for Kubernetes, whose "
                  "controllers make new pods in their place.",
                  &options.requeues.from_failed_machines);
  flags.AddSwitch("requeue_evicted",
                  "Whether a task waits again that was told to leave its "
                  "machine and is then reported as failed. Not for Kubernetes, "
                  "as above.",
                  &options.requeues.evicted);
}

void AddPreemptionFlags(FlagSet& flags, Options& options) {
  PreemptionOptions& preemption = options.preemption;
  flags.AddChoice(
      {"preemption", "off|priority|full",
       "What may be done to tasks that run. off: nothing. priority: those are "
       "stopped for tasks that wait that have a lower priority than they. "
       "full: the same, and tasks are moved to make room, or to where they "
       "cost less."},
      {{"off", Preemption::kOff},
       {"priority", Preemption::kPriority},
       {"full", Preemption::kFull}},
      &preemption.mode);
  flags.AddInteger(
      {"preemption_cost", "POINTS",
       "What each stop costs: of the same priority those are stopped that cost "
       "the least in all. A task's own preemption_cost comes on top, and the "
       "same once more for each time that it was disturbed before, up to "
       "three."},
      {1, kPreemptionCostMax}, &preemption.cost);
  flags.AddSwitch("preemption_breaks_budgets",
                  "Whether disruption budgets may be exceeded where nothing "
                  "else helps, as kube-scheduler does.",
                  &preemption.breaks_budgets);
  flags.AddInteger(
      {"move_cost", "POINTS",
       "With --preemption=full: the cost points that each move must gain, "
       "unless it makes room for a task that waits."},
      {1, kModelCostMax}, &preemption.moves.cost);
  flags.AddInteger(
      {"moves_per_round", "PERCENT",
       "With --preemption=full: how many tasks a round moves at most, in per "
       "cent of those that run. Ten are always allowed, but for 0: nothing "
       "moves."},
      {0, 100}, &preemption.moves.percent_per_round);
  flags.AddInteger({"moves_per_hour", "PERCENT", "The same for an hour."},
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
       "and no call ever fails. lenient: as contract, but what is unknown is "
       "answered as if it were known. strict: malformed requests fail with "
       "INVALID_ARGUMENT and a known uid is refused."},
      {{"contract", ReplyMode::kContract},
       {"lenient", ReplyMode::kLenient},
       {"strict", ReplyMode::kStrict}},
      &options.replies);
  flags.AddInteger(
      {"removal_hold_ms", "MS",
       "How long the acknowledgment of a removal waits at most for the client "
       "to call Schedule again, where the reply before named what is removed: "
       "a client that acts on replies later than on acknowledgments would meet "
       "what it has forgotten. To a client that makes uids by counting each "
       "waits so long, since what replaces the task may be under way."},
      {0, 60000}, &options.removal_hold_ms);
  flags.AddInteger(
      {"reused_uid_hold_ms", "MS",
       "How long the acknowledgment of a removal waits at most for the client "
       "to read where another task of the same uid goes: it would know the uid "
       "no more."},
      {0, 600000}, &options.reused_uid_hold_ms);
  flags.AddInteger(
      {"announcement_quiet_ms", "MS",
       "A client that begins anew has announced all there is once it has "
       "announced nothing for so long."},
      {1, 600000}, &options.announcement_quiet_ms);
  flags.AddInteger(
      {"forget_stale_after", "SECONDS",
       "Seconds after which machines and tasks are forgotten that a client "
       "which began anew has not mentioned again. 0: never."},
      {0, int64_t{1} << 32}, &options.forget_stale_after_s);
  flags.AddInteger(
      {"round_interval_ms", "MS",
       "Rounds for the tasks of feeds begin as soon as something waits, but "
       "not before a pause: the longer of this and four times the last round, "
       "the latter 10 ms at most."},
      {0, 60000}, &options.round_interval_ms);
  flags.AddInteger(
      {"feed_grace_ms", "MS",
       "A feed without a client is away after so long, and a client that "
       "stands still in its snapshot is let go."},
      {1, 86'400'000}, &options.feed_grace_ms);
  flags.AddInteger(
      {"shutdown_timeout_ms", "MS",
       "How long the daemon, told to end, waits at most for clients to take "
       "the replies of the calls under way."},
      {0, 3'600'000}, &options.shutdown_timeout_ms);
}

void AddMeasuredUseFlags(FlagSet& flags, Options& options) {
  MeasuredUseOptions& use = options.measured_use;
  flags.AddInteger({"statistics_samples", "COUNT",
                    "Samples of use that are kept of each machine, the "
                    "newest."},
                   {1, 1000}, &use.kept_samples);
  flags.AddSwitch("use_measured_utilization",
                  "Whether machines take tasks by what is used of their cpu "
                  "and memory, as reported, instead of by what their tasks "
                  "asked for. Not for Kubernetes, whose kubelets refuse pods "
                  "by requests.",
                  &use.is_on);
  flags.AddInteger(
      {"utilization_samples", "COUNT",
       "With --use_measured_utilization: a machine uses the larger of its "
       "newest sample and the mean of so many. A task counts with all that it "
       "asked for until so many have come."},
      {1, 1000}, &use.samples);
  flags.AddInteger(
      {"utilization_floor", "PERCENT",
       "With --use_measured_utilization: tasks count with at least so many per "
       "cent of what they asked for."},
      {0, 100}, &use.floor_percent);
  flags.AddInteger(
      {"utilization_overcommit_max", "PERCENT",
       "With --use_measured_utilization: tasks on a machine ask for at most so "
       "many per cent of what it offers, together."},
      {100, 1000}, &use.overcommit_percent);
  flags.AddSeconds(
      {"utilization_stale_after", "SECONDS",
       "With --use_measured_utilization, and with the cost model "
       "network_aware: seconds without a sample after which what tasks asked "
       "for counts again."},
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
                 "Reads flags from the file, one a line. Lines that begin with "
                 "# are comments."});
  flags.AddSwitch("help", "Shows this text.", &wants_help);
  flags.AddSwitch("helpfull", "Shows the flags of logging, too.",
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
        StrCat("'", Printable(others.front(), 256), "' is no flag"));
  }
  RETURN_IF_ERROR(CheckOptions(options));
  return line;
}

}  // namespace sluice
