// What a client may do, as three roles; each includes those before it.
//
// Threads: free functions without state.

#ifndef SLUICE_ACCESS_ROLE_H_
#define SLUICE_ACCESS_ROLE_H_

#include <optional>
#include <string_view>

namespace sluice {

enum class Role {
  kNone,   // Probes: anybody may send them.
  kRead,   // May look: the inspector, metrics, reflection.
  kWrite,  // May schedule: the scheduling service and feeds.
  kAdmin,  // May overrule: drain machines, forget what is stale.
};

// "read", "write", "admin"; "none" for kNone.
std::string_view ToString(Role role);

// "read", "write" or "admin"; nothing for any other text.
std::optional<Role> ParseRole(std::string_view text);

// The role that a call needs, by its path: "/package.Service/Method".  An
// unknown method needs kAdmin, so that a new one is not open to everybody.
Role RoleFor(std::string_view path);

}  // namespace sluice

#endif  // SLUICE_ACCESS_ROLE_H_
