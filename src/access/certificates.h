// The daemon's certificate, its key, and the authority of its clients, checked
// before anybody uses them.
//
// Threads: free functions without state.

#ifndef SLUICE_ACCESS_CERTIFICATES_H_
#define SLUICE_ACCESS_CERTIFICATES_H_

#include <cstdint>
#include <string>

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
// epoch. Errors: kInvalidArgument, naming the flag of the part that is wrong:
// what is no PEM, a key with a passphrase or of another certificate, a
// certificate that is not valid at `now_ms`.  Of several authorities one that
// is valid is enough.
absl::StatusOr<int64_t> CheckCertificates(const Certificates& certificates,
                                          int64_t now_ms);

// From here on this process speaks TLS 1.3 and nothing older, wherever it uses
// OpenSSL.  gRPC offers no such choice itself, and would take 1.2.
void RequireTls13();

}  // namespace sluice

#endif  // SLUICE_ACCESS_CERTIFICATES_H_
