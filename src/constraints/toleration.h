// Taints and the tolerations of tasks.
//
// Threads: free functions without state.

#ifndef SLUICE_CONSTRAINTS_TOLERATION_H_
#define SLUICE_CONSTRAINTS_TOLERATION_H_

#include <span>
#include <string>

#include "sluice/state/placement_rules.h"

namespace sluice {

// True if one of `tolerations` tolerates `taint`, whatever its effect.
bool IsTolerated(const Taint& taint, std::span<const Toleration> tolerations);

// For people, of bounded length: "dedicated=ml:NoSchedule",
// "dedicated:NoExecute".
std::string TaintText(const Taint& taint);

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_TOLERATION_H_
