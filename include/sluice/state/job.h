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

// How many tasks of a job run together, or none of them.
struct Gang {
  // All that are known; one on every machine that their rules allow.
  static constexpr uint64_t kAllTasks = ~uint64_t{0};
  static constexpr uint64_t kEveryMachine = kAllTasks - 1;

  uint64_t minimum = 0;  // 0: no gang.
  // After so long its tasks are placed one by one; 0: it waits for ever.
  int64_t timeout_ms = 0;
  // The jobs that name it are one gang: their tasks count together.  Empty: a
  // job by itself.
  std::string group = {};

  friend auto operator<=>(const Gang&, const Gang&) = default;
};

// What becomes of the tasks of a job that fail or are stopped by others.
struct OnFailure {
  enum class Action : uint8_t {
    kUnset = 0,    // As the options of the state say.
    kRequeue = 1,  // They wait again; those that failed after a pause.
    kNever = 2,    // They do not run twice.
  };

  Action action = Action::kUnset;
  // Of kRequeue: how many failures of a task are followed by another try, and
  // for how long it waits after the first; after each other one twice as long.
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
  // Of a gang: tasks that completed, removed ones included, and whether its
  // client was told to start any, and not to end all of them since.
  int64_t completed_count = 0;
  // Of any job: tasks that were removed though they had not ended.
  int64_t aborted_count = 0;
  bool was_started = false;
  // It stands for all jobs that name one group, its uuid; its counts are theirs
  // together, but that `task_count` is how many jobs they are.
  bool is_group = false;
  // Which that is of a job that names one; it is no gang by itself.
  std::optional<JobId> group = {};

  // From then on its tasks are placed one by one.
  bool HasStarted() const { return was_started || running_count > 0; }
  // Of the job whose tasks have to run together with its own, if any.
  std::optional<JobId> GangId() const {
    return gang.minimum > 0 ? std::optional(id) : group;
  }
};

}  // namespace sluice

#endif  // SLUICE_STATE_JOB_H_
