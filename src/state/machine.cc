#include "sluice/state/machine.h"

#include <algorithm>

namespace sluice {

const std::string* Machine::FindLabel(std::string_view key) const {
  const auto it = std::ranges::lower_bound(
      labels, key, {},
      [](const auto& label) -> std::string_view { return label.first; });
  return it != labels.end() && it->first == key ? &it->second : nullptr;
}

}  // namespace sluice
