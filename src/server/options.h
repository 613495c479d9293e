// The command line of the daemon, as a value.
//
// Only options.cc declares flags.  Each has its target here, and the target
// holds its default.  Everything else is given this struct.

#ifndef SLUICE_SERVER_OPTIONS_H_
#define SLUICE_SERVER_OPTIONS_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "access/secrets.h"
#include "cost/policy_set.h"
#include "etcd/etcd_address.h"
#include "persist/store.h"
#include "round/context/round_stats.h"
#include "rpc/reply_codes.h"
#include "state/measured_use.h"
#include "state/requeues.h"

namespace sluice {

struct StoreOnEtcd {
  EtcdAddress address;  // No endpoints: the store is not on etcd.
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  int64_t lease_s = 10;
  std::string advertise_address;  // Empty: the address it listens on.
};

struct Options {
  std::string listen_address = "127.0.0.1:9090";
  std::string http_address = "127.0.0.1:9091";  // Empty: no HTTP.
  SecretFiles secrets;                          // No certificate: plain text.
  bool is_insecure = false;                     // Lets strangers in.
  std::string data_dir;                         // Empty: in memory only,
  StoreOnEtcd store;                            // or here.
  std::string cost_model = kDefaultCostModels;
  ReplyMode replies = ReplyMode::kContract;
  int64_t default_max_pods = 110;
  std::string solver = "automatic";
  int64_t round_arcs_max = 0;         // 0: no bound.
  int64_t improve_budget = 30000000;  // 0: none.
  int64_t network_arcs_max = 20000;   // 0: none are kept.
  bool evict_on_no_execute = false;
  RequeueOptions requeues;
  PreemptionOptions preemption;
  ReservationOptions reservations;
  int64_t removal_hold_ms = 500;
  int64_t reused_uid_hold_ms = 30000;
  int64_t announcement_quiet_ms = 2000;
  int64_t forget_stale_after_s = 0;  // 0: never.
  int64_t round_interval_ms = 0;
  int64_t feed_grace_ms = 30000;
  MeasuredUseOptions measured_use;
  int64_t shutdown_timeout_ms = 2000;
  Durability durability = Durability::kSynced;
};

// What a command line asks for.
struct CommandLine {
  Options options;
  std::string answer;  // The text of --help and the like, instead of serving.
};

// Parses the arguments after the name of the program.  The flags of logging
// take effect at once.
// Errors: kInvalidArgument, naming the flag, for an unknown flag, for a value
// that makes no sense, and for an argument that is no flag.
absl::StatusOr<CommandLine> ParseCommandLine(
    std::span<const std::string> arguments);

}  // namespace sluice

#endif  // SLUICE_SERVER_OPTIONS_H_
