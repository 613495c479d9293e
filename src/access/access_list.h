// Who has which role, according to --access_file:
//
//   # Blank lines and lines that begin with a number sign are ignored.
//   write certificate bridge.sluice.svc
//   read  token prometheus 7f1c6a0f62d94b0d8e2b
//   admin token oncall
//   sha256:5e884898da28047151d0e56f8dc6292773603d0d6aabbdd6... read  anyone
//
// NAME of a certificate is one of its alternative names (DNS, URI, address,
// e-mail), or its common name if it has none of these.  A token has a name,
// which logs and errors show, and a value, which they never show; the file may
// hold the value's SHA-256 instead.
//
// Threads: any, as it never changes.

#ifndef SLUICE_ACCESS_ACCESS_LIST_H_
#define SLUICE_ACCESS_ACCESS_LIST_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "access/role.h"

namespace sluice {

// The credentials that a client has shown.
struct Caller {
  // The names in its verified certificate; none: it showed none.
  std::span<const std::string> names;
  // The header `authorization`; empty: there was none.
  std::string_view authorization;
};

class AccessList {
 public:
  // Errors: kInvalidArgument, naming the number of the line; also for a name or
  // a token that appears twice, and for a list without entries.
  static absl::StatusOr<AccessList> Parse(std::string_view text);

  // OK if the caller has `needed`, by its certificate, its token or as anyone.
  // Errors: kUnauthenticated if nothing says who the caller is, or if its token
  // is unknown, even if it also has a certificate; kPermissionDenied, naming
  // the caller, its role and the role that is missing.
  absl::Status Check(const Caller& caller, Role needed) const;

  friend bool operator==(const AccessList&, const AccessList&) = default;

 private:
  struct Grant {
    Role role = Role::kNone;
    std::string name;  // For people: "token prometheus".

    friend bool operator==(const Grant&, const Grant&) = default;
  };

  // Adds what a line says.  Errors do not name the line.
  absl::Status Add(std::string_view line);
  absl::Status AddToken(Role role, std::string_view name,
                        std::string_view value);

  absl::flat_hash_map<std::string, Grant> certificates_;  // By name.
  // By the SHA-256 of the value, so that the time of a look-up says nothing
  // about the values.
  absl::flat_hash_map<std::string, Grant> tokens_;
  absl::flat_hash_set<std::string> token_names_;
  Role anyone_ = Role::kNone;
};

}  // namespace sluice

#endif  // SLUICE_ACCESS_ACCESS_LIST_H_
