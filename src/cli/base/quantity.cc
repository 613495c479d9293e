#include "cli/base/quantity.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/strings.h"

namespace sluice {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

// `amount` in the largest unit that it holds at least once.  `units` descend.
template <size_t kCount>
std::string InLargestUnit(double amount,
                          const std::array<Unit, kCount>& units) {
  const Unit* chosen = &units.back();
  for (const Unit& unit : units) {
    // An amount that would read 1024.0 or 1000.0 belongs to the next unit.
    if (std::abs(amount) >= unit.size * 0.99995) {
      chosen = &unit;
      break;
    }
  }
  return StrCat(FormatDecimal(amount / chosen->size), " ", chosen->name);
}

}  // namespace

std::string FormatDecimal(double value) {
  const auto tenths = static_cast<int64_t>(std::round(value * 10));
  const int64_t tenth = std::abs(tenths % 10);
  if (tenth == 0) return StrCat(tenths / 10);
  return StrCat(tenths < 0 ? "-" : "", std::abs(tenths / 10), ".", tenth);
}

std::string FormatCpu(int64_t millicores) {
  if (millicores == 0) return "0";
  const int64_t whole = millicores / 1000;
  if (whole == 0) return StrCat(millicores, "m");
  const int64_t thousandths = std::abs(millicores % 1000);
  if (thousandths == 0) return StrCat(whole);
  std::string digits = StrCat(1000 + thousandths).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return StrCat(whole, ".", digits);
}

std::string FormatMemory(int64_t millibytes) {
  static constexpr std::array<Unit, 5> kUnits = {{{1000.0 * (1ll << 40), "TiB"},
                                                  {1000.0 * (1ll << 30), "GiB"},
                                                  {1000.0 * (1ll << 20), "MiB"},
                                                  {1000.0 * (1ll << 10), "KiB"},
                                                  {1000.0, "B"}}};
  if (millibytes == 0) return "0";
  return InLargestUnit(static_cast<double>(millibytes), kUnits);
}

std::string FormatMicroseconds(int64_t us) {
  static constexpr std::array<Unit, 3> kUnits = {
      {{1e6, "s"}, {1e3, "ms"}, {1, "us"}}};
  return InLargestUnit(static_cast<double>(us), kUnits);
}

std::string FormatAge(int64_t ms) {
  const int64_t seconds = ms / 1000;
  const int64_t minutes = seconds / 60;
  const int64_t hours = minutes / 60;
  const int64_t days = hours / 24;
  if (minutes == 0) return StrCat(seconds, " s");
  if (hours == 0) return StrCat(minutes, " min");
  if (days == 0) return StrCat(hours, " h ", minutes % 60, " min");
  return StrCat(days, " d ", hours % 24, " h");
}

std::string FormatPart(double ratio) {
  return StrCat(FormatDecimal(100 * ratio), " %");
}

std::string FormatShare(int64_t part, int64_t whole) {
  if (whole <= 0) return "-";
  return FormatPart(static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace sluice
