#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/json.h"
#include "cli/base/progress.h"
#include "cli/base/quantity.h"
#include "cli/base/rest.h"
#include "cli/base/table.h"
#include "cli/client/answer.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "cli/client/contract.h"
#include "cli/client/quarantine_report.h"
#include "cli/client/task_text.h"
#include "firmament/firmament_scheduler.grpc.pb.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "submit",
    .arguments = "NAME",
    .summary = "Submits a task by hand, or several that are alike",
    .description =
        R"(Submits the task NAME, as a client does with TaskSubmitted, and prints its uid.
With --count the tasks are NAME-0, NAME-1 and so on.  Amounts are written as in
Kubernetes: 500m, 1.5, 1Gi.  "sluicectl inject" sends what these flags cannot
say.

A task of the contract is placed when a client calls Schedule, and this command
does not: a decision is delivered only once, to whoever calls first.  With
--schedule it calls, and says what has become of its tasks.  That is for a
daemon without another client of the contract.  Otherwise that client is told
where they run.  The Poseidon bridge ends itself when it is told of a task that
it does not know, so submit nothing beside it.

The uids are drawn at random from those below 2^62 that no task has.  Clients
that count uids, such as Poseidon, give out low ones.  If another client takes a
uid meanwhile and the daemon refuses it (--replies=strict), the error says so.
A name is refused where a task that has not ended has it: to the daemon two
tasks named NAMESPACE/NAME are one.

With --wait the command asks until all its tasks run, and says where.  When the
time is over, it explains why the first waiting task waits, and exits with 1.
It also exits with 1 if the daemon refuses or quarantines a task.
)",
    .example = "sluicectl submit web --count=3 --cpu=500m --memory=1Gi"};

constexpr size_t kShownBytes = 256;
constexpr size_t kSummaryBytesMax = 4096;

// By hand; one call each.
constexpr int64_t kCountMax = 10'000;

// From here up the daemon gives out uids itself.
constexpr int64_t kUidEnd = int64_t{1} << 62;

std::string Quoted(std::string_view text) {
  return StrCat("'", Printable(text, kShownBytes), "'");
}

// Adds a flag that is given once for each key.  `read` reads the text behind
// the equals sign at `find_equals(text)`.
template <class Value, class Find, class Read>
void AddPairs(FlagSet& flags, const FlagSet::Text& text, Find find_equals,
              Read read, std::map<std::string, Value>* target) {
  flags.AddOther(text, "",
                 [form = std::string(text.value), find_equals, read,
                  target](std::string_view pair) -> absl::Status {
                   const size_t equals = find_equals(pair);
                   if (equals == std::string_view::npos || equals == 0) {
                     return absl::InvalidArgumentError(
                         StrCat(Quoted(pair), " is not ", form));
                   }
                   ASSIGN_OR_RETURN(Value value, read(pair.substr(equals + 1)));
                   const std::string key(pair.substr(0, equals));
                   if (!target->emplace(key, std::move(value)).second) {
                     return absl::InvalidArgumentError(
                         StrCat(Quoted(key), " is given twice"));
                   }
                   return absl::OkStatus();
                 });
}

void AddQuantity(FlagSet& flags, const FlagSet::Text& text, int64_t* target) {
  flags.AddOther(text, "", [target](std::string_view value) -> absl::Status {
    ASSIGN_OR_RETURN(*target, ParseQuantity(value));
    return absl::OkStatus();
  });
}

absl::StatusOr<int64_t> ParseWhole(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t thousandths, ParseQuantity(text));
  if (thousandths % 1000 == 0) return thousandths / 1000;
  return absl::InvalidArgumentError(StrCat(Quoted(text), " is not whole"));
}

absl::StatusOr<uint64_t> RandomSeed() {
  uint64_t seed = 0;
  if (getentropy(&seed, sizeof(seed)) == 0) return seed;
  return absl::InternalError("the system gives no random bytes");
}

bool HasEnded(v1::Task::State state) {
  return state == v1::Task::COMPLETED || state == v1::Task::FAILED;
}

class SubmitCommand final : public Command {
 public:
  Text text() const override { return kText; }
  void AddFlags(FlagSet& flags) override;
  absl::Status TakeArguments(std::vector<std::string> arguments) override;
  absl::Status Run(const CommandContext& context) override;

 private:
  struct Sent {
    std::string name;
    uint64_t uid = 0;
  };

  void AddDemandFlags(FlagSet& flags);
  void AddWaitFlags(FlagSet& flags);

  std::string TaskName(int64_t index) const;
  firmament::TaskDescription MakeTask(const Sent& task, int64_t index) const;
  // Notes which uids are in use.
  // Errors: kAlreadyExists if one of the names is.
  absl::Status CheckNames(Connection& connection);
  // Submits all of them, or until an error; `sent_` has those that are there.
  absl::Status SendAll(const CommandContext& context, Connection& connection);
  void ShowSent(const CommandContext& context) const;
  absl::Status ShowQuarantine(const CommandContext& context,
                              Connection& connection) const;
  absl::Status Schedule(const CommandContext& context,
                        Connection& connection) const;
  // The tasks that were sent, in that order; one that is gone has uid 0.
  absl::StatusOr<std::vector<v1::Task>> Look(Connection& connection) const;
  // Looks again and again until none waits, or the time is over.
  absl::StatusOr<std::vector<v1::Task>> Await(const CommandContext& context,
                                              Connection& connection);
  void ShowPlaces(const CommandContext& context,
                  const std::vector<v1::Task>& tasks) const;
  // Errors: if a task was removed, failed, or still waits.
  absl::Status CheckPlaced(Connection& connection,
                           const std::vector<v1::Task>& tasks) const;

  std::string name_;
  std::string job_;
  std::string namespace_;
  int64_t count_ = 0;  // 0: one, without a number.
  int64_t cpu_millicores_ = 0;
  int64_t memory_millibytes_ = 0;
  uint32_t priority_ = 0;
  std::map<std::string, int64_t> resources_;
  std::map<std::string, std::string> labels_;
  std::map<std::string, std::string> selectors_;
  bool schedules_ = false;
  int64_t wait_ms_ = 0;
  int64_t interval_ms_ = 1000;

  std::set<uint64_t> uids_in_use_;
  std::vector<Sent> sent_;
};

void SubmitCommand::AddFlags(FlagSet& flags) {
  flags.AddInteger({.name = "count",
                    .value = "N",
                    .help = "Submits NAME-0 to NAME-(N-1), which are alike, "
                            "in\nplace of NAME."},
                   {.min = 1, .max = kCountMax}, &count_);
  flags.AddString(
      {.name = "job",
       .value = "JOB",
       .help = "The job that they are tasks of, its uuid and name (NAME)."},
      &job_);
  flags.AddString({.name = "namespace",
                   .value = "NAMESPACE",
                   .help = "Their namespace; it is no part of NAME."},
                  &namespace_);
  AddDemandFlags(flags);
  AddWaitFlags(flags);
}

void SubmitCommand::AddDemandFlags(FlagSet& flags) {
  AddQuantity(flags,
              {.name = "cpu",
               .value = "CORES",
               .help = "What each asks for: 2, 0.5 or 500m."},
              &cpu_millicores_);
  AddQuantity(flags,
              {.name = "memory",
               .value = "BYTES",
               .help = "What each asks for: 512Mi, 1.5Gi or 2G."},
              &memory_millibytes_);
  const auto first = [](std::string_view pair) { return pair.find('='); };
  const auto last = [](std::string_view pair) { return pair.rfind('='); };
  const auto as_is = [](std::string_view value) -> absl::StatusOr<std::string> {
    return std::string(value);
  };
  AddPairs(flags,
           {.name = "resource",
            .value = "NAME=AMOUNT",
            .help = "What each asks for of an extended resource, such as\n"
                    "nvidia.com/gpu=1. May be given again, as the next two."},
           last, &ParseWhole, &resources_);
  AddPairs(
      flags,
      {.name = "label", .value = "KEY=VALUE", .help = "A label that each has."},
      first, as_is, &labels_);
  AddPairs(flags,
           {.name = "selector",
            .value = "KEY=VALUE",
            .help = "A label that its machine must have."},
           first, as_is, &selectors_);
  flags.AddInteger(
      {.name = "priority", .value = "N", .help = "The higher goes first (0)."},
      {.min = 0, .max = UINT32_MAX}, &priority_);
}

void SubmitCommand::AddWaitFlags(FlagSet& flags) {
  flags.AddSwitch("schedule",
                  "Calls Schedule; with --wait, each time before it asks.\n"
                  "It takes decisions away from other clients.",
                  &schedules_);
  flags.AddSeconds({.name = "wait",
                    .value = "SECONDS",
                    .help = "Waits so long at most until all of them run."},
                   {.min = 1, .max = 1'000'000}, &wait_ms_);
  flags.AddInteger({.name = "interval_ms",
                    .value = "MS",
                    .help = "How often --wait asks (1000)."},
                   {.min = 1, .max = 1'000'000}, &interval_ms_);
}

absl::Status SubmitCommand::TakeArguments(std::vector<std::string> arguments) {
  RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 1));
  name_ = std::move(arguments.front());
  if (name_.empty()) return absl::InvalidArgumentError("NAME is empty");
  if (job_.empty()) job_ = name_;
  return absl::OkStatus();
}

absl::Status SubmitCommand::Run(const CommandContext& context) {
  Connection connection(context.options);
  RETURN_IF_ERROR(CheckNames(connection));
  const absl::Status sent = SendAll(context, connection);
  ShowSent(context);
  RETURN_IF_ERROR(sent);
  RETURN_IF_ERROR(ShowQuarantine(context, connection));
  if (wait_ms_ == 0 && !schedules_) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<v1::Task> tasks,
                   Await(context, connection));
  ShowPlaces(context, tasks);
  return wait_ms_ == 0 ? absl::OkStatus() : CheckPlaced(connection, tasks);
}

std::string SubmitCommand::TaskName(int64_t index) const {
  return count_ == 0 ? name_ : StrCat(name_, "-", index);
}

firmament::TaskDescription SubmitCommand::MakeTask(const Sent& task,
                                                   int64_t index) const {
  firmament::TaskDescription description;
  firmament::JobDescriptor& job = *description.mutable_job_descriptor();
  job.set_uuid(job_);
  job.set_name(job_);
  firmament::TaskDescriptor& message = *description.mutable_task_descriptor();
  message.set_uid(task.uid);
  message.set_name(task.name);
  message.set_job_id(job_);
  message.set_index(static_cast<uint64_t>(index));
  message.set_namespace_(namespace_);
  message.set_priority(priority_);
  firmament::ResourceVector& request = *message.mutable_resource_request();
  request.set_cpu_cores(static_cast<float>(cpu_millicores_));
  request.set_ram_cap(static_cast<uint64_t>(memory_millibytes_));
  request.mutable_extended_resources()->insert(resources_.begin(),
                                               resources_.end());
  for (const auto& [key, value] : labels_) {
    firmament::Label& label = *message.add_labels();
    label.set_key(key);
    label.set_value(value);
  }
  for (const auto& [key, value] : selectors_) {
    firmament::LabelSelector& selector = *message.add_label_selectors();
    selector.set_type(firmament::LabelSelector::IN_SET);
    selector.set_key(key);
    selector.add_values(value);
  }
  return description;
}

absl::Status SubmitCommand::CheckNames(Connection& connection) {
  std::set<std::string> names;
  for (int64_t i = 0; i < std::max<int64_t>(count_, 1); ++i) {
    names.insert(TaskName(i));
  }
  ASSIGN_OR_RETURN(const v1::ListTasksResponse listed,
                   connection.ListTasks({}));
  for (const v1::Task& task : listed.tasks()) {
    uids_in_use_.insert(task.uid());
    if (HasEnded(task.state()) || !names.contains(task.name())) continue;
    return absl::AlreadyExistsError(
        StrCat("there is a task ", Quoted(task.name()),
               " already: ", Printable(TaskIdText(task), kShownBytes), ", ",
               TaskStateName(task.state())));
  }
  return absl::OkStatus();
}

absl::Status SubmitCommand::SendAll(const CommandContext& context,
                                    Connection& connection) {
  ASSIGN_OR_RETURN(const uint64_t seed, RandomSeed());
  Rng uids(seed);
  const auto stub =
      firmament::FirmamentScheduler::NewStub(connection.channel());
  const int64_t count = std::max<int64_t>(count_, 1);
  Progress progress(context, "tasks", count);
  for (int64_t i = 0; i < count; ++i) {
    Sent task = {.name = TaskName(i)};
    do {
      task.uid = static_cast<uint64_t>(uids.Between(1, kUidEnd - 1));
    } while (!uids_in_use_.insert(task.uid).second);
    const std::string shown = StrCat("task ", Quoted(task.name));
    firmament::TaskSubmittedResponse reply;
    RETURN_IF_ERROR(Annotate(
        connection.StatusOf(stub->TaskSubmitted(connection.MakeContext().get(),
                                                MakeTask(task, i), &reply)),
        shown));
    if (const Answer answer = AnswerOf(reply); !answer.is_done) {
      return absl::FailedPreconditionError(
          StrCat(shown, ", uid ", task.uid, ": ", answer.name));
    }
    sent_.push_back(task);
    progress.Show(i + 1);
  }
  return absl::OkStatus();
}

void SubmitCommand::ShowSent(const CommandContext& context) const {
  std::ostream& out = context.console.out;
  if (context.options.wants_json()) {
    for (const Sent& task : sent_) {
      out << "{\"submitted\":\"" << task.uid
          << "\",\"name\":" << JsonString(task.name) << "}\n";
    }
  } else if (!sent_.empty()) {
    Table table({{"TASK"}, {"UID", Align::kRight}});
    for (const Sent& task : sent_) table.AddRow({task.name, StrCat(task.uid)});
    table.Print(out);
  }
  out.flush();
}

absl::Status SubmitCommand::ShowQuarantine(const CommandContext& context,
                                           Connection& connection) const {
  QuarantineReport quarantine;
  for (const Sent& task : sent_) quarantine.NoteTask(task.uid);
  RETURN_IF_ERROR(
      Annotate(quarantine.Ask(connection), "cannot list what is quarantined"));
  if (quarantine.empty()) return absl::OkStatus();
  if (context.options.wants_json()) {
    quarantine.PrintJson(context.console.out);
  } else {
    context.console.out << '\n';
    quarantine.PrintTable(context.console.out);
  }
  return absl::FailedPreconditionError(
      StrCat("tasks that are quarantined: ", quarantine.size()));
}

absl::Status SubmitCommand::Schedule(const CommandContext& context,
                                     Connection& connection) const {
  ASSIGN_OR_RETURN(const firmament::SchedulingDeltas told,
                   connection.Schedule());
  std::set<uint64_t> own;
  for (const Sent& task : sent_) own.insert(task.uid);
  const auto foreign = std::ranges::count_if(
      told.deltas(), [&](const firmament::SchedulingDelta& delta) {
        return !own.contains(delta.task_id());
      });
  if (foreign > 0) {
    context.console.err << "sluicectl: decisions about other tasks that "
                           "--schedule took from their client: "
                        << foreign << '\n';
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Task>> SubmitCommand::Look(
    Connection& connection) const {
  v1::ListTasksRequest request;
  request.set_job(job_);
  absl::StatusOr<v1::ListTasksResponse> listed =
      connection.ListTasks(std::move(request));
  // A job whose tasks are gone is gone, too.
  if (!listed.ok() && !absl::IsNotFound(listed.status())) {
    return listed.status();
  }
  std::map<uint64_t, const v1::Task*> by_uid;
  if (listed.ok()) {
    for (const v1::Task& task : listed->tasks()) by_uid[task.uid()] = &task;
  }
  std::vector<v1::Task> tasks(sent_.size());
  for (size_t i = 0; i < sent_.size(); ++i) {
    const auto found = by_uid.find(sent_[i].uid);
    if (found != by_uid.end()) tasks[i] = *found->second;
  }
  return tasks;
}

bool Waits(const v1::Task& task) {
  return task.uid() != 0 && task.state() != v1::Task::RUNNING &&
         !HasEnded(task.state());
}

absl::StatusOr<std::vector<v1::Task>> SubmitCommand::Await(
    const CommandContext& context, Connection& connection) {
  const Clock& clock = context.clock;
  const int64_t end_us = clock.MonotonicUs() + wait_ms_ * 1000;
  Progress progress(context, "tasks run", std::ssize(sent_));
  while (true) {
    if (schedules_) RETURN_IF_ERROR(Schedule(context, connection));
    ASSIGN_OR_RETURN(std::vector<v1::Task> tasks, Look(connection));
    const auto waiting = std::ranges::count_if(tasks, &Waits);
    progress.Show(std::ssize(tasks) - waiting);
    const int64_t now_us = clock.MonotonicUs();
    if (waiting == 0 || now_us >= end_us) return tasks;
    RestUntil(clock, std::min(now_us + interval_ms_ * 1000, end_us));
  }
}

void SubmitCommand::ShowPlaces(const CommandContext& context,
                               const std::vector<v1::Task>& tasks) const {
  std::ostream& out = context.console.out;
  Table table({{"TASK"}, {"UID", Align::kRight}, {"STATE"}, {"MACHINE"}});
  for (size_t i = 0; i < tasks.size(); ++i) {
    const v1::Task& task = tasks[i];
    const std::string state(task.uid() == 0 ? "gone"
                                            : TaskStateName(task.state()));
    if (context.options.wants_json()) {
      out << "{\"uid\":\"" << sent_[i].uid
          << "\",\"name\":" << JsonString(sent_[i].name) << ",\"state\":\""
          << state << "\",\"machine\":" << JsonString(task.machine_name())
          << ",\"machineUuid\":" << JsonString(task.machine_uuid()) << "}\n";
      continue;
    }
    const std::string machine =
        NameOrId(task.machine_name(), task.machine_uuid());
    table.AddRow({sent_[i].name, StrCat(sent_[i].uid), state,
                  machine.empty() ? "-" : machine});
  }
  if (context.options.wants_json()) return;
  out << '\n';
  table.Print(out);
}

absl::Status SubmitCommand::CheckPlaced(
    Connection& connection, const std::vector<v1::Task>& tasks) const {
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::string shown = StrCat("task ", Quoted(sent_[i].name));
    if (tasks[i].uid() == 0) {
      return absl::AbortedError(StrCat(shown, ": somebody removed it"));
    }
    if (tasks[i].state() == v1::Task::FAILED) {
      return absl::AbortedError(StrCat(shown, ": it failed"));
    }
    if (!Waits(tasks[i])) continue;
    v1::ExplainTaskRequest question;
    question.set_task(StrCat(sent_[i].uid));
    ASSIGN_OR_RETURN(const v1::TaskExplanation explanation,
                     connection.ExplainTask(question));
    return absl::DeadlineExceededError(
        StrCat(std::ranges::count_if(tasks, &Waits), " of ", tasks.size(),
               " wait after ", wait_ms_ / 1000, " s; ", shown, ": ",
               Printable(explanation.summary(), kSummaryBytesMax)));
  }
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<Command> MakeSubmitCommand() {
  return std::make_unique<SubmitCommand>();
}

}  // namespace sluice
