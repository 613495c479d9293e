#include <algorithm>
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
    .name = "explain",
    .arguments = "TASK",
    .summary = "Says why a task waits, or where it runs",
    .description =
        R"(Says where the task with the uid or the name TASK runs, or why it waits: on how
many machines it would fit now, what speaks against the others, and what the
three nearest of them lack.  Each machine counts under the first reason that
speaks against it.  For a running task it also says what each policy would
charge now for its machine and for the next best one.
)",
    .example = "sluicectl explain demo/shop-1"};

constexpr size_t kSummaryBytesMax = 4096;

// Adds a row for each kind of rule that the task has.
void AddRules(const v1::Task& task, Table& table) {
  const auto add = [&table](std::string_view name, const auto& texts,
                            std::string_view separator) {
    std::string joined;
    for (const std::string& text : texts) {
      joined += StrCat(joined.empty() ? "" : separator, text);
    }
    if (!joined.empty()) table.AddRow({std::string(name), std::move(joined)});
  };
#define RULE_LIST(field, Element, order, words, shown, label, separator) \
  add(label, task.shown(), separator);
#include "sluice/state/placement_rules.def"
  for (const v1::TaskRule& rule : task.rules()) {
    std::string name = rule.name();
    std::ranges::replace(name, '_', ' ');
    add(name, rule.texts(), ", ");
  }
  if (!task.replaces().empty()) table.AddRow({"replaces", task.replaces()});
}

void PrintTask(const v1::Task& task, std::ostream& out) {
  Table table({{"TASK"},
               {StrCat(TaskIdText(task), task.name().empty() ? "" : "  ",
                       task.name())}});
  if (!task.job_uuid().empty()) table.AddRow({"job", task.job_uuid()});
  table.AddRow({"state", std::string(TaskStateName(task.state()))});
  if (!task.machine_uuid().empty()) {
    table.AddRow(
        {"machine", NameOrId(task.machine_name(), task.machine_uuid())});
  }
  const v1::Resources& request = task.request();
  table.AddRow({"cpu", FormatCpu(request.cpu_millicores())});
  table.AddRow({"memory", FormatMemory(request.memory_millibytes())});
  table.AddRow({"extended", FormatExtended(request)});
  table.AddRow({"priority", StrCat(task.stated_priority())});
  AddRules(task, table);
  if (task.state() == v1::Task::PENDING) {
    table.AddRow({"waiting", FormatAge(task.waiting_ms())});
  }
  table.Print(out);
}

// A row for each policy, and a column for each machine.
void PrintCosts(const v1::TaskExplanation& explanation, std::ostream& out) {
  std::vector<Table::Column> columns = {{"POLICY"}};
  for (const v1::MachineCost& cost : explanation.costs()) {
    columns.push_back(
        {StrCat(NameOrId(cost.machine_name(), cost.machine_uuid()),
                columns.size() == 1 ? "" : " (next)"),
         Align::kRight});
  }
  Table table(std::move(columns));
  const v1::MachineCost& own = explanation.costs(0);
  for (int i = 0; i < own.policies_size(); ++i) {
    std::vector<std::string> row = {own.policies(i).policy()};
    for (const v1::MachineCost& cost : explanation.costs()) {
      row.push_back(i < cost.policies_size() ? StrCat(cost.policies(i).points())
                                             : "-");
    }
    table.AddRow(std::move(row));
  }
  out << "\nwhat policies would charge now, in points\n";
  table.Print(out);
}

void PrintExplanation(const v1::TaskExplanation& explanation,
                      std::ostream& out) {
  PrintTask(explanation.task(), out);
  out << '\n' << Printable(explanation.summary(), kSummaryBytesMax) << '\n';
  if (explanation.costs_size() > 0 &&
      explanation.costs(0).policies_size() > 0) {
    PrintCosts(explanation, out);
  }
  if (explanation.reasons_size() > 0) {
    out << '\n';
    Table table({{"MACHINES", Align::kRight}, {"REASON"}, {"CODE"}});
    for (const v1::Reason& reason : explanation.reasons()) {
      table.AddRow({StrCat(reason.machines()), reason.text(), reason.code()});
    }
    table.Print(out);
  }
  if (explanation.nearest_size() > 0) {
    out << '\n';
    Table table({{"NEAREST"}, {"WHY NOT"}});
    for (const v1::NearMiss& machine : explanation.nearest()) {
      table.AddRow({NameOrId(machine.machine_name(), machine.machine_uuid()),
                    machine.lacks()});
    }
    table.Print(out);
  }
}

class ExplainCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 1));
    task_ = std::move(arguments.front());
    return absl::OkStatus();
  }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    v1::ExplainTaskRequest request;
    request.set_task(task_);
    ASSIGN_OR_RETURN(const v1::TaskExplanation explanation,
                     connection.ExplainTask(request));
    PrintAnswer(context, explanation, &PrintExplanation);
    return absl::OkStatus();
  }

 private:
  std::string task_;
};

}  // namespace

std::unique_ptr<Command> MakeExplainCommand() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace sluice
