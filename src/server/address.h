// HOST:PORT, as flags give it.
//
// Threads: free functions without state.

#ifndef SLUICE_SERVER_ADDRESS_H_
#define SLUICE_SERVER_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sluice {

struct Address {
  std::string host;  // A name or an address; no brackets.
  uint16_t port = 0;
};

// "localhost:9090", "127.0.0.1:0", "[::1]:9090".
// Errors: kInvalidArgument.
absl::StatusOr<Address> ParseAddress(std::string_view text);

// "127.0.0.1:9090", "[::1]:9090".
std::string ToString(const Address& address);

// True if only this machine can reach it: "localhost", 127.0.0.0/8, ::1.
bool IsLoopback(const Address& address);

// A socket that listens on `address`; the caller owns it.  If a name has
// several addresses, the socket listens on one of them, on IPv4 if there is
// one. Errors: "cannot listen on 127.0.0.1:9090: address already in use".
absl::StatusOr<int> Listen(const Address& address);

// Tries to listen on `address` and returns why that fails, for servers that do
// not tell.  OK if it succeeds by now.
// Errors: as Listen().
absl::Status ProbeListen(const Address& address);

}  // namespace sluice

#endif  // SLUICE_SERVER_ADDRESS_H_
