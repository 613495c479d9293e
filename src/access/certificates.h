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
  std::string key;        // Of the first one.
  std::string client_ca;  // Empty: clients are not asked for certificates.

  friend bool operator==(const Certificates&, const Certificates&) = default;
};

// When the daemon's chain ends to be valid, in milliseconds since the Unix
// epoch.
// Errors: kInvalidArgument, naming the flag of the part that is wrong: what is
// no PEM, a key with a passphrase or of another certificate, a certificate that
// is not valid at `now_ms`, and one with which no TLS 1.3 can be spoken, which
// is tried.
absl::StatusOr<int64_t> CheckCertificate(const std::string& chain_pem,
                                         const std::string& key_pem,
                                         int64_t now_ms);

// Of several authorities of clients one that is valid is enough: while they are
// exchanged, the file has the old one as well.  Errors: as above.
absl::Status CheckAuthorities(const std::string& pem, int64_t now_ms);

// From here on this process speaks TLS 1.3 and nothing older, wherever it uses
// OpenSSL.  gRPC offers no such choice itself, and would take 1.2.
void RequireTls13();

}  // namespace sluice

#endif  // SLUICE_ACCESS_CERTIFICATES_H_
