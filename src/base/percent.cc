#include "base/percent.h"

#include <cmath>
#include <cstdint>

#include "base/strings.h"

namespace sluice {

std::string AtMostPercent(double ratio) {
  const auto tenths = static_cast<int64_t>(std::ceil(ratio * 1000));
  return StrCat("at most ", tenths / 10, ".", tenths % 10, " %");
}

}  // namespace sluice
