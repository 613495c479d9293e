#include "cli/base/report.h"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <utility>

#include "base/strings.h"
#include "cli/base/json.h"
#include "cli/base/quantity.h"

namespace sluice {

void Report::Add(Name name, std::string shown, std::string json) {
  figures_.push_back({.key = std::string(name.key),
                      .label = std::string(name.label),
                      .shown = std::move(shown),
                      .json = std::move(json)});
}

void Report::AddCount(Name name, int64_t count) {
  Add(name, StrCat(count), StrCat(count));
}

void Report::AddMicroseconds(Name name, int64_t us) {
  Add(name, FormatMicroseconds(us), StrCat(us));
}

void Report::AddShare(Name name, int64_t part, int64_t whole) {
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  Add(name, FormatShare(part, whole), whole > 0 ? StrCat(share) : "null");
}

void Report::AddRate(Name name, int64_t count, int64_t us) {
  if (us <= 0) return Add(name, "-", "null");
  const double rate =
      1e6 * static_cast<double>(count) / static_cast<double>(us);
  Add(name, StrCat(FormatDecimal(rate), " /s"), StrCat(rate));
}

void Report::AddText(Name name, std::string_view text) {
  Add(name, std::string(text), JsonString(text));
}

void Report::PrintTable(std::ostream& out) const {
  size_t width = 0;
  for (const Figure& figure : figures_) {
    width = std::max(width, figure.label.size());
  }
  for (const Figure& figure : figures_) {
    out << figure.label << std::string(width + 2 - figure.label.size(), ' ')
        << figure.shown << '\n';
  }
}

void Report::PrintJson(std::ostream& out) const {
  out << "{";
  std::string_view separator = "\n";
  for (const Figure& figure : figures_) {
    out << separator << "  " << JsonString(figure.key) << ": " << figure.json;
    separator = ",\n";
  }
  out << "\n}\n";
}

}  // namespace sluice
