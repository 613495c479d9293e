#include "server/tls_credentials.h"

#include <glog/logging.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>

#include <atomic>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "access/role.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "observe/rate_limited_log.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 256;
constexpr int kRefusalsPerSecond = 5;

std::string_view TextOf(const grpc_slice& slice) {
  const void* const bytes = GRPC_SLICE_START_PTR(slice);
  return {static_cast<const char*>(bytes), GRPC_SLICE_LENGTH(slice)};
}

// The names in the client's certificate, if it showed one.  The common name
// counts only if there is no other, since an authority's constraints do not
// cover it.
std::vector<std::string> NamesOf(const grpc_auth_context* context) {
  std::vector<std::string> names;
  for (const char* kind :
       {GRPC_X509_SAN_PROPERTY_NAME, GRPC_X509_CN_PROPERTY_NAME}) {
    grpc_auth_property_iterator found =
        grpc_auth_context_find_properties_by_name(context, kind);
    while (const grpc_auth_property* name =
               grpc_auth_property_iterator_next(&found)) {
      names.emplace_back(name->value, name->value_length);
    }
    if (!names.empty()) break;
  }
  return names;
}

class TlsCredentials final : public grpc::ServerCredentials {
 public:
  TlsCredentials(const Secrets& secrets, const Clock& clock, Metrics& metrics)
      : secrets_(secrets),
        clock_(clock),
        metrics_(metrics),
        credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                RequestType(secrets.files()), &TlsCredentials::Fetch, this))) {
    if (secrets.files().access.empty()) return;
    grpc_server_credentials_set_auth_metadata_processor(
        credentials_, {.process = &TlsCredentials::Process,
                       .destroy = nullptr,
                       .state = this});
  }

  ~TlsCredentials() override { grpc_server_credentials_release(credentials_); }

  TlsCredentials(const TlsCredentials&) = delete;
  TlsCredentials& operator=(const TlsCredentials&) = delete;

  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>& /*ours*/) override {
    LOG(FATAL) << "these credentials have a processor of their own";
  }

 private:
  static grpc_ssl_client_certificate_request_type RequestType(
      const SecretFiles& files) {
    if (files.tls_client_ca.empty()) {
      return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
    }
    return files.access.empty()
               ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
               : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
  }

  int AddPortToServer(const std::string& address,
                      grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  // Called when a connection begins, one at a time.
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    auto& credentials = *static_cast<TlsCredentials*>(self);
    if (credentials.secrets_.generation() == credentials.generation_) {
      return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    }
    const auto [files, generation] = credentials.secrets_.certificates();
    credentials.generation_ = generation;
    const grpc_ssl_pem_key_cert_pair pair = {.private_key = files.key.c_str(),
                                             .cert_chain = files.chain.c_str()};
    // gRPC insists on some authority, even if it asks no client for a
    // certificate.
    *config = grpc_ssl_server_certificate_config_create(
        (files.client_ca.empty() ? files.chain : files.client_ca).c_str(),
        &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  // Called when a call begins.
  static void Process(void* self, grpc_auth_context* context,
                      const grpc_metadata* metadata, size_t count,
                      grpc_process_auth_metadata_done_cb done, void* call) {
    const absl::Status status = static_cast<TlsCredentials*>(self)->Check(
        context, std::span(metadata, count));
    // The codes of gRPC and absl are the same numbers.
    done(call, nullptr, 0, nullptr, 0,
         static_cast<grpc_status_code>(status.code()),
         std::string(Message(status)).c_str());
  }

  absl::Status Check(const grpc_auth_context* context,
                     std::span<const grpc_metadata> metadata) {
    std::string_view path;
    std::string_view authorization;
    for (const grpc_metadata& entry : metadata) {
      const std::string_view key = TextOf(entry.key);
      if (key == ":path") path = TextOf(entry.value);
      if (key == "authorization") {
        if (!authorization.empty()) {
          return absl::UnauthenticatedError(
              "there is more than one authorization header");
        }
        authorization = TextOf(entry.value);
      }
    }
    const Role needed = RoleFor(path);
    if (needed == Role::kNone) return absl::OkStatus();
    const std::vector<std::string> names = NamesOf(context);
    absl::Status status = secrets_.Check(
        {.names = names, .authorization = authorization}, needed);
    if (!status.ok()) Report(path, status);
    return status;
  }

  void Report(std::string_view path, const absl::Status& status) {
    metrics_.refused_calls
        .With(status.code() == absl::StatusCode::kUnauthenticated
                  ? "unauthenticated"
                  : "permission_denied")
        .Increment();
    if (const auto suppressed = refusals_.Admit(clock_.MonotonicUs())) {
      LOG(WARNING) << "refused " << Printable(path, kShownBytes) << ": "
                   << Message(status) << " (" << *suppressed
                   << " such lines suppressed)";
    }
  }

  const Secrets& secrets_;
  const Clock& clock_;
  Metrics& metrics_;
  RateLimiter refusals_{kRefusalsPerSecond};
  std::atomic<int64_t> generation_ = 0;  // That of gRPC's certificates.
  grpc_server_credentials* const credentials_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(
    const Secrets& secrets, const Clock& clock, Metrics& metrics) {
  return std::make_shared<TlsCredentials>(secrets, clock, metrics);
}

}  // namespace sluice
