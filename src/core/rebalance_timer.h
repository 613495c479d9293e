// When a round looks at all that runs: for tasks that would cost less elsewhere
// though nothing waits that they would make room for, and for what is to leave
// for what waits.
//
// The first takes long, so not every round does it.  The second is done as soon
// as anything has changed.  A round on unchanged input would decide once more
// what the one before has decided, or would find by luck what that has missed:
// so it lets the decisions stand, until time itself may have changed something.
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
  // Whether something may leave for what waits that could not at the end of the
  // last round.
  bool HasNews(int64_t now_ms, uint64_t version) const {
    return !whole_.has_value() || whole_->version != version ||
           now_ms - whole_->ms >=
               (is_whole_for_long_ ? kUnchangedMs : kChangedMs);
  }
  // A round has ended that looked at all that runs and all that waits.  It is
  // good for long, unless something waits and clients are yet to be told of
  // placements: these cannot be stopped before.
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
  // The same, where one has to look now.
  RebalanceTimer Due() const {
    RebalanceTimer due = *this;
    due.last_.reset();
    due.whole_.reset();
    return due;
  }
  // How often one has looked.
  uint64_t turn() const { return turn_; }

 private:
  struct Look {
    int64_t ms = 0;
    uint64_t version = 0;
  };
  std::optional<Look> last_;   // For what would cost less elsewhere.
  std::optional<Look> whole_;  // For what waits.
  bool is_whole_for_long_ = true;
  uint64_t turn_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_CORE_REBALANCE_TIMER_H_
