// Which kind of neighbor a task is, and which kinds it minds.  It has a
// preferred anti-affinity on its machine for each kind that it minds.
//
// Threads: values and pure functions.

#ifndef SLUICE_STATE_INTERFERENCE_H_
#define SLUICE_STATE_INTERFERENCE_H_

#include <optional>
#include <string_view>
#include <vector>

#include "sluice/state/label_requirement.h"
#include "sluice/state/peer_terms.h"
#include "sluice/state/task_kind.h"
#include "state/command.h"

namespace sluice {

// The kind by the label "taskType" ("devil", in upper or lower case), else by
// the task's type.  Nullopt if neither states a kind; the type of a sheep is
// also the default, so it states none.
std::optional<TaskKind> StatedKindOf(const TaskSpec& spec);

std::string_view TaskKindName(TaskKind kind);

// Adds a label for the kind, with a name that no label of a pod can have.
LabelPairs WithKind(LabelPairs labels, TaskKind kind);

// One term for each kind that a task of `kind` minds.
std::vector<WeightedPeerTerm> TermsOfKind(TaskKind kind,
                                          const Interference& interference);

}  // namespace sluice

#endif  // SLUICE_STATE_INTERFERENCE_H_
