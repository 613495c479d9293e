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

// The size of one file: a bundle of authorities has some 200 KiB.
constexpr size_t kSecretFileBytesMax = 1 << 20;

absl::StatusOr<std::string> ReadFile(std::string_view flag,
                                     const std::string& path) {
  if (path.empty()) return std::string();
  // Reading another kind of file might block for ever.
  std::error_code error;
  if (std::filesystem::exists(path, error) &&
      !std::filesystem::is_regular_file(path, error)) {
    return absl::InvalidArgumentError(
        StrCat("--", flag, "=", path, ": is not a regular file"));
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
  return {contents_.certificates, generation_};
}

absl::Status Secrets::Check(const Caller& caller, Role needed) const {
  if (files_.access.empty() || needed == Role::kNone) return absl::OkStatus();
  const MutexLock lock(mutex_);
  return contents_.access.Check(caller, needed);
}

absl::Status Secrets::Reload() {
  const MutexLock reload_lock(reload_mutex_);
  Contents contents;
  {
    const MutexLock lock(mutex_);
    contents = contents_;
  }
  absl::Status status = ReadCertificate(&contents);
  for (const absl::Status& next :
       {ReadAuthorities(&contents), ReadAccess(&contents)}) {
    if (status.ok()) {
      status = next;
    } else if (!next.ok()) {
      status = absl::Status(status.code(),
                            StrCat(Message(status), "; ", Message(next)));
    }
  }
  const bool is_first = generation_ == 0;
  if (!status.ok() && last_error_ != Message(status)) {
    metrics_.failed_secret_reloads.Increment();
    if (!is_first) {
      LOG(ERROR) << Message(status) << "; the previous contents stay in effect";
    }
  }
  last_error_ = status.ok() ? "" : std::string(Message(status));
  if (is_first && !status.ok()) return status;
  metrics_.certificate_expires_seconds.Set(
      static_cast<double>(contents.expires_ms) / 1000);
  const MutexLock lock(mutex_);
  if (contents == contents_) return status;
  contents_ = std::move(contents);
  ++generation_;
  if (!is_first) LOG(INFO) << "certificates and roles were read again";
  return status;
}

absl::Status Secrets::ReadCertificate(Contents* contents) const {
  ASSIGN_OR_RETURN(std::string chain, ReadFile("tls_cert", files_.tls_cert));
  ASSIGN_OR_RETURN(std::string key, ReadFile("tls_key", files_.tls_key));
  Certificates& certificates = contents->certificates;
  if (chain == certificates.chain && key == certificates.key &&
      contents->expires_ms != 0) {
    return absl::OkStatus();
  }
  const absl::StatusOr<int64_t> expires_ms =
      CheckCertificate(chain, key, clock_.NowMs());
  if (!expires_ms.ok()) {
    return Annotate(expires_ms.status(),
                    StrCat(files_.tls_cert, " and ", files_.tls_key));
  }
  certificates.chain = std::move(chain);
  certificates.key = std::move(key);
  contents->expires_ms = *expires_ms;
  return absl::OkStatus();
}

absl::Status Secrets::ReadAuthorities(Contents* contents) const {
  if (files_.tls_client_ca.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::string pem,
                   ReadFile("tls_client_ca", files_.tls_client_ca));
  if (pem.empty()) {
    return absl::InvalidArgumentError(
        StrCat("--tls_client_ca=", files_.tls_client_ca, ": is empty"));
  }
  if (pem == contents->certificates.client_ca) return absl::OkStatus();
  RETURN_IF_ERROR(
      Annotate(CheckAuthorities(pem, clock_.NowMs()), files_.tls_client_ca));
  contents->certificates.client_ca = std::move(pem);
  return absl::OkStatus();
}

absl::Status Secrets::ReadAccess(Contents* contents) const {
  if (files_.access.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::string text, ReadFile("access_file", files_.access));
  // An empty file is an error.
  if (!text.empty() && text == contents->access_text) return absl::OkStatus();
  absl::StatusOr<AccessList> list = AccessList::Parse(text);
  if (!list.ok()) {
    return Annotate(list.status(), StrCat("--access_file=", files_.access));
  }
  contents->access_text = std::move(text);
  contents->access = *std::move(list);
  return absl::OkStatus();
}

void Secrets::Watch() {
  while (true) {
    {
      const MutexLock lock(mutex_);
      if (!is_ending_) end_.WaitFor(mutex_, kWatchUs);
      if (is_ending_) return;
    }
    // Reload() has logged its error.
    Reload().IgnoreError();
  }
}

}  // namespace sluice
