// Text for people of what comes from outside: safe to show and of bounded
// length.  Of long texts and lists it is the beginning.
//
// Threads: free functions without state.

#ifndef SLUICE_CONSTRAINTS_SHOWN_TEXT_H_
#define SLUICE_CONSTRAINTS_SHOWN_TEXT_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/strings.h"

namespace sluice {

inline std::string ShownText(std::string_view text) {
  return Printable(text, 128);
}

// What `text` makes of the first three parts, with `separator` in between.
template <class Part, class Text>
std::string JoinShown(std::span<const Part> parts, std::string_view separator,
                      Text text) {
  constexpr size_t kPartsMax = 3;
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    if (i == kPartsMax) return joined + "...";
    joined += text(parts[i]);
  }
  return joined;
}

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_SHOWN_TEXT_H_
