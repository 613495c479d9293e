// Where a store on etcd is: "etcd://HOST:PORT,HOST:PORT/PREFIX".
//
// Threads: free functions without state.

#ifndef SLUICE_ETCD_ETCD_ADDRESS_H_
#define SLUICE_ETCD_ETCD_ADDRESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sluice {

struct EtcdAddress {
  // "10.0.0.1:2379", "etcd-0.etcd:2379", "[::1]:2379"; at least one.  Members
  // of one cluster.
  std::vector<std::string> endpoints;
  // All keys begin with this and a slash: "/sluice", "/teams/a".
  std::string prefix;
};

// Errors: kInvalidArgument if `text` is no such address: the scheme, an
// endpoint, a port or the prefix is missing.  A prefix has printable ASCII
// without spaces and '@', no empty parts, and at most 256 bytes.  The error
// does not repeat a text with an '@', since that may hold a password.
absl::StatusOr<EtcdAddress> ParseEtcdAddress(std::string_view text);

// The text that ParseEtcdAddress reads.
std::string ToString(const EtcdAddress& address);

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_ADDRESS_H_
