// Patterns as of file names: * stands for any bytes or none, ? for any one
// byte, a backslash and a byte for that byte, all else for itself.

#ifndef SLUICE_BASE_GLOB_H_
#define SLUICE_BASE_GLOB_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Of ? and bytes together, from the first wildcard on; a pattern with more of
// them matches nothing.
inline constexpr size_t kGlobSymbolsMax = 512;

// Whether all of `text` is as `glob` says.  Takes no longer for any glob than
// kGlobSymbolsMax / 64 steps for a byte of the text, and a fixed time to start.
bool GlobMatches(std::string_view glob, std::string_view text);

// What matches `text` and nothing else.
std::string GlobOf(std::string_view text);

// The only text that `glob` matches; nullopt if it has a wildcard.
std::optional<std::string> LiteralOf(std::string_view glob);

// One form for all globs that match the same texts.
std::string Normalized(std::string_view glob);

}  // namespace sluice

#endif  // SLUICE_BASE_GLOB_H_
