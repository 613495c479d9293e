#include "access/role.h"

#include <array>
#include <utility>

namespace sluice {
namespace {

struct Rule {
  std::string_view path;  // With a slash at its end, all of a service.
  Role role;
};

// The first match decides.
constexpr std::array<Rule, 9> kRules = {{
    {"/grpc.health.v1.Health/", Role::kNone},
    {"/firmament.FirmamentScheduler/Check", Role::kNone},
    {"/firmament.FirmamentScheduler/", Role::kWrite},
    {"/sluice.v1.Feed/", Role::kWrite},
    {"/sluice.v1.Inspector/ForgetStale", Role::kAdmin},
    {"/sluice.v1.Inspector/DrainMachine", Role::kAdmin},
    {"/sluice.v1.Inspector/", Role::kRead},
    {"/grpc.reflection.v1.ServerReflection/", Role::kRead},
    {"/grpc.reflection.v1alpha.ServerReflection/", Role::kRead},
}};

constexpr std::array<std::pair<std::string_view, Role>, 3> kNames = {
    {{"read", Role::kRead}, {"write", Role::kWrite}, {"admin", Role::kAdmin}}};

}  // namespace

std::string_view ToString(Role role) {
  for (const auto& [name, named] : kNames) {
    if (named == role) return name;
  }
  return "none";
}

std::optional<Role> ParseRole(std::string_view text) {
  for (const auto& [name, role] : kNames) {
    if (name == text) return role;
  }
  return std::nullopt;
}

Role RoleFor(std::string_view path) {
  for (const Rule& rule : kRules) {
    const bool fits = rule.path.ends_with('/') ? path.starts_with(rule.path)
                                               : path == rule.path;
    if (fits) return rule.role;
  }
  return Role::kAdmin;
}

}  // namespace sluice
