#include "state/task_selector.h"

#include <algorithm>

#include "base/glob.h"

namespace sluice {
namespace {

bool IsInNamespace(const TaskSelector& selector, const TaskIdentity& task) {
  if (std::ranges::binary_search(selector.namespaces, task.task_namespace)) {
    return true;
  }
  return selector.namespace_labels.has_value() &&
         std::ranges::all_of(
             *selector.namespace_labels, [&](const LabelRequirement& it) {
               return Holds(it, it.key == kNamespaceNameLabel
                                    ? &task.task_namespace
                                    : FindLabel(task.namespace_labels, it.key));
             });
}

}  // namespace

bool Selects(const TaskSelector& selector, const TaskIdentity& task) {
  return selector.labels.has_value() && IsInNamespace(selector, task) &&
         std::ranges::all_of(*selector.labels,
                             [&](const LabelRequirement& it) {
                               return Holds(it, FindLabel(task.labels, it.key));
                             }) &&
         (selector.job.empty() || GlobMatches(selector.job, task.job));
}

bool SelectsAll(const std::vector<TaskSelector>& selectors,
                const TaskIdentity& task) {
  return std::ranges::all_of(selectors, [&](const TaskSelector& selector) {
    return Selects(selector, task);
  });
}

}  // namespace sluice
