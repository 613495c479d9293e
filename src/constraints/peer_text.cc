#include "constraints/peer_text.h"

#include <algorithm>

#include "base/strings.h"
#include "constraints/label_match.h"

namespace sluice {
namespace {

constexpr size_t kShownParts = 3;
constexpr size_t kShownBytes = 128;

std::string NamespacesText(const TaskSelector& tasks) {
  if (tasks.namespace_labels.has_value() && tasks.namespace_labels->empty()) {
    return " of any namespace";
  }
  std::string text;
  for (size_t i = 0; i < tasks.namespaces.size(); ++i) {
    // A task without a namespace is of this one.
    if (tasks.namespaces[i].empty()) continue;
    if (i == kShownParts) {
      text += "...";
      break;
    }
    text += StrCat(text.empty() ? " of namespace " : ",",
                   Printable(tasks.namespaces[i], kShownBytes));
  }
  if (tasks.namespace_labels.has_value()) {
    text += StrCat(text.empty() ? " of" : " or", " namespaces with ",
                   RequirementsText(*tasks.namespace_labels));
  }
  return text;
}

}  // namespace

std::string SelectorText(const TaskSelector& tasks) {
  if (!tasks.labels.has_value()) return "no task, as there is no selector";
  if (!tasks.job.empty()) {
    return StrCat("job ", Printable(tasks.job, kShownBytes));
  }
  return StrCat(
      tasks.labels->empty() ? "any task" : RequirementsText(*tasks.labels),
      NamespacesText(tasks));
}

std::string PeersText(std::span<const TaskSelector> selectors,
                      std::string_view topology_key) {
  std::string text;
  for (size_t i = 0; i < std::min(selectors.size(), kShownParts); ++i) {
    text += StrCat(i == 0 ? "" : " and ", SelectorText(selectors[i]));
  }
  if (selectors.size() > kShownParts) text += "...";
  if (topology_key.empty()) return text + " on the same machine";
  return StrCat(text, " in the same ", Printable(topology_key, kShownBytes));
}

std::string SpreadText(const SpreadConstraint& spread) {
  const std::string& key = spread.term.topology_key;
  return StrCat(SelectorText(spread.term.tasks), " over ",
                key.empty() ? "machines" : Printable(key, kShownBytes),
                " with maxSkew ", spread.max_skew,
                spread.min_domains > 1
                    ? StrCat(" and minDomains ", spread.min_domains)
                    : std::string(),
                spread.is_required ? "" : " if possible");
}

}  // namespace sluice
