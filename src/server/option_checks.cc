#include "server/option_checks.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cost/policy_set.h"
#include "etcd/etcd_address.h"
#include "server/address.h"

namespace sluice {
namespace {

absl::Status Invalid(std::string_view flag, std::string_view value,
                     std::string_view why) {
  return absl::InvalidArgumentError(
      StrCat("--", flag, "=", Printable(value, 256), ": ", why));
}

absl::Status CheckStore(const Options& options) {
  const StoreOnEtcd& store = options.store;
  if (!store.advertise_address.empty()) {
    RETURN_IF_ERROR(Annotate(ParseAddress(store.advertise_address).status(),
                             "--advertise_address"));
  }
  if (!store.address.endpoints.empty()) {
    if (options.data_dir.empty()) return absl::OkStatus();
    return Invalid("store", ToString(store.address),
                   "a daemon has one store, and --data_dir gives another one");
  }
  if (store.ca_file.empty() && store.cert_file.empty() &&
      store.key_file.empty() && store.advertise_address.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "--store_ca, --store_cert, --store_key and --advertise_address need "
      "--store=etcd://...");
}

// Checks flags that need each other, and that no stranger could reach the
// daemon.
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
  const absl::StatusOr<Address> grpc = ParseAddress(options.listen_address);
  RETURN_IF_ERROR(Annotate(grpc.status(), "--listen_address"));
  if (!options.is_insecure && !knows_clients && !IsLoopback(*grpc)) {
    return Invalid(
        "listen_address", options.listen_address,
        "whoever reaches it could schedule; give --tls_cert and --tls_key with "
        "--tls_client_ca or --access_file, or say --insecure");
  }
  if (options.http_address.empty()) return absl::OkStatus();
  const absl::StatusOr<Address> http = ParseAddress(options.http_address);
  RETURN_IF_ERROR(Annotate(http.status(), "--http_address"));
  if (options.is_insecure || has_tls || IsLoopback(*http)) {
    return absl::OkStatus();
  }
  return Invalid("http_address", options.http_address,
                 "whoever reaches it could read metrics, in plain text; give "
                 "--tls_cert and --tls_key, or say --insecure");
}

absl::Status CheckCostModels(const Options& options) {
  const auto policies = PolicySet::FromNames(options.cost_model);
  if (policies.ok()) return absl::OkStatus();
  std::string known;
  for (const CostModelEntry& entry : CostModels()) {
    known += StrCat(known.empty() ? "" : ", ", entry.name);
  }
  return Invalid("cost_model", options.cost_model,
                 StrCat(Message(policies.status()), "; there are: ", known));
}

absl::Status CheckSamples(const MeasuredUseOptions& use) {
  if (std::cmp_less_equal(use.samples, use.kept_samples)) {
    return absl::OkStatus();
  }
  return Invalid(
      "utilization_samples", StrCat(use.samples),
      StrCat("is more than --statistics_samples=", use.kept_samples));
}

}  // namespace

absl::Status CheckOptions(const Options& options) {
  RETURN_IF_ERROR(CheckStore(options));
  RETURN_IF_ERROR(CheckAccess(options));
  RETURN_IF_ERROR(CheckSamples(options.measured_use));
  return CheckCostModels(options);
}

}  // namespace sluice
