#include "constraints/peer_text.h"

#include "base/strings.h"
#include "constraints/label_match.h"
#include "constraints/shown_text.h"
#include "sluice/state/topology_key.h"

namespace sluice {
namespace {

std::string NamespacesText(const TaskSelector& tasks) {
  if (tasks.namespace_labels.has_value() && tasks.namespace_labels->empty()) {
    return " of any namespace";
  }
  std::span named(tasks.namespaces);
  // Tasks without a namespace belong to the one with an empty name.
  if (!named.empty() && named.front().empty()) named = named.subspan(1);
  std::string text = JoinShown(named, ",", ShownText);
  if (!text.empty()) text = StrCat(" of namespace ", text);
  if (tasks.namespace_labels.has_value()) {
    text += StrCat(text.empty() ? " of" : " or", " namespaces with ",
                   RequirementsText(*tasks.namespace_labels));
  }
  return text;
}

// " of app=web of namespace shop in each zone".
std::string OfEachText(const PeerTerm& term) {
  const std::string& key = term.topology_key;
  const std::string text = StrCat(" of ", SelectorText(term.tasks));
  if (key == kWholeCluster) return text + " in all";
  return StrCat(text, " in each ",
                key == kEachMachine ? "machine" : ShownText(key));
}

}  // namespace

std::string SelectorText(const TaskSelector& tasks) {
  if (!tasks.labels.has_value()) return "no task, as there is no selector";
  if (!tasks.job.empty()) {
    return StrCat("job ", ShownText(tasks.job));
  }
  return StrCat(
      tasks.labels->empty() ? "any task" : RequirementsText(*tasks.labels),
      NamespacesText(tasks));
}

std::string PeersText(std::span<const TaskSelector> selectors,
                      std::string_view topology_key) {
  const std::string text = JoinShown(selectors, " and ", SelectorText);
  if (topology_key == kEachMachine) return text + " on the same machine";
  if (topology_key == kWholeCluster) return text + " anywhere";
  return StrCat(text, " in the same ", ShownText(topology_key));
}

std::string SpreadText(const SpreadConstraint& spread) {
  const std::string& key = spread.term.topology_key;
  if (spread.min_domains == SpreadConstraint::kFromEmpty) {
    return StrCat("at most ", spread.max_skew, OfEachText(spread.term));
  }
  return StrCat(SelectorText(spread.term.tasks), " over ",
                key.empty() ? "machines" : ShownText(key), " with maxSkew ",
                spread.max_skew,
                spread.min_domains > 1
                    ? StrCat(" and minDomains ", spread.min_domains)
                    : std::string(),
                spread.is_required ? "" : " if possible");
}

std::string MinimumText(const DomainMinimum& minimum) {
  return StrCat("at least ", minimum.at_least, OfEachText(minimum.term));
}

}  // namespace sluice
