#include "sim/sim_store.h"

#include <cstdint>

namespace sluice::sim {

absl::Status SimStore::Write(const WriteBatch& batch, Durability durability) {
  if (has_failed_) return absl::UnavailableError("failed before");
  has_failed_ = writes_to_a_failure_ > 0 &&
                rng_.Chance(1, static_cast<uint64_t>(writes_to_a_failure_));
  if (has_failed_) {
    // Nobody knows whether it is stored.
    if (rng_.Chance(1, 2)) cache_.push_back(batch);
    return absl::UnavailableError("the disk is full");
  }
  cache_.push_back(batch);
  if (durability == Durability::kBuffered) return absl::OkStatus();
  for (const WriteBatch& written : cache_) {
    const absl::Status status = disk_.Write(written, durability);
    if (!status.ok()) return status;
  }
  cache_.clear();
  return absl::OkStatus();
}

void SimStore::Reopen(Loss loss) {
  // Batches reach the disk in their order.
  const size_t kept =
      loss == Loss::kProcess ? cache_.size() : rng_.Below(cache_.size() + 1);
  for (size_t i = 0; i < kept; ++i) {
    disk_.Write(cache_[i], Durability::kSynced).IgnoreError();
  }
  cache_.clear();
  if (loss == Loss::kStore) disk_ = MemoryStore();
  has_failed_ = false;
}

}  // namespace sluice::sim
