#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/quantity.h"
#include "cli/base/table.h"
#include "cli/client/answer.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "cli/client/resource_text.h"
#include "cli/client/task_text.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "tasks",
    .arguments = "",
    .summary = "Lists the tasks and where they run",
    .description =
        R"(Lists the tasks in the order of their uids.  TASK is the uid, or for a task of a
feed its id there.  WAITING is how long a pending task has been waiting.  A
quarantined task is kept out of scheduling because its description makes no
sense; NOTE says why.  An evicted task was told to leave its machine and holds
its place until it is gone.  If a task is to run again, NOTE says why, and how
long it waits before that.  "sluicectl explain TASK" says why a task waits.

With --usage: what each task asked for, and what it was last measured to use
(AddTaskStats, or the samples of a feed).
)"};

std::string MachineText(const v1::Task& task) {
  const std::string machine =
      NameOrId(task.machine_name(), task.machine_uuid());
  return machine.empty() ? "-" : machine;
}

std::string NoteOf(const v1::Task& task) {
  if (task.evicted()) return "evicted";
  return task.quarantine_reason().empty() ? task.runs_again()
                                          : task.quarantine_reason();
}

void PrintTasks(const v1::ListTasksResponse& tasks, std::ostream& out) {
  Table table({{"TASK", Align::kRight},
               {"NAME"},
               {"STATE"},
               {"MACHINE"},
               {"CPU", Align::kRight},
               {"MEMORY", Align::kRight},
               {"EXTENDED"},
               {"PRIORITY", Align::kRight},
               {"WAITING", Align::kRight},
               {"JOB"},
               {"NOTE"}});
  for (const v1::Task& task : tasks.tasks()) {
    const v1::Resources& request = task.request();
    const bool is_pending = task.state() == v1::Task::PENDING;
    table.AddRow({TaskIdText(task), task.name(),
                  std::string(TaskStateName(task.state())), MachineText(task),
                  FormatCpu(request.cpu_millicores()),
                  FormatMemory(request.memory_millibytes()),
                  FormatExtended(request), StrCat(task.stated_priority()),
                  is_pending ? FormatAge(task.waiting_ms()) : "-",
                  task.job_uuid(), NoteOf(task)});
  }
  table.Print(out);
}

void PrintUsage(const v1::ListTasksResponse& tasks, std::ostream& out) {
  Table table({{"TASK", Align::kRight},
               {"NAME"},
               {"STATE"},
               {"MACHINE"},
               {"CPU ASKED", Align::kRight},
               {"CPU USED", Align::kRight},
               {"MEMORY ASKED", Align::kRight},
               {"MEMORY USED", Align::kRight},
               {"AGE", Align::kRight}});
  for (const v1::Task& task : tasks.tasks()) {
    const v1::Resources& request = task.request();
    const v1::TaskSample& usage = task.usage();
    const bool is_known = task.has_usage();
    table.AddRow({TaskIdText(task), task.name(),
                  std::string(TaskStateName(task.state())), MachineText(task),
                  FormatCpu(request.cpu_millicores()),
                  is_known ? FormatCpu(usage.cpu_millicores()) : "-",
                  FormatMemory(request.memory_millibytes()),
                  is_known ? FormatMemory(usage.memory_millibytes()) : "-",
                  is_known ? FormatAge(usage.age_ms()) : "-"});
  }
  table.Print(out);
}

class TasksCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    flags.AddSwitch("pending",
                    "Only tasks that wait, including quarantined ones.",
                    &is_pending_only_);
    flags.AddString({.name = "job",
                     .value = "JOB",
                     .help = "Only tasks of the job with this uuid or name."},
                    &job_);
    flags.AddString({.name = "machine",
                     .value = "MACHINE",
                     .help = "Only tasks that run on the machine with this "
                             "uuid or\nname."},
                    &machine_);
    flags.AddString({.name = "namespace",
                     .value = "NAMESPACE",
                     .help = "Only tasks of this namespace, or named "
                             "NAMESPACE/..."},
                    &namespace_);
    std::vector<std::string> states;
    for (const std::string_view name : TaskStateNames()) {
      states.emplace_back(name);
    }
    flags.AddChoice({.name = "state",
                     .value = "STATE",
                     .help = "Only tasks in this state: pending, running, "
                             "completed,\nfailed, quarantined, muted, stale, "
                             "template."},
                    states, &state_);
    flags.AddSwitch("usage",
                    "Shows what was measured beside what was asked for.",
                    &wants_usage_);
  }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    v1::ListTasksRequest request;
    request.set_pending_only(is_pending_only_);
    request.set_job(job_);
    request.set_machine(machine_);
    request.set_namespace_(namespace_);
    if (!state_.empty()) request.add_states(TaskStateNamed(state_));
    ASSIGN_OR_RETURN(const v1::ListTasksResponse tasks,
                     connection.ListTasks(std::move(request)));
    PrintAnswer(context, tasks, wants_usage_ ? &PrintUsage : &PrintTasks);
    return absl::OkStatus();
  }

 private:
  bool is_pending_only_ = false;
  std::string job_;
  std::string machine_;
  std::string namespace_;
  std::string state_;
  bool wants_usage_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTasksCommand() {
  return std::make_unique<TasksCommand>();
}

}  // namespace sluice
