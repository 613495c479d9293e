// A store whose disk and page cache are told apart: what was synced survives
// the loss of power, what was written survives the death of the process, and a
// write may fail.
//
// Threads: one.

#ifndef SLUICE_TESTS_SIM_SIM_STORE_H_
#define SLUICE_TESTS_SIM_SIM_STORE_H_

#include <deque>
#include <string>

#include "absl/status/status.h"
#include "base/rng.h"
#include "persist/memory_store.h"
#include "persist/store.h"

namespace sluice::sim {

// What is lost when a daemon dies: what was under way, what was not synced with
// it, or all that was stored.
enum class Loss { kProcess, kPower, kStore };

class SimStore final : public Store {
 public:
  // One of so many writes fails; 0: none.  `rng` must outlive it.
  SimStore(int64_t writes_to_a_failure, Rng* rng)
      : writes_to_a_failure_(writes_to_a_failure), rng_(*rng) {}

  absl::Status Write(const WriteBatch& batch, Durability durability) override;
  // REQUIRES: nothing was written since it was opened.
  absl::Status Scan(std::string_view prefix, Visitor visit) const override {
    return disk_.Scan(prefix, visit);
  }
  std::string description() const override { return "simulated"; }

  // The process has died.
  void Reopen(Loss loss);
  void StopFailing() { writes_to_a_failure_ = 0; }

 private:
  int64_t writes_to_a_failure_;
  Rng& rng_;
  MemoryStore disk_;
  std::deque<WriteBatch> cache_;  // Written and not synced.
  bool has_failed_ = false;
};

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_SIM_STORE_H_
