#include "cli/client/resource_text.h"

#include "base/strings.h"

namespace sluice {

std::map<std::string, ExtendedAmounts> ExtendedUse(
    const v1::Resources& used, const v1::Resources& allocatable) {
  std::map<std::string, ExtendedAmounts> amounts;
  for (const auto& [name, amount] : used.extended()) {
    amounts[name].used = amount;
  }
  for (const auto& [name, amount] : allocatable.extended()) {
    amounts[name].allocatable = amount;
  }
  return amounts;
}

std::string FormatExtendedUse(const v1::Resources& used,
                              const v1::Resources& allocatable) {
  std::string text;
  for (const auto& [name, amounts] : ExtendedUse(used, allocatable)) {
    text += StrCat(text.empty() ? "" : ", ", name, ": ", amounts.used, "/",
                   amounts.allocatable);
  }
  return text.empty() ? "-" : text;
}

std::string FormatExtended(const v1::Resources& resources) {
  const std::map<std::string, int64_t> amounts(resources.extended().begin(),
                                               resources.extended().end());
  std::string text;
  for (const auto& [name, amount] : amounts) {
    text += StrCat(text.empty() ? "" : ", ", name, ": ", amount);
  }
  return text.empty() ? "-" : text;
}

}  // namespace sluice
