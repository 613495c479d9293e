// Text for people from external input: safe to show and of bounded length.  Of
// long texts and lists it shows the beginning.
//
// Threads: free functions without state.

#ifndef SLUICE_CONSTRAINTS_SHOWN_TEXT_H_
#define SLUICE_CONSTRAINTS_SHOWN_TEXT_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "sluice/constraints/constraint.h"

namespace sluice {

inline std::string ShownText(std::string_view text) {
  return Printable(text, 128);
}

// What would help a task on a machine, over all reasons against it.
inline std::string LackingText(std::span<const Reason> reasons) {
  std::string text;
  for (const Reason& reason : reasons) {
    text += StrCat(text.empty() ? "" : ", ", reason.lacks);
  }
  return text;
}

// Joins the texts of the first three parts with `separator`.
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
