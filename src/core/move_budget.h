// How many running tasks may be moved: so many parts of a hundred in a round,
// and in an hour.
//
// A cluster that is small may move a few all the same: one part of a hundred of
// it would be nothing.  For a gang, which starts as a whole or not at all, a
// round may move as many as the hour has left.  Not stored: an hour begins anew
// with the daemon.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_MOVE_BUDGET_H_
#define SLUICE_CORE_MOVE_BUDGET_H_

#include <cstdint>
#include <deque>
#include <utility>

#include "core/round_stats.h"

namespace sluice {

class MoveBudget {
 public:
  // So many may be moved in any cluster, unless none may.
  static constexpr int64_t kAlways = 10;

  explicit MoveBudget(const MoveOptions& options) : options_(options) {}

  struct Left {
    int64_t in_round = 0;  // No more than:
    int64_t in_hour = 0;   // What a gang may take.
  };
  // How many more may be moved by a round where so many tasks run.
  Left LeftFor(int64_t now_ms, int64_t running);
  // Or fewer than none, where moves are taken back.  Time does not go back.
  void Note(int64_t now_ms, int64_t moved);

 private:
  const MoveOptions options_;
  // Of the last hour: when how many were moved.
  std::deque<std::pair<int64_t, int64_t>> moved_;
  int64_t moved_count_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_CORE_MOVE_BUDGET_H_
