// Which kind of neighbor a task is, and what it says about its neighbors: a
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

// By its label "taskType", in any case of letters ("devil"), else by its type.
// Nothing where neither says one: the type of a sheep is that of who does not
// say.
std::optional<TaskKind> StatedKindOf(const TaskSpec& spec);

std::string_view TaskKindName(TaskKind kind);

// The task's labels and one for its kind, whose name no pod's label can have.
LabelPairs WithKind(LabelPairs labels, TaskKind kind);

// Those of the kinds that a task of `kind` minds.
std::vector<WeightedPeerTerm> TermsOfKind(TaskKind kind,
                                          const Interference& interference);

}  // namespace sluice

#endif  // SLUICE_STATE_INTERFERENCE_H_
