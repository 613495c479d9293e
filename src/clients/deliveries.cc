#include "clients/deliveries.h"

#include <algorithm>

namespace sluice {

void Deliveries::Begin(uint64_t sequence) {
  state_.BeginDelivery(sequence);
  open_.push_back(sequence);
}

void Deliveries::Confirm(uint64_t up_to) {
  while (!open_.empty() && open_.front() <= up_to) {
    state_.EndDelivery(open_.front(), /*is_delivered=*/true);
    open_.pop_front();
  }
}

void Deliveries::TakeBack() {
  for (const uint64_t sequence : open_) {
    state_.EndDelivery(sequence, /*is_delivered=*/false);
  }
  open_.clear();
}

int64_t Deliveries::CountStanding(FeedId feed) const {
  const auto& sequences = state_.SequencesOf(feed);
  return std::ranges::count_if(open_, [&sequences](uint64_t sequence) {
    return sequences.contains(sequence);
  });
}

}  // namespace sluice
