#include "packing/kept_classes.h"

#include <utility>
#include <vector>

namespace sluice {
namespace {

// Keeps those of `items`, one for each class, whose class is kept.
template <class T>
void Keep(std::span<const std::optional<size_t>> index_of,
          std::vector<T>* items) {
  size_t count = 0;
  for (size_t c = 0; c < index_of.size(); ++c) {
    if (!index_of[c].has_value()) continue;
    if (count != c) (*items)[count] = std::move((*items)[c]);
    ++count;
  }
  items->resize(count);
}

}  // namespace

void KeepClasses(std::span<const std::optional<size_t>> index_of,
                 PackingProblem* problem) {
  const auto rename = [&](std::vector<size_t>* classes) {
    std::erase_if(*classes, [&](size_t c) { return !index_of[c].has_value(); });
    for (size_t& c : *classes) c = *index_of[c];
  };
  Keep(index_of, &problem->classes);
  for (std::vector<int64_t>& row : problem->costs) Keep(index_of, &row);
  for (PackingClass& one : problem->classes) {
    rename(&one.apart_from);
    rename(&one.company);
  }
  for (std::vector<size_t>& there : problem->company) rename(&there);
  for (auto& staying : problem->staying) {
    std::erase_if(staying, [&](const auto& entry) {
      return !index_of[entry.first].has_value();
    });
    for (auto& [c, count] : staying) c = *index_of[c];
  }
  for (PackingCap& cap : problem->caps) rename(&cap.classes);
  for (PackingGang& gang : problem->gangs) rename(&gang.classes);
  std::erase_if(problem->gangs,
                [](const PackingGang& gang) { return gang.classes.empty(); });
}

}  // namespace sluice
