#include "cli/base/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include "base/flag_set.h"
#include "base/int128.h"
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

// Errors repeat no more than this of a quantity.
constexpr size_t kShownBytes = 64;

// Enough for any amount in thousandths, and times 2^60 still below 2^127.
constexpr size_t kDigitsMax = 20;
constexpr int64_t kThousandthsMax = int64_t{1} << 60;

// 2 to the power of `twos` times 10 to the power of `tens`.
struct Factor {
  int twos = 0;
  int64_t tens = 0;
};

std::optional<Factor> FactorOf(std::string_view suffix) {
  struct Suffix {
    std::string_view text;
    Factor factor;
  };
  static constexpr std::array<Suffix, 16> kSuffixes = {{{"", {0, 0}},
                                                        {"n", {0, -9}},
                                                        {"u", {0, -6}},
                                                        {"m", {0, -3}},
                                                        {"k", {0, 3}},
                                                        {"M", {0, 6}},
                                                        {"G", {0, 9}},
                                                        {"T", {0, 12}},
                                                        {"P", {0, 15}},
                                                        {"E", {0, 18}},
                                                        {"Ki", {10, 0}},
                                                        {"Mi", {20, 0}},
                                                        {"Gi", {30, 0}},
                                                        {"Ti", {40, 0}},
                                                        {"Pi", {50, 0}},
                                                        {"Ei", {60, 0}}}};
  const auto known = std::ranges::find(kSuffixes, suffix, &Suffix::text);
  if (known != kSuffixes.end()) return known->factor;
  if (suffix.front() != 'e' && suffix.front() != 'E') return std::nullopt;
  suffix.remove_prefix(1);
  if (suffix.starts_with('+')) {
    suffix.remove_prefix(1);
    if (suffix.starts_with('-')) return std::nullopt;
  }
  const absl::StatusOr<int64_t> tens =
      ParseInteger(suffix, {.min = -1000, .max = 1000});
  if (!tens.ok()) return std::nullopt;
  return Factor{.tens = *tens};
}

// digits * 10^tens, rounded up; at most one more than kThousandthsMax.
int64_t Scaled(Int128 digits, int64_t tens) {
  const Int128 too_much = Int128{kThousandthsMax} + 1;
  for (; tens > 0 && digits > 0 && digits < too_much; --tens) digits *= 10;
  for (; tens < 0 && digits > 1; ++tens) digits = (digits + 9) / 10;
  return static_cast<int64_t>(std::min(digits, too_much));
}

}  // namespace

absl::StatusOr<int64_t> ParseQuantity(std::string_view text) {
  const std::string quoted = StrCat("'", Printable(text, kShownBytes), "'");
  const size_t end =
      std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, end);
  const size_t point = std::min(number.find('.'), number.size());
  std::string digits(number.substr(0, point));
  int64_t fraction = 0;
  if (point < number.size()) {
    std::string_view behind = number.substr(point + 1);
    while (behind.ends_with('0')) behind.remove_suffix(1);
    digits += behind;
    fraction = static_cast<int64_t>(behind.size());
  }
  const std::optional<Factor> factor = FactorOf(text.substr(end));
  if (number.find_first_of("0123456789") == std::string_view::npos ||
      digits.find('.') != std::string::npos || !factor.has_value()) {
    return absl::InvalidArgumentError(
        StrCat(quoted, " is not a quantity such as 2, 500m or 1Gi"));
  }
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.size() > kDigitsMax) {
    return absl::InvalidArgumentError(
        StrCat(quoted, " has more than ", kDigitsMax, " digits"));
  }
  Int128 value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  const int64_t thousandths =
      Scaled(value << factor->twos, factor->tens - fraction + 3);
  if (thousandths > kThousandthsMax) {
    return absl::InvalidArgumentError(
        StrCat(quoted, " is more than any machine has"));
  }
  return thousandths;
}

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
