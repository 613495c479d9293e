// How a client knows the server, and the server a client: TLS and a token.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_CLI_BASE_IDENTITY_H_
#define SLUICE_CLI_BASE_IDENTITY_H_

#include <string>

#include "absl/status/status.h"

namespace sluice {

struct Identity {
  // As the flags give them.  Any of them, or the switch, means TLS.
  bool wants_tls = false;
  std::string ca_file;  // Empty: the authorities of this system.
  std::string cert_file;
  std::string key_file;
  std::string token_file;
  std::string server_name;  // Empty: that of the address.

  // What is in the files, once Read() was called.
  std::string ca;
  std::string cert;
  std::string key;
  std::string token;

  bool uses_tls() const {
    return wants_tls || !ca_file.empty() || !cert_file.empty() ||
           !token_file.empty() || !server_name.empty();
  }

  // Reads the files.
  // Errors: kInvalidArgument if a certificate or a key lacks the other, if
  // there is no such file, or if a token is none.
  absl::Status Read();
};

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_IDENTITY_H_
