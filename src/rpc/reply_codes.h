// The enum values of the contract that each method answers with.
//
// The bridge that the contract was made for exits at any value that it does not
// expect from a method, so every value of every reply comes from here.

#ifndef SLUICE_RPC_REPLY_CODES_H_
#define SLUICE_RPC_REPLY_CODES_H_

#include <string_view>

#include "firmament/firmament_scheduler.pb.h"
#include "state/command.h"

namespace sluice {

// --replies.
enum class ReplyMode {
  // The enums of the contract.  A malformed request is answered as if it were
  // sound, and what it names is quarantined.  No call ever fails.
  kContract,
  // As kContract, but an unknown task or machine is answered as if it were
  // known, for a bridge that knows more than the daemon.
  kLenient,
  // Calls with malformed requests fail and change nothing.  A known uid is
  // refused.
  kStrict,
};

template <class Type>
struct ReplyCodes {
  std::string_view method;  // For logs and metrics.
  Type ok;
  Type not_found;
  Type already_exists;
  Type wrong_state;
  Type malformed;

  // The answer to a command that was applied.  The subject of a malformed
  // request may be unknown just because the request is malformed.
  constexpr Type For(Ack ack, ReplyMode mode, bool is_malformed) const {
    switch (ack) {
      case Ack::kOk:
        return ok;
      case Ack::kNotFound:
        if (is_malformed) return malformed;
        return mode == ReplyMode::kLenient ? ok : not_found;
      case Ack::kAlreadyExists:
        return already_exists;
    }
    return ok;
  }
};

// A method that cannot have one of the outcomes gives it the code of the
// nearest one that it can have.
inline constexpr ReplyCodes<firmament::TaskReplyType> kTaskSubmittedCodes = {
    .method = "TaskSubmitted",
    .ok = firmament::TASK_SUBMITTED_OK,
    .not_found = firmament::TASK_SUBMITTED_OK,
    .already_exists = firmament::TASK_ALREADY_SUBMITTED,
    .wrong_state = firmament::TASK_STATE_NOT_CREATED,
    .malformed = firmament::TASK_SUBMITTED_OK};

constexpr ReplyCodes<firmament::TaskReplyType> TaskCodes(
    std::string_view method, firmament::TaskReplyType ok) {
  return {.method = method,
          .ok = ok,
          .not_found = firmament::TASK_NOT_FOUND,
          .already_exists = ok,
          .wrong_state = ok,
          .malformed = ok};
}
inline constexpr auto kTaskCompletedCodes =
    TaskCodes("TaskCompleted", firmament::TASK_COMPLETED_OK);
inline constexpr auto kTaskFailedCodes =
    TaskCodes("TaskFailed", firmament::TASK_FAILED_OK);
inline constexpr auto kTaskRemovedCodes =
    TaskCodes("TaskRemoved", firmament::TASK_REMOVED_OK);
inline constexpr auto kTaskUpdatedCodes =
    TaskCodes("TaskUpdated", firmament::TASK_UPDATED_OK);
// The contract has no value for samples: 0 means success.
inline constexpr auto kAddTaskStatsCodes =
    TaskCodes("AddTaskStats", firmament::TASK_COMPLETED_OK);

constexpr ReplyCodes<firmament::NodeReplyType> NodeCodes(
    std::string_view method, firmament::NodeReplyType ok) {
  return {.method = method,
          .ok = ok,
          .not_found = firmament::NODE_NOT_FOUND,
          .already_exists = firmament::NODE_ALREADY_EXISTS,
          .wrong_state = ok,
          .malformed = ok};
}
inline constexpr auto kNodeAddedCodes =
    NodeCodes("NodeAdded", firmament::NODE_ADDED_OK);
inline constexpr auto kNodeFailedCodes =
    NodeCodes("NodeFailed", firmament::NODE_FAILED_OK);
inline constexpr auto kNodeRemovedCodes =
    NodeCodes("NodeRemoved", firmament::NODE_REMOVED_OK);
inline constexpr auto kNodeUpdatedCodes =
    NodeCodes("NodeUpdated", firmament::NODE_UPDATED_OK);
inline constexpr auto kAddNodeStatsCodes =
    NodeCodes("AddNodeStats", firmament::NODE_ADDED_OK);

// AddTaskInfo can say that it failed, so malformed usage is answered that way.
inline constexpr ReplyCodes<firmament::TaskInfoReplyType> kTaskInfoAddedCodes =
    {.method = "AddTaskInfo",
     .ok = firmament::TASKINFO_SUBMITTED_OK,
     .not_found = firmament::TASKINFO_SUBMIT_FAILED,
     .already_exists = firmament::TASKINFO_SUBMIT_FAILED,
     .wrong_state = firmament::TASKINFO_SUBMIT_FAILED,
     .malformed = firmament::TASKINFO_SUBMIT_FAILED};
inline constexpr ReplyCodes<firmament::TaskInfoReplyType>
    kTaskInfoRemovedCodes = {
        .method = "AddTaskInfo",
        .ok = firmament::TASKINFO_REMOVED_OK,
        .not_found = firmament::TASKINFO_REMOVE_FAILED,
        .already_exists = firmament::TASKINFO_REMOVE_FAILED,
        .wrong_state = firmament::TASKINFO_REMOVE_FAILED,
        .malformed = firmament::TASKINFO_REMOVE_FAILED};

}  // namespace sluice

#endif  // SLUICE_RPC_REPLY_CODES_H_
