// A job: tasks that belong together.
//
// Threads: values; the ones in the state are confined to the core thread.

#ifndef SLUICE_STATE_JOB_H_
#define SLUICE_STATE_JOB_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "sluice/base/ids.h"
#include "sluice/state/disruption_budget.h"

namespace sluice {

// How many tasks of a job run together, or not at all.
struct Gang {
  // kAllTasks: all known tasks. kEveryMachine: one on every machine that their
  // rules allow.
  static constexpr uint64_t kAllTasks = ~uint64_t{0};
  static constexpr uint64_t kEveryMachine = kAllTasks - 1;

  uint64_t minimum = 0;  // 0: no gang.
  // After this time its tasks are placed one by one; 0: it waits forever.
  int64_t timeout_ms = 0;
  // Jobs that name the same group are one gang: their tasks count together.
  // Empty: the job is a gang by itself.
  std::string group = {};

  friend auto operator<=>(const Gang&, const Gang&) = default;
};

// What happens to tasks of a job that fail or are stopped by others.
struct OnFailure {
  enum class Action : uint8_t {
    kUnset = 0,    // As the options of the state say.
    kRequeue = 1,  // They wait again; failed ones after a pause.
    kNever = 2,    // They do not run twice.
  };

  Action action = Action::kUnset;
  // For kRequeue: how many failures of a task are followed by another try, and
  // how long it waits after the first one; the pause doubles each time.
  int32_t failures_max = 3;
  int64_t backoff_ms = 10000;

  friend auto operator<=>(const OnFailure&, const OnFailure&) = default;
};

struct Job {
  JobId id;
  std::string uuid;
  std::string name;
  Gang gang;
  std::optional<DisruptionBudget> budget = {};
  OnFailure on_failure = {};
  int64_t task_count = 0;  // Tasks not yet removed.
  // Of these: those that wait as far as their client knows, and those that run
  // and are not told to leave.
  int64_t pending_count = 0;
  int64_t running_count = 0;
  // For gangs: tasks that completed, including removed ones.
  int64_t completed_count = 0;
  // For any job: tasks that were removed before they ended.
  int64_t aborted_count = 0;
  // For gangs: whether its client was told to start any task, and not to end
  // all of them since.
  bool was_started = false;
  // True if it stands for all jobs that name one group, which is its uuid.  Its
  // counts are their sums, but `task_count` is the number of jobs.
  bool is_group = false;
  // The group job, if it names one; then it is no gang by itself.
  std::optional<JobId> group = {};

  // True once its tasks are placed one by one.
  bool HasStarted() const { return was_started || running_count > 0; }
  // The job whose tasks must run together with its own, if any.
  std::optional<JobId> GangId() const {
    return gang.minimum > 0 ? std::optional(id) : group;
  }
};

}  // namespace sluice

#endif  // SLUICE_STATE_JOB_H_
