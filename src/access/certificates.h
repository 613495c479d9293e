// The daemon's certificate, its key, and the authority of its clients, checked
// before anybody uses them.
//
// Threads: free functions without state.

#ifndef SLUICE_ACCESS_CERTIFICATES_H_
#define SLUICE_ACCESS_CERTIFICATES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sluice {

// All in PEM.
struct Certificates {
  std::string chain;      // The daemon's own certificate first.
  std::string key;        // That of the first one.
  std::string client_ca;  // Empty: clients are not asked for certificates.

  friend bool operator==(const Certificates&, const Certificates&) = default;
};

// When the daemon's chain expires, in milliseconds since the Unix epoch.
// Errors: kInvalidArgument, naming the flag of the faulty part: it is no PEM,
// the key has a passphrase or belongs to another certificate, a certificate is
// not valid at `now_ms`, or a trial handshake by TLS 1.3 fails with it.
absl::StatusOr<int64_t> CheckCertificate(const std::string& chain_pem,
                                         const std::string& key_pem,
                                         int64_t now_ms);

// One valid authority among several is enough: while authorities are exchanged,
// the file also holds the old one.  Errors: as above.
absl::Status CheckAuthorities(const std::string& pem, int64_t now_ms);

// From here on this process speaks TLS 1.3 and nothing older, wherever it uses
// OpenSSL.  gRPC itself offers no such choice and would accept 1.2.
void RequireTls13();

}  // namespace sluice

#endif  // SLUICE_ACCESS_CERTIFICATES_H_
