#include "cli/base/percentile.h"

#include <algorithm>
#include <cstddef>

#include "glog/logging.h"

namespace sluice {

int64_t Percentile(std::vector<int64_t> values, int percent) {
  CHECK_GT(percent, 0);
  CHECK_LE(percent, 100);
  if (values.empty()) return 0;
  const size_t rank = (values.size() * static_cast<size_t>(percent) + 99) / 100;
  const auto nth = values.begin() + static_cast<ptrdiff_t>(rank) - 1;
  std::ranges::nth_element(values, nth);
  return *nth;
}

}  // namespace sluice
