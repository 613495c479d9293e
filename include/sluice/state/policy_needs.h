// What policies ask about tasks that rounds need not tell apart otherwise.
//
// Threads: values.

#ifndef SLUICE_STATE_POLICY_NEEDS_H_
#define SLUICE_STATE_POLICY_NEEDS_H_

#include <optional>

#include "sluice/state/task_kind.h"

namespace sluice {

struct PolicyNeeds {
  // How tasks mind each other.  Nullopt: no policy asks for their kinds.
  std::optional<Interference> interference = {};
  // How to derive kinds from the history of kinds of work.  Nullopt: they are
  // not derived, and tasks that state no kind are sheep.
  std::optional<KindScheme> kinds = {};
  // True if the data that tasks read tells them apart.
  bool data = false;
  // True if run times of kinds of work are to be remembered.
  bool run_times = false;
  // True if kinds of work and types of machines are to be told apart, and how
  // fast the ones run on the others is to be remembered.
  bool speeds = false;

  bool AskForWorkKinds() const {
    return run_times || speeds || kinds.has_value();
  }
};

}  // namespace sluice

#endif  // SLUICE_STATE_POLICY_NEEDS_H_
