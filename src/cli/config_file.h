// Flags that a user does not want to repeat: ~/.config/sluice/config.
//
//   # One flag of all commands a line, without the dashes.
//   server=scheduler.example.com:9090
//   tls_ca=/home/ann/sluice/ca.crt
//   token_file=/home/ann/sluice/token
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_CONFIG_FILE_H_
#define SLUICE_CLI_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sluice {

// The path in SLUICE_CONFIG, or else that of sluice/config in XDG_CONFIG_HOME
// or in ~/.config if this file exists.  Empty if there is none.
std::string ConfigFilePath();

// The flags in the file, as on a command line: "--server=HOST:PORT".
// Errors: kInvalidArgument if the file cannot be read.
absl::StatusOr<std::vector<std::string>> ReadConfigFile(
    const std::string& path);

}  // namespace sluice

#endif  // SLUICE_CLI_CONFIG_FILE_H_
