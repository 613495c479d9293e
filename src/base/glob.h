// Patterns like those of file names: * stands for any bytes or none, ? for any
// one byte, a backslash and a byte for that byte, all else for itself.

#ifndef SLUICE_BASE_GLOB_H_
#define SLUICE_BASE_GLOB_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The number of ? and bytes together, from the first wildcard on.  A pattern
// with more of them matches nothing.
inline constexpr size_t kGlobSymbolsMax = 512;

// Whether `glob` matches all of `text`.  Takes at most kGlobSymbolsMax / 64
// steps for a byte of the text, whatever the glob, and a fixed time to start.
bool GlobMatches(std::string_view glob, std::string_view text);

// The glob that matches `text` and nothing else.
std::string GlobOf(std::string_view text);

// The only text that `glob` matches; nullopt if it has a wildcard.
std::optional<std::string> LiteralOf(std::string_view glob);

// The same result for all globs that match the same texts.
std::string Normalized(std::string_view glob);

}  // namespace sluice

#endif  // SLUICE_BASE_GLOB_H_
