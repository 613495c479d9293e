#include "sluice/state/task_data.h"

#include <algorithm>

namespace sluice {

int64_t TaskData::AmountAt(const Places& places, std::string_view name) {
  const auto it =
      std::ranges::lower_bound(places, name, {}, &Places::value_type::first);
  return it == places.end() || it->first != name ? 0 : it->second;
}

}  // namespace sluice
