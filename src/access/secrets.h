// The daemon's certificates and its clients' roles, read from files and kept up
// to date.
//
// The files are read again every few seconds.  A change is checked, the
// certificate together with its key, and takes effect for later connections and
// calls; calls under way go on.  A faulty file is logged once, and its previous
// contents stay in effect.  Other files still take effect, so that nobody keeps
// a role that was taken away because a certificate has expired.
//
// Threads: any; a thread of its own reads the files.

#ifndef SLUICE_ACCESS_SECRETS_H_
#define SLUICE_ACCESS_SECRETS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "access/access_list.h"
#include "access/certificates.h"
#include "base/mutex.h"
#include "observe/metrics.h"
#include "sluice/base/clock.h"

namespace sluice {

// The names of the files, as the flags give them.
struct SecretFiles {
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;  // Empty: clients need no certificate.
  std::string access;         // Empty: every client may do everything.
};

class Secrets {
 public:
  // Reads the files and goes on watching them.  `clock` and `metrics` must
  // outlive the result.
  // Errors name the flag and the file: kNotFound and the like for a file that
  // cannot be read, kInvalidArgument for one with faulty contents.
  static absl::StatusOr<std::unique_ptr<Secrets>> Open(SecretFiles files,
                                                       const Clock& clock,
                                                       Metrics& metrics);
  // For Open().
  Secrets(SecretFiles files, const Clock& clock, Metrics& metrics);
  ~Secrets();

  Secrets(const Secrets&) = delete;
  Secrets& operator=(const Secrets&) = delete;

  const SecretFiles& files() const { return files_; }

  // Rises with each change that takes effect; from 1 up.
  int64_t generation() const { return generation_; }
  // The certificates in effect, and their generation.
  std::pair<Certificates, int64_t> certificates() const;

  // OK if the caller has the role, or if every client may do everything.
  // Errors: those of AccessList::Check().
  absl::Status Check(const Caller& caller, Role needed) const;

  // Reads the files now.  Logs and returns errors; files without errors take
  // effect, unless this is the first time.
  absl::Status Reload();

 private:
  struct Contents {
    Certificates certificates;
    int64_t expires_ms = 0;
    std::string access_text;
    AccessList access;

    friend bool operator==(const Contents&, const Contents&) = default;
  };

  // Each reads its files, and updates its part of `contents` if the files have
  // changed and are without errors.
  absl::Status ReadCertificate(Contents* contents) const;
  absl::Status ReadAuthorities(Contents* contents) const;
  absl::Status ReadAccess(Contents* contents) const;
  void Watch();

  const SecretFiles files_;
  const Clock& clock_;
  Metrics& metrics_;

  mutable Mutex mutex_;
  CondVar end_;
  Contents contents_ ABSL_GUARDED_BY(mutex_);  // In effect.
  std::atomic<int64_t> generation_ = 0;        // Changes under the lock.
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;

  Mutex reload_mutex_;  // One Reload() at a time.
  std::string last_error_ ABSL_GUARDED_BY(reload_mutex_);

  std::thread thread_;
};

}  // namespace sluice

#endif  // SLUICE_ACCESS_SECRETS_H_
