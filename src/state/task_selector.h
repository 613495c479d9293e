// Which tasks a selector of sluice/state/peer_terms.h means.
//
// Threads: free functions without state.

#ifndef SLUICE_STATE_TASK_SELECTOR_H_
#define SLUICE_STATE_TASK_SELECTOR_H_

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/state/peer_terms.h"

namespace sluice {

// The label that Kubernetes gives every namespace: its name.
inline constexpr std::string_view kNamespaceNameLabel =
    "kubernetes.io/metadata.name";

// Everything about a task that selectors look at.
struct TaskIdentity {
  std::string task_namespace = {};
  LabelPairs labels = {};
  // Of its namespace.  kNamespaceNameLabel need not be among them: it is not
  // looked up there.
  LabelPairs namespace_labels = {};
  std::string job = {};  // Its name.

  friend auto operator<=>(const TaskIdentity&, const TaskIdentity&) = default;
};

bool Selects(const TaskSelector& selector, const TaskIdentity& task);

// True if every selector does, or there are none.
bool SelectsAll(const std::vector<TaskSelector>& selectors,
                const TaskIdentity& task);

}  // namespace sluice

#endif  // SLUICE_STATE_TASK_SELECTOR_H_
