// Who of several daemons answered when, as their clients saw it, and whether
// that can be if at any moment at most one of them leads.
//
// Threads: any.

#ifndef SLUICE_TESTS_INTEGRATION_ANSWER_LOG_H_
#define SLUICE_TESTS_INTEGRATION_ANSWER_LOG_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace sluice {

// A call that a leader answered.
struct Answer {
  size_t replica = 0;
  int64_t life = 0;  // ReplicaGroup::life(), before the call and after it.
  int64_t begin_us = 0;
  int64_t end_us = 0;
};

class AnswerLog {
 public:
  void Note(const Answer& answer);

  // The one that came last.
  std::optional<Answer> newest() const;
  // Waits some milliseconds, or until there is another one.
  void Await() const;

  // A process leads once.  So one that answered after another one had answered
  // first, though the call began after that, led at the same time: says so, or
  // nothing.
  std::string Contradiction() const;

  // How many processes have led, and how many calls they answered.
  size_t leaders() const;
  size_t answers() const;
  // How many began before the next leader's first answer and came after it: the
  // process was stopped, or the client was not served, in between.
  size_t late_answers() const;

 private:
  // (Replica, life), in the order of their first answers.
  std::vector<std::pair<int64_t, std::pair<size_t, int64_t>>> Leaders() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Calls `found` with each answer that ended after the next leader's first
  // one, and with the time of that.
  void ForEachLate(const std::function<void(const Answer&, int64_t)>& found)
      const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  mutable CondVar has_more_;
  std::vector<Answer> answers_ ABSL_GUARDED_BY(mutex_);
  std::optional<Answer> newest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_ANSWER_LOG_H_
