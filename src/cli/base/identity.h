// How client and server prove to each other who they are: TLS and a token.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_CLI_BASE_IDENTITY_H_
#define SLUICE_CLI_BASE_IDENTITY_H_

#include <string>

#include "absl/status/status.h"

namespace sluice {

struct Identity {
  // As the flags set them.  Each of them implies TLS.
  bool wants_tls = false;
  std::string ca_file;  // Empty means the authorities of this system.
  std::string cert_file;
  std::string key_file;
  std::string token_file;
  std::string server_name;  // Empty means that of the address.

  // The contents of the files, set by Read().
  std::string ca;
  std::string cert;
  std::string key;
  std::string token;

  bool uses_tls() const {
    return wants_tls || !ca_file.empty() || !cert_file.empty() ||
           !token_file.empty() || !server_name.empty();
  }

  // Reads the files.
  // Errors: kInvalidArgument if a certificate comes without its key or a key
  // without its certificate, if a file is empty or cannot be read, or if the
  // token is not one word of printable ASCII.
  absl::Status Read();
};

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_IDENTITY_H_
