// When a round looks at all running tasks.  It does so for two reasons: to find
// cheaper places even if no waiting task needs the room, and to find what must
// leave for waiting tasks.
//
// The first takes long, so not every round does it.  The second is done as soon
// as anything has changed.  On unchanged input, a round would only repeat the
// earlier decisions, or find by luck what the last one missed.  So it lets the
// decisions stand until time itself may have changed something.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_CONTEXT_REBALANCE_TIMER_H_
#define SLUICE_ROUND_CONTEXT_REBALANCE_TIMER_H_

#include <cstdint>
#include <optional>

namespace sluice {

class RebalanceTimer {
 public:
  // Intervals while the cluster changes, and without a change: tasks may move
  // once they have run long enough.
  static constexpr int64_t kChangedMs = 10'000;
  static constexpr int64_t kUnchangedMs = 60'000;

  bool IsDue(int64_t now_ms, uint64_t version) const {
    if (!last_.has_value()) return true;
    const bool has_changed = last_->version != version;
    return now_ms - last_->ms >= (has_changed ? kChangedMs : kUnchangedMs);
  }
  // Call it after the round has looked, with the state's version.
  void Note(int64_t now_ms, uint64_t version) {
    last_ = {now_ms, version};
    ++turn_;
  }
  // True if a task may now leave for a waiting one that could not at the end of
  // the last round.
  bool HasNews(int64_t now_ms, uint64_t version) const {
    return !whole_.has_value() || whole_->version != version ||
           now_ms - whole_->ms >=
               (is_whole_for_long_ ? kUnchangedMs : kChangedMs);
  }
  // A round has ended that looked at all running and all waiting tasks.  Its
  // result lasts long, unless something waits and clients have not been told of
  // all placements: these cannot be stopped yet.
  void NoteWhole(int64_t now_ms, uint64_t version, bool is_for_long) {
    whole_ = {now_ms, version};
    is_whole_for_long_ = is_for_long;
    if (last_.has_value()) last_->version = version;
  }
  // A round without news has ended.
  void NoteNoNews(uint64_t version) {
    whole_->version = version;
    if (last_.has_value()) last_->version = version;
  }
  // A copy for which a look is due now.
  RebalanceTimer Due() const {
    RebalanceTimer due = *this;
    due.last_.reset();
    due.whole_.reset();
    return due;
  }
  // How many looks there have been.
  uint64_t turn() const { return turn_; }

 private:
  struct Look {
    int64_t ms = 0;
    uint64_t version = 0;
  };
  std::optional<Look> last_;   // For cheaper places.
  std::optional<Look> whole_;  // For waiting tasks.
  bool is_whole_for_long_ = true;
  uint64_t turn_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_REBALANCE_TIMER_H_
