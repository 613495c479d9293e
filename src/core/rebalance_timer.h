// When a round looks for tasks that would cost less elsewhere though nothing
// waits that they would make room for.  That takes a look at all that runs, so
// not every round does it.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_REBALANCE_TIMER_H_
#define SLUICE_CORE_REBALANCE_TIMER_H_

#include <cstdint>
#include <optional>

namespace sluice {

class RebalanceTimer {
 public:
  // As long as the cluster changes; and without a change, since tasks may move
  // once they have run long enough.
  static constexpr int64_t kChangedMs = 10'000;
  static constexpr int64_t kUnchangedMs = 60'000;

  bool IsDue(int64_t now_ms, uint64_t version) const {
    if (!last_.has_value()) return true;
    const bool has_changed = last_->version != version;
    return now_ms - last_->ms >= (has_changed ? kChangedMs : kUnchangedMs);
  }
  // Of the state, after the round has looked.
  void Note(int64_t now_ms, uint64_t version) {
    last_ = {now_ms, version};
    ++turn_;
  }
  // The same, where one has to look now.
  RebalanceTimer Due() const {
    RebalanceTimer due = *this;
    due.last_.reset();
    return due;
  }
  // How often one has looked.
  uint64_t turn() const { return turn_; }

 private:
  struct Look {
    int64_t ms = 0;
    uint64_t version = 0;
  };
  std::optional<Look> last_;
  uint64_t turn_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_CORE_REBALANCE_TIMER_H_
