// What one process has of a store that several share: for as long as it holds
// the lease it is the store, and afterwards nothing it writes arrives.
//
// Threads: one.

#ifndef SLUICE_TESTS_SIM_LEASED_STORE_H_
#define SLUICE_TESTS_SIM_LEASED_STORE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/rng.h"
#include "persist/store.h"
#include "sluice/base/clock.h"

namespace sluice::sim {

class LeasedStore final : public Store {
 public:
  // All must outlive it.
  LeasedStore(Store& store, const Clock& clock, Rng* rng)
      : store_(store), clock_(clock), rng_(*rng) {}

  absl::Status Write(const WriteBatch& batch, Durability durability) override {
    if (is_fenced_) return absl::AbortedError("somebody else leads");
    if (!is_cut_off_) return store_.Write(batch, durability);
    // It may arrive, and its answer does not.
    if (rng_.Chance(1, 2)) store_.Write(batch, durability).IgnoreError();
    return absl::UnavailableError("the store does not answer");
  }
  absl::Status Scan(std::string_view prefix, Visitor visit) const override {
    return store_.Scan(prefix, visit);
  }
  absl::Status CheckHeld() const override {
    return clock_.MonotonicUs() < valid_until_us_
               ? absl::OkStatus()
               : absl::AbortedError("the lease has ended");
  }
  std::string description() const override { return store_.description(); }

  // Nothing keeps the lease any more, which its holder knows until when it has.
  void LetExpire(int64_t valid_until_us) { valid_until_us_ = valid_until_us; }
  // Nothing arrives any more, either way.
  void CutOff() { is_cut_off_ = true; }
  // It reaches the store again, and keeps the lease.
  // REQUIRES: nobody else leads.
  void GoOn() {
    is_cut_off_ = false;
    valid_until_us_ = std::numeric_limits<int64_t>::max();
  }
  // Somebody else leads.
  void Fence() { is_fenced_ = true; }

 private:
  Store& store_;
  const Clock& clock_;
  Rng& rng_;
  int64_t valid_until_us_ = std::numeric_limits<int64_t>::max();
  bool is_cut_off_ = false;
  bool is_fenced_ = false;
};

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_LEASED_STORE_H_
