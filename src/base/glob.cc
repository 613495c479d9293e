#include "base/glob.h"

#include <array>
#include <bitset>
#include <utility>

namespace sluice {
namespace {

struct Symbol {
  enum class Kind { kByte, kAnyByte, kAnyText };
  Kind kind = Kind::kByte;
  char byte = '\0';
};
using Kind = Symbol::Kind;

// Takes the first symbol off `glob`, which is not empty.  A backslash at the
// end stands for itself.
Symbol Next(std::string_view* glob) {
  char byte = glob->front();
  glob->remove_prefix(1);
  if (byte == '*') return {Kind::kAnyText};
  if (byte == '?') return {Kind::kAnyByte};
  if (byte == '\\' && !glob->empty()) {
    byte = glob->front();
    glob->remove_prefix(1);
  }
  return {Kind::kByte, byte};
}

void Append(char byte, std::string* glob) {
  if (byte == '*' || byte == '?' || byte == '\\') *glob += '\\';
  *glob += byte;
}

// The automaton of a glob, with a bit for each state.  In state i the first i
// symbols, stars not counted, match the text so far (Baeza-Yates and Gonnet, "A
// new approach to text searching", 1992).
class Automaton {
 public:
  explicit Automaton(std::string_view glob) {
    while (!glob.empty() && end_ <= kGlobSymbolsMax) {
      const Symbol symbol = Next(&glob);
      if (symbol.kind == Kind::kAnyText) {
        stays_.set(end_);
        continue;
      }
      if (symbol.kind == Kind::kAnyByte) {
        goes_on_any_.set(end_);
      } else {
        goes_on_[static_cast<unsigned char>(symbol.byte)].set(end_);
      }
      ++end_;
    }
  }

  bool Accepts(std::string_view text) const {
    if (end_ > kGlobSymbolsMax) return false;
    States states(1);
    for (const char c : text) {
      const States& goes_on = goes_on_[static_cast<unsigned char>(c)];
      states = ((states & (goes_on | goes_on_any_)) << 1) | (states & stays_);
      if (states.none()) return false;
    }
    return states.test(end_);
  }

 private:
  using States = std::bitset<kGlobSymbolsMax + 1>;
  std::array<States, 256> goes_on_;
  States goes_on_any_;
  States stays_;
  size_t end_ = 0;
};

}  // namespace

bool GlobMatches(std::string_view glob, std::string_view text) {
  // The bytes before the first wildcard decide in most cases.
  while (!glob.empty()) {
    std::string_view rest = glob;
    const Symbol symbol = Next(&rest);
    if (symbol.kind != Kind::kByte) break;
    if (text.empty() || text.front() != symbol.byte) return false;
    text.remove_prefix(1);
    glob = rest;
  }
  if (glob.empty()) return text.empty();
  if (glob == "*") return true;
  return Automaton(glob).Accepts(text);
}

std::string GlobOf(std::string_view text) {
  std::string glob;
  for (const char c : text) Append(c, &glob);
  return glob;
}

std::optional<std::string> LiteralOf(std::string_view glob) {
  std::string text;
  while (!glob.empty()) {
    const Symbol symbol = Next(&glob);
    if (symbol.kind != Kind::kByte) return std::nullopt;
    text += symbol.byte;
  }
  return text;
}

std::string Normalized(std::string_view glob) {
  std::string result;
  // In a row of wildcards: first every ?, then one *.
  bool has_star = false;
  const auto end_stars = [&] {
    if (std::exchange(has_star, false)) result += '*';
  };
  while (!glob.empty()) {
    const Symbol symbol = Next(&glob);
    switch (symbol.kind) {
      case Kind::kAnyText:
        has_star = true;
        break;
      case Kind::kAnyByte:
        result += '?';
        break;
      case Kind::kByte:
        end_stars();
        Append(symbol.byte, &result);
        break;
    }
  }
  end_stars();
  return result;
}

}  // namespace sluice
