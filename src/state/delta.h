// A delta: one decision of the scheduler that its client must carry out.

#ifndef SLUICE_STATE_DELTA_H_
#define SLUICE_STATE_DELTA_H_

#include <cstdint>

#include "sluice/base/ids.h"

namespace sluice {

// Numbered as SchedulingDelta.ChangeType of the contract.
enum class DeltaType : uint8_t { kPlace = 1, kPreempt = 2, kMigrate = 3 };

struct Delta {
  uint64_t sequence = 0;  // The order of decisions; never reused.
  TaskId task;
  DeltaType type = DeltaType::kPlace;
  MachineId machine;
  FeedId feed = {};  // The task's, which is to be told.
  // The client was told this before and asked again.  The task may run, so the
  // scheduler must not withdraw its placement.
  bool is_repeat = false;
  // It was handed to a client.  Even if the call broke off, the client may have
  // acted on it.
  bool may_be_known = false;
  // Handed to a client whose call has not ended yet.  Not stored: after a crash
  // nobody knows whether it arrived, so it is delivered again.
  bool is_in_flight = false;

  // True for a placement that no client can know of.
  bool IsUntold() const {
    return type == DeltaType::kPlace && !is_repeat && !may_be_known;
  }
};

}  // namespace sluice

#endif  // SLUICE_STATE_DELTA_H_
