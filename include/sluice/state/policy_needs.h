// What policies ask about tasks that rounds without them need not tell apart.
//
// Threads: values.

#ifndef SLUICE_STATE_POLICY_NEEDS_H_
#define SLUICE_STATE_POLICY_NEEDS_H_

#include <optional>

#include "sluice/state/task_kind.h"

namespace sluice {

struct PolicyNeeds {
  // How tasks mind each other.  Nothing: nobody asks for their kinds.
  std::optional<Interference> interference = {};
  // How kinds follow from what is remembered of kinds of work.  Nothing: it is
  // not to be, and tasks that state no kind are sheep.
  std::optional<KindScheme> kinds = {};
  // Whether what tasks read tells them apart.
  bool data = false;
  // Whether run times of kinds of work are to be remembered.
  bool run_times = false;
  // Whether kinds of work are to be told apart, and types of machines, and how
  // fast the ones run on the others is to be remembered.
  bool speeds = false;

  bool AskForWorkKinds() const {
    return run_times || speeds || kinds.has_value();
  }
};

}  // namespace sluice

#endif  // SLUICE_STATE_POLICY_NEEDS_H_
