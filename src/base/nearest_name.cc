#include "base/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/strings.h"

namespace sluice {
namespace {

// A longer text is no typing error, and would take long to compare.
constexpr size_t kTypedBytesMax = 64;
constexpr size_t kPrefixBytesMin = 3;

// The optimal string alignment distance, row by row.
size_t Distance(std::string_view from, std::string_view to) {
  std::vector<size_t> before_last(to.size() + 1);
  std::vector<size_t> last(to.size() + 1);
  std::vector<size_t> row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = from[i - 1] == to[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] &&
          from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[to.size()];
}

}  // namespace

std::string NearestName(std::string_view typed,
                        const std::vector<std::string>& names) {
  if (typed.size() > kTypedBytesMax) return "";
  std::string nearest;
  size_t fewest = std::min<size_t>((typed.size() + 1) / 3, 2) + 1;
  for (const std::string& name : names) {
    const size_t distance = Distance(typed, name);
    if (distance >= fewest) continue;
    fewest = distance;
    nearest = name;
  }
  if (!nearest.empty() || typed.size() < kPrefixBytesMin) return nearest;
  const auto it = std::ranges::find_if(
      names, [&](const std::string& name) { return name.starts_with(typed); });
  return it == names.end() ? "" : *it;
}

std::string DidYouMean(std::string_view typed,
                       const std::vector<std::string>& names) {
  const std::string nearest = NearestName(typed, names);
  return nearest.empty() ? "" : StrCat("; did you mean '", nearest, "'?");
}

}  // namespace sluice
