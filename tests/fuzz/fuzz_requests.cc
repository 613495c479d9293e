// Arbitrary bytes as requests of the contract, one after another, into a
// scheduler that runs a round whenever the bytes say so.
//
// Input: any number of [method][length, two bytes][that many bytes].  Nothing
// may crash, no machine may be overcommitted by a placement, and every request
// must come out as a command or as a defined refusal.

#include <glog/logging.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/limits.h"
#include "clients/replies.h"
#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "firmament/firmament_scheduler.pb.h"
#include "round/round_solver.h"
#include "round/scheduler.h"
#include "rpc/convert.h"
#include "rpc/convert_usage.h"
#include "rpc/wire.h"
#include "solver/registry.h"

namespace sluice {
namespace {

constexpr int64_t kDefaultMaxPods = 110;

class Target {
 public:
  Target()
      : policies_(*PolicySet::FromNames(std::string(kDefaultCostModels) +
                                        ",avoid_pods")),
        scheduler_(&state_, policies_, constraints_, RoundOptions()),
        solver_(MakeSolver("automatic")),
        round_solver_(*solver_) {}

  void Request(uint8_t method, const std::string& bytes) {
    switch (method % 13) {
      case 0:
        return Convert<firmament::TaskDescription>(
            bytes, [](const auto& description) {
              Faults faults;
              return ToSubmitTask(description, {}, &faults);
            });
      case 1:
        return Convert<firmament::TaskDescription>(
            bytes, [](const auto& description) {
              Faults faults;
              return ToUpdateTask(description, {}, &faults);
            });
      case 2:
        return Convert<firmament::TaskUID>(
            bytes, [](const auto& uid) -> Command {
              Faults faults;
              return ToCompleteTask(uid, &faults);
            });
      case 3:
        return Convert<firmament::TaskUID>(bytes,
                                           [](const auto& uid) -> Command {
                                             return FailTask{{uid.task_uid()}};
                                           });
      case 4:
        return Convert<firmament::TaskUID>(
            bytes, [](const auto& uid) -> Command {
              return RemoveTask{{uid.task_uid()}};
            });
      case 5:
        return Convert<firmament::ResourceTopologyNodeDescriptor>(
            bytes, [](const auto& tree) {
              Faults faults;
              return ToAddMachine(tree, kDefaultMaxPods, &faults);
            });
      case 6:
        return Convert<firmament::ResourceTopologyNodeDescriptor>(
            bytes, [](const auto& tree) {
              Faults faults;
              return ToUpdateMachine(tree, kDefaultMaxPods, &faults);
            });
      case 7:
        return Convert<firmament::ResourceUID>(bytes, ToRemoveMachine);
      case 8:
        return Convert<firmament::TaskInfo>(bytes, ToForeignPod);
      case 9:
        return Convert<firmament::TaskStats>(bytes, ToReportTaskUsage);
      case 10:
        return Convert<firmament::ResourceStats>(bytes, ToReportMachineUsage);
      case 11:
        return RunRound();
      default:
        return Reply(bytes.size() % 2 == 0);
    }
  }

 private:
  template <class Message, class Function>
  void Convert(const std::string& bytes, Function to_command) {
    Message message;
    const grpc::Slice slice(bytes);
    if (!ParseMessage(grpc::ByteBuffer(&slice, 1), &message)) return;
    Apply(to_command(message));
  }

  void Apply(Command command) { state_.Apply(command, ++now_ms_); }
  template <class Specific>
  void Apply(absl::StatusOr<Specific> command) {
    if (command.ok()) Apply(Command(*std::move(command)));
  }

  void RunRound() {
    scheduler_.StartRound(now_ms_);
    while (const std::optional<RoundWork> work = scheduler_.NextStep()) {
      const RoundSolver::Result result = round_solver_.Solve(*work);
      if (const auto* flow = std::get_if<FlowSolution>(&result.answer)) {
        CHECK(flow->outcome == SolveOutcome::kOptimal) << flow->error;
      }
      CHECK(result.certificate.ok()) << result.certificate;
      scheduler_.FinishStep(result.answer);
    }
  }

  void Reply(bool is_delivered) {
    replies_.Take(kReplyBytesMax);
    replies_.End(is_delivered);
  }

  const PolicySet policies_;
  const ConstraintSet constraints_;
  ClusterState state_;
  Replies replies_{&state_};
  Scheduler scheduler_;
  std::unique_ptr<Solver> solver_;
  RoundSolver round_solver_;  // As the daemon solves.
  int64_t now_ms_ = 0;
};

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::Target target;
  size_t at = 0;
  while (at + 3 <= size) {
    const uint8_t method = data[at];
    const size_t length = std::min<size_t>(
        data[at + 1] + 256 * static_cast<size_t>(data[at + 2]), size - at - 3);
    target.Request(
        method,
        std::string(reinterpret_cast<const char*>(data + at + 3), length));
    at += 3 + length;
  }
  return 0;
}
