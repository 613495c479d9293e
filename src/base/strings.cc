#include "base/strings.h"

#include <algorithm>

namespace sluice {

std::string Concatenate(std::initializer_list<StrCatPiece> pieces) {
  size_t size = 0;
  for (const StrCatPiece& piece : pieces) size += piece.text().size();
  std::string result;
  result.reserve(size);
  for (const StrCatPiece& piece : pieces) result.append(piece.text());
  return result;
}

std::string Printable(std::string_view text, size_t max_bytes) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  std::string result;
  result.reserve(std::min(text.size(), max_bytes) + 32);
  for (const char c : text.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      result += "\\\\";
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte > 0x7e) {
      result += "\\x";
      result += kHexDigits[byte >> 4];
      result += kHexDigits[byte & 15];
    } else {
      result += c;
    }
  }
  if (text.size() > max_bytes) {
    result += StrCat("..., ", text.size(), " bytes");
  }
  return result;
}

bool GlobMatches(std::string_view pattern, std::string_view text) {
  constexpr size_t kNone = std::string_view::npos;
  size_t in_pattern = 0;
  size_t in_text = 0;
  // After the last *, and up to where it stretches.  Stretching an earlier one
  // instead could not help: whatever it would then cover, the last one can.
  size_t after_star = kNone;
  size_t star_end = 0;
  while (in_text < text.size()) {
    const bool has_more = in_pattern < pattern.size();
    if (has_more && pattern[in_pattern] == '*') {
      after_star = ++in_pattern;
      star_end = in_text;
    } else if (has_more && (pattern[in_pattern] == '?' ||
                            pattern[in_pattern] == text[in_text])) {
      ++in_pattern;
      ++in_text;
    } else if (after_star != kNone) {
      in_pattern = after_star;
      in_text = ++star_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == kNone;
}

}  // namespace sluice
