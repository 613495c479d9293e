#include "access/secrets.h"

#include <glog/logging.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

constexpr int64_t kWatchUs = 2'000'000;

// Of one file: a bundle of authorities has some 200 KiB.
constexpr size_t kSecretFileBytesMax = 1 << 20;

absl::StatusOr<std::string> ReadFile(std::string_view flag,
                                     const std::string& path) {
  if (path.empty()) return std::string();
  // Another kind might keep the reader waiting for ever.
  std::error_code error;
  if (std::filesystem::exists(path, error) &&
      !std::filesystem::is_regular_file(path, error)) {
    return absl::InvalidArgumentError(
        StrCat("--", flag, "=", path, ": is no regular file"));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kSecretFileBytesMax + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) {
    return absl::NotFoundError(
        StrCat("--", flag, "=", path, ": ", std::strerror(errno)));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kSecretFileBytesMax) {
    return absl::InvalidArgumentError(StrCat("--", flag, "=", path,
                                             ": is larger than ",
                                             kSecretFileBytesMax, " bytes"));
  }
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Secrets>> Secrets::Open(SecretFiles files,
                                                       const Clock& clock,
                                                       Metrics& metrics) {
  auto secrets = std::make_unique<Secrets>(std::move(files), clock, metrics);
  RETURN_IF_ERROR(secrets->Reload());
  secrets->thread_ = std::thread([&secrets = *secrets] { secrets.Watch(); });
  return secrets;
}

Secrets::Secrets(SecretFiles files, const Clock& clock, Metrics& metrics)
    : files_(std::move(files)), clock_(clock), metrics_(metrics) {}

Secrets::~Secrets() {
  {
    const MutexLock lock(mutex_);
    is_ending_ = true;
  }
  end_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

std::pair<Certificates, int64_t> Secrets::certificates() const {
  const MutexLock lock(mutex_);
  return {certificates_, generation_};
}

absl::Status Secrets::Check(const Caller& caller, Role needed) const {
  if (files_.access.empty() || needed == Role::kNone) return absl::OkStatus();
  const MutexLock lock(mutex_);
  return access_->Check(caller, needed);
}

absl::Status Secrets::Reload() {
  const MutexLock lock(reload_mutex_);
  absl::StatusOr<Contents> contents = Read();
  absl::Status status = contents.status();
  if (status.ok()) {
    // What is wrong is looked at again each time: time alone may mend it.
    if (last_error_.empty() && *contents == seen_) return absl::OkStatus();
    status = Apply(*contents);
  }
  if (status.ok()) {
    seen_ = *std::move(contents);
    last_error_.clear();
    return absl::OkStatus();
  }
  if (last_error_ != Message(status)) {
    last_error_ = std::string(Message(status));
    metrics_.failed_secret_reloads.Increment();
    if (generation_ > 0) {
      LOG(ERROR) << last_error_ << "; what was there before stays in effect";
    }
  }
  return status;
}

absl::StatusOr<Secrets::Contents> Secrets::Read() const {
  Contents contents;
  ASSIGN_OR_RETURN(contents.certificates.chain,
                   ReadFile("tls_cert", files_.tls_cert));
  ASSIGN_OR_RETURN(contents.certificates.key,
                   ReadFile("tls_key", files_.tls_key));
  ASSIGN_OR_RETURN(contents.certificates.client_ca,
                   ReadFile("tls_client_ca", files_.tls_client_ca));
  ASSIGN_OR_RETURN(contents.access, ReadFile("access_file", files_.access));
  return contents;
}

absl::Status Secrets::Apply(const Contents& contents) {
  ASSIGN_OR_RETURN(const int64_t expires_ms,
                   CheckCertificates(contents.certificates, clock_.NowMs()));
  if (!files_.tls_client_ca.empty() &&
      contents.certificates.client_ca.empty()) {
    return absl::InvalidArgumentError(
        StrCat("--tls_client_ca=", files_.tls_client_ca, ": is empty"));
  }
  std::optional<AccessList> access;
  if (!files_.access.empty()) {
    absl::StatusOr<AccessList> list = AccessList::Parse(contents.access);
    if (!list.ok()) {
      return Annotate(list.status(), StrCat("--access_file=", files_.access));
    }
    access = *std::move(list);
  }
  metrics_.certificate_expires_seconds.Set(static_cast<double>(expires_ms) /
                                           1000);
  const MutexLock lock(mutex_);
  certificates_ = contents.certificates;
  access_ = std::move(access);
  if (++generation_ > 1) LOG(INFO) << "certificates and roles were read again";
  return absl::OkStatus();
}

void Secrets::Watch() {
  while (true) {
    {
      const MutexLock lock(mutex_);
      if (!is_ending_) end_.WaitFor(mutex_, kWatchUs);
      if (is_ending_) return;
    }
    // What is wrong has been logged.
    Reload().IgnoreError();
  }
}

}  // namespace sluice
