// Caches what constraints say about rules and machines: one verdict per
// constraint that does not look at the machine's load, per set of rules, and
// per view of the aspect that the constraint looks at
// (constraints/machine_kinds.h).
//
// A changed machine has another view, so no verdict is ever wrong: either the
// view was seen before, or the constraint is asked.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CONSTRAINTS_VERDICT_CACHE_H_
#define SLUICE_CONSTRAINTS_VERDICT_CACHE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "constraints/constraint_set.h"
#include "constraints/machine_kinds.h"

namespace sluice {

class VerdictCache {
 public:
  // `constraints` must outlive the cache.
  explicit VerdictCache(const ConstraintSet& constraints)
      : constraints_(&constraints) {}

  // True if a task with these rules may run on machines of this kind, whatever
  // their load.
  bool Allows(const PlacementRules& rules, const MachineKinds& kinds,
              KindId kind);
  // The same, but asks the constraints and caches nothing: for rules that are
  // checked against few kinds, whose cache entries would be mostly gaps.
  bool AllowsUnkept(const PlacementRules& rules, const MachineKinds& kinds,
                    KindId kind);
  // Rules with these ids no longer exist.
  void Forget(std::span<const uint32_t> rules_ids);

  int64_t hit_count() const { return hit_count_; }
  int64_t evaluation_count() const { return evaluation_count_; }

 private:
  enum class Verdict : uint8_t { kUnknown, kForbidden, kAllowed };
  using ByView = std::vector<Verdict>;

  const ConstraintSet* constraints_;
  // By the id of the rules, then by constraint.
  absl::flat_hash_map<uint32_t, std::vector<ByView>> verdicts_;
  int64_t hit_count_ = 0;
  int64_t evaluation_count_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_VERDICT_CACHE_H_
