// What a client may do, as three roles, each of which includes those before.
//
// Threads: free functions without state.

#ifndef SLUICE_ACCESS_ROLE_H_
#define SLUICE_ACCESS_ROLE_H_

#include <optional>
#include <string_view>

namespace sluice {

enum class Role {
  kNone,   // Probes: nobody is asked who he is.
  kRead,   // Looks: the inspector, metrics, reflection.
  kWrite,  // Schedules: the scheduling service and feeds.
  kAdmin,  // Overrules: drains machines, forgets what is stale.
};

// "read", "write", "admin"; "none" for kNone.
std::string_view ToString(Role role);

// "read", "write" or "admin"; nothing for any other text.
std::optional<Role> ParseRole(std::string_view text);

// The role that a call needs, by its path: "/package.Service/Method".  A method
// that is not known needs kAdmin, so that a new one is not open to everybody.
Role RoleFor(std::string_view path);

}  // namespace sluice

#endif  // SLUICE_ACCESS_ROLE_H_
