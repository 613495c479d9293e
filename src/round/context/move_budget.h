// How many running tasks may be moved: a percentage of them per round and per
// hour.
//
// A small cluster may still move a few tasks, since a percentage of it would be
// zero.  For a gang, which starts whole or not at all, a round may move as many
// as the hour has left.  The budget is not stored: an hour begins anew with the
// daemon.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_CONTEXT_MOVE_BUDGET_H_
#define SLUICE_ROUND_CONTEXT_MOVE_BUDGET_H_

#include <cstdint>
#include <deque>
#include <utility>

#include "round/context/round_stats.h"

namespace sluice {

class MoveBudget {
 public:
  // This many may be moved in any cluster, unless moves are off.
  static constexpr int64_t kAlways = 10;

  explicit MoveBudget(const MoveOptions& options) : options_(options) {}

  struct Left {
    int64_t in_round = 0;  // At most in_hour.
    int64_t in_hour = 0;   // What a gang may take.
  };
  // How many more tasks a round may move, given how many run.
  Left LeftFor(int64_t now_ms, int64_t running);
  // `moved` is negative if moves are taken back.  Time does not go back.
  void Note(int64_t now_ms, int64_t moved);

 private:
  const MoveOptions options_;
  // The last hour: when how many were moved.
  std::deque<std::pair<int64_t, int64_t>> moved_;
  int64_t moved_count_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_MOVE_BUDGET_H_
