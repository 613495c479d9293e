// Measured use of machines and tasks, as opposed to requests.
//
// Samples are kept as they come and are not stored: after a restart there are
// none until clients report again.  They carry their arrival time, since
// clients state theirs in various units.
//
// Threads: values; the ones in the state are confined to the core thread.

#ifndef SLUICE_STATE_USAGE_H_
#define SLUICE_STATE_USAGE_H_

#include <cstddef>
#include <cstdint>
#include <deque>

namespace sluice {

// Use of a machine.  Amounts of memory come in three units over the contract,
// so only the fraction of the whole counts.
struct MachineUsage {
  int64_t at_ms = 0;       // Since the epoch.
  int64_t cpu_ppm = 0;     // Parts per million of its capacity.
  int64_t memory_ppm = 0;  // The same.
  int64_t net_rx_kb = 0;   // Per second.
  int64_t net_tx_kb = 0;   // Per second.
};

// Use of a task.
struct TaskUsage {
  int64_t at_ms = 0;   // Since the epoch; 0: never measured.
  int64_t cpu = 0;     // Millicores.
  int64_t memory = 0;  // Millibytes, as in Resources.
};

// How a finished task used the last-level cache, per 1,000,000 instructions.
struct CacheUse {
  int64_t references = 0;
  int64_t misses = 0;  // Of the references; the rest were hits.
};

// The latest samples of a machine, oldest first.
class UsageHistory {
 public:
  void Add(const MachineUsage& sample, size_t samples_max) {
    is_current_ = true;
    samples_.push_back(sample);
    while (samples_.size() > samples_max) samples_.pop_front();
  }
  const std::deque<MachineUsage>& samples() const { return samples_; }

  // The latest one; null if there is none that is still current.
  const MachineUsage* Current() const {
    return is_current_ ? &samples_.back() : nullptr;
  }
  // Marks the latest sample as out of date.
  void Expire() { is_current_ = false; }

 private:
  std::deque<MachineUsage> samples_;
  bool is_current_ = false;
};

}  // namespace sluice

#endif  // SLUICE_STATE_USAGE_H_
