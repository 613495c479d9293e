#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/json.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "cli/client/contract.h"
#include "firmament/firmament_scheduler.grpc.pb.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "remove",
    .arguments = "TASK...",
    .summary = "Tells the daemon that tasks no longer exist",
    .description =
        R"(Tells the daemon that each TASK, a uid or a name, was removed, as its client
does with TaskRemoved: the daemon forgets it, and its machine is free for
others.  This stops nothing: a task that runs has to be ended where it runs.  It
is for tasks that their client has lost.  Only its feed can remove a task of a
feed.

The command stops at the first task that it cannot remove; the exit code is 1.
)",
    .example = "sluicectl remove 17 demo/shop-1"};

constexpr size_t kShownBytes = 256;

class RemoveCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    if (arguments.empty()) return CheckArgumentCount(kText, arguments, 1);
    tasks_ = std::move(arguments);
    return absl::OkStatus();
  }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    const auto stub =
        firmament::FirmamentScheduler::NewStub(connection.channel());
    for (const std::string& name : tasks_) {
      v1::ExplainTaskRequest question;
      question.set_task(name);
      ASSIGN_OR_RETURN(const v1::TaskExplanation found,
                       connection.ExplainTask(question));
      const v1::Task& task = found.task();
      if (!task.feed().empty()) {
        return absl::FailedPreconditionError(
            StrCat("task '", Printable(name, kShownBytes), "' is of the feed '",
                   Printable(task.feed(), kShownBytes),
                   "', and only that can remove it"));
      }
      firmament::TaskUID request;
      request.set_task_uid(task.uid());
      firmament::TaskRemovedResponse reply;
      RETURN_IF_ERROR(connection.StatusOf(
          stub->TaskRemoved(connection.MakeContext().get(), request, &reply)));
      if (const Answer answer = AnswerOf(reply); !answer.is_done) {
        return absl::FailedPreconditionError(
            StrCat("task ", task.uid(), ": ", answer.name));
      }
      Show(context, task);
    }
    return absl::OkStatus();
  }

 private:
  static void Show(const CommandContext& context, const v1::Task& task) {
    if (context.options.wants_json()) {
      context.console.out << "{\"removed\":\"" << task.uid()
                          << "\",\"name\":" << JsonString(task.name()) << "}\n";
    } else {
      context.console.out << "removed " << task.uid() << "  "
                          << Printable(task.name(), kShownBytes) << '\n';
    }
  }

  std::vector<std::string> tasks_;
};

}  // namespace

std::unique_ptr<Command> MakeRemoveCommand() {
  return std::make_unique<RemoveCommand>();
}

}  // namespace sluice
