#include <cstdint>
#include <fstream>
#include <istream>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/json.h"
#include "cli/base/progress.h"
#include "cli/base/table.h"
#include "cli/client/call_pipeline.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "cli/client/contract.h"
#include "cli/client/event_line.h"
#include "cli/client/quarantine_report.h"
#include "firmament/firmament_scheduler.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "inject",
    .arguments = "FILE|-",
    .summary = "Sends the events of a file, one JSON object a line",
    .description =
        R"(Sends the events of FILE (- for standard input) in their order, each after the
reply to the one before.  A line holds one event: a JSON object whose only key
names a call of the Firmament contract and whose value is the call's request
in proto3's JSON mapping:

  {"nodeAdded": {"resourceDesc": {"uuid": "m1", "type": "RESOURCE_MACHINE",
      "availableResources": {"cpuCores": 4000, "ramCap": "8589934592000"}}}}
  {"taskSubmitted": {"taskDescriptor": {"uid": "1", "name": "shop/web-1",
      "jobId": "web", "resourceRequest": {"cpuCores": 500}},
      "jobDescriptor": {"uuid": "web", "name": "web"}}}
  {"taskCompleted": {"taskUid": "1"}}
  {"schedule": {}}

In FILE each of them is on one line.  Events: nodeAdded, nodeUpdated,
nodeFailed, nodeRemoved, taskSubmitted, taskUpdated, taskCompleted, taskFailed,
taskRemoved, addTaskInfo, addTaskStats, addNodeStats, schedule, check.
cpuCores are thousandths of a core, ramCap thousandths of a byte.

Blank lines and lines that begin with # or // are skipped.  If a line makes no
sense, the error has its number, and neither that line nor anything after it is
sent.  If the server refuses a call (TASK_NOT_FOUND, ...), the error has its
line, the rest is sent, and the exit code is 1.  NODE_ALREADY_EXISTS is no
refusal: the machine is there.

The server also takes a task or a machine whose description makes no sense, but
keeps it out of scheduling.  Those that are still there at the end are listed
with the reason; with --strict the exit code is then 1.  Samples (addTaskStats,
addNodeStats) that make no sense are answered like others and dropped; the
daemon's log names them.

Other programs call this "apply".  "submit" sends a task without a file.

The decisions of each schedule are printed as they come.  A decision is
delivered only once: beside a cluster bridge, "schedule" takes decisions from
it.
)",
    .example = "sluicectl inject deploy/examples/demo.jsonl"};

class InjectCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    flags.AddSwitch("stop_on_error", "Sends nothing after the first refusal.",
                    &stops_on_error_);
    flags.AddSwitch("strict",
                    "Fails if the server quarantines a task or a machine.",
                    &is_strict_);
  }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 1));
    path_ = std::move(arguments.front());
    return absl::OkStatus();
  }

  absl::Status Run(const CommandContext& context) override {
    if (path_ == "-") return Inject(context, context.console.in);
    std::ifstream file(path_);
    if (!file) return absl::NotFoundError(StrCat("cannot read ", path_));
    return Inject(context, file);
  }

 private:
  absl::Status Inject(const CommandContext& context, std::istream& input);
  void ShowReply(const CommandContext& context, const Event& event,
                 int64_t line_number, const google::protobuf::Message& reply);
  void ShowSummary(const CommandContext& context) const;
  absl::Status ShowQuarantine(const CommandContext& context);
  // Sends until the end of `input`, or an error.
  absl::Status SendAll(const CommandContext& context, std::istream& input);

  std::string path_;
  bool stops_on_error_ = false;
  bool is_strict_ = false;

  // How often each call got each answer.
  std::map<std::pair<std::string, std::string>, int64_t> counts_;
  int64_t event_count_ = 0;
  int64_t refused_count_ = 0;
  QuarantineReport quarantine_;
};

void PrintDeltas(const firmament::SchedulingDeltas& deltas, int64_t line_number,
                 std::ostream& out) {
  out << "line " << line_number << ": schedule: " << deltas.deltas_size()
      << " deltas, " << deltas.unscheduled_tasks_size() << " unscheduled\n";
  if (deltas.deltas_size() > 0) {
    Table table({{"TASK", Align::kRight}, {"TYPE"}, {"RESOURCE"}});
    for (const firmament::SchedulingDelta& delta : deltas.deltas()) {
      table.AddRow({StrCat(delta.task_id()),
                    firmament::SchedulingDelta::ChangeType_Name(delta.type()),
                    delta.resource_id()});
    }
    table.Print(out);
  }
  if (deltas.unscheduled_tasks_size() > 0) {
    std::string uids;
    for (const uint64_t uid : deltas.unscheduled_tasks()) {
      uids += StrCat(uids.empty() ? "" : ", ", uid);
    }
    out << "unscheduled: " << uids << '\n';
  }
  out << '\n';
}

void InjectCommand::ShowReply(const CommandContext& context, const Event& event,
                              int64_t line_number,
                              const google::protobuf::Message& reply) {
  const std::string name = EventName(*event.method);
  const Answer answer = AnswerOf(reply);
  ++event_count_;
  ++counts_[{name, answer.name}];
  if (!answer.is_done) {
    ++refused_count_;
    context.console.err << LineName(path_, line_number) << ": " << name << ": "
                        << answer.name << '\n';
  }
  if (context.options.wants_json()) {
    context.console.out << "{\"line\":" << line_number << ",\"event\":\""
                        << name << "\",\"reply\":"
                        << JsonOf(reply, JsonLayout::kOneLine) << "}\n";
    return;
  }
  if (reply.GetDescriptor() == firmament::SchedulingDeltas::descriptor()) {
    PrintDeltas(static_cast<const firmament::SchedulingDeltas&>(reply),
                line_number, context.console.out);
  }
}

void InjectCommand::ShowSummary(const CommandContext& context) const {
  if (context.options.wants_json() || counts_.empty()) return;
  Table table({{"EVENT"}, {"REPLY"}, {"COUNT", Align::kRight}});
  for (const auto& [event_and_reply, count] : counts_) {
    table.AddRow(
        {event_and_reply.first, event_and_reply.second, StrCat(count)});
  }
  table.Print(context.console.out);
}

absl::Status InjectCommand::ShowQuarantine(const CommandContext& context) {
  Connection connection(context.options);
  const absl::Status asked = quarantine_.Ask(connection);
  if (!asked.ok() && !is_strict_) {
    context.console.err << "sluicectl: cannot list what is quarantined: "
                        << Message(asked) << '\n';
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(asked);
  if (quarantine_.empty()) return absl::OkStatus();
  if (context.options.wants_json()) {
    quarantine_.PrintJson(context.console.out);
  } else {
    context.console.out << '\n';
    quarantine_.PrintTable(context.console.out);
  }
  if (!is_strict_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat("tasks and machines that are quarantined: ", quarantine_.size()));
}

absl::Status InjectCommand::SendAll(const CommandContext& context,
                                    std::istream& input) {
  const Connection connection(context.options);
  auto pipeline = std::make_unique<CallPipeline>(connection, 1);
  Progress progress(context, "events", 0);
  std::string line;
  absl::Status status;
  for (int64_t number = 1; std::getline(input, line); ++number) {
    if (IsCommentLine(line)) continue;
    absl::StatusOr<Event> event = ParseEventLine(line);
    if (event.ok()) {
      quarantine_.Note(*event, number);
      status = pipeline->Send(*event->method, 0, std::move(event->request),
                              [&](const google::protobuf::Message& reply) {
                                ShowReply(context, *event, number, reply);
                              });
      if (status.ok()) status = pipeline->Drain();
    } else {
      status = event.status();
    }
    status = Annotate(status, LineName(path_, number));
    if (event.ok() && absl::IsInvalidArgument(status)) {
      // A strict server refuses so.  A pipeline ends with its first error.
      ++event_count_;
      ++refused_count_;
      ++counts_[{EventName(*event->method), "INVALID_ARGUMENT"}];
      context.console.err << Message(status) << '\n';
      status = absl::OkStatus();
      pipeline = std::make_unique<CallPipeline>(connection, 1);
    }
    if (!status.ok() || (stops_on_error_ && refused_count_ > 0)) break;
    progress.Show(event_count_);
  }
  RETURN_IF_ERROR(status);
  if (input.bad()) return absl::DataLossError(StrCat("cannot read ", path_));
  return absl::OkStatus();
}

absl::Status InjectCommand::Inject(const CommandContext& context,
                                   std::istream& input) {
  const absl::Status sent = SendAll(context, input);
  ShowSummary(context);
  RETURN_IF_ERROR(sent);
  absl::Status quarantine = ShowQuarantine(context);
  if (refused_count_ > 0) {
    return absl::FailedPreconditionError(
        StrCat(refused_count_, " of ", event_count_,
               " events were refused by the server"));
  }
  return quarantine;
}

}  // namespace

std::unique_ptr<Command> MakeInjectCommand() {
  return std::make_unique<InjectCommand>();
}

}  // namespace sluice
