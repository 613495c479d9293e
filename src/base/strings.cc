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

}  // namespace sluice
