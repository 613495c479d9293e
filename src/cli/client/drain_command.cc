#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/flag_set.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/progress.h"
#include "cli/base/rest.h"
#include "cli/base/table.h"
#include "cli/client/answer.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "sluice/base/clock.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "drain",
    .arguments = "MACHINE",
    .summary = "Moves what can move off a machine, and says why the rest stays",
    .description =
        R"(Drains MACHINE, a uuid or a name, as "kubectl drain" does: until the draining is
cancelled, nothing is placed there, and what runs there is moved.  Round by
round, as it finds places for their successors and within disruption budgets,
the daemon tells clients to end tasks.  The command says how many tasks have
left, were told to leave or are to be told next, and why the others stay.  Run
it again to see the progress.

With --wait it goes on until nothing more can move by itself, and fails if
something stays.  It waits for budgets as long as these allow no more.  Stopping
the command does not end the draining.
)",
    .example = "sluicectl drain node-1 --wait"};

int64_t CountHeld(const v1::Drain& drain, bool is_only_for_now) {
  int64_t count = 0;
  for (const v1::Drain::Held& held : drain.held()) {
    if (held.is_for_now() || !is_only_for_now) count += held.tasks();
  }
  return count;
}

bool IsUnderWay(const v1::Drain& drain) {
  return drain.leaving() > 0 || drain.movable() > 0 ||
         CountHeld(drain, /*is_only_for_now=*/true) > 0;
}

std::string NameOf(const v1::Drain& drain) {
  return NameOrId(drain.machine_name(), drain.machine_uuid());
}

void PrintDrain(const v1::Drain& drain, std::ostream& out) {
  if (!drain.is_draining()) {
    out << NameOf(drain) << " is not draining\n";
    return;
  }
  out << NameOf(drain) << " is draining: " << drain.left() << " have left, "
      << drain.leaving() << " were told to leave, " << drain.movable()
      << " are to be told, " << CountHeld(drain, /*is_only_for_now=*/false)
      << " stay\n";
  if (drain.held().empty()) return;
  Table table({{"TASKS", Align::kRight}, {"WHY"}, {"WHICH"}});
  for (const v1::Drain::Held& held : drain.held()) {
    std::string names;
    for (const std::string& name : held.task_names()) {
      names += StrCat(names.empty() ? "" : ", ", name);
    }
    if (held.task_names_size() < held.tasks()) names += ", ...";
    table.AddRow({StrCat(held.tasks()), held.text(), names});
  }
  table.Print(out);
}

class DrainCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    flags.AddSwitch("cancel",
                    "Ends the draining: the machine takes tasks again. Tasks\n"
                    "that were told to leave still leave.",
                    &cancels_);
    flags.AddSwitch("wait", "Goes on until nothing more can move by itself.",
                    &waits_);
    flags.AddInteger({.name = "interval_ms",
                      .value = "MS",
                      .help = "How often --wait asks (1000)."},
                     {.min = 1, .max = 1'000'000}, &interval_ms_);
  }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 1));
    if (cancels_ && waits_) {
      return absl::InvalidArgumentError(
          "--cancel is done at once: there is nothing to --wait for");
    }
    machine_ = std::move(arguments.front());
    return absl::OkStatus();
  }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    v1::DrainMachineRequest request;
    request.set_machine(machine_);
    request.set_cancel(cancels_);
    ASSIGN_OR_RETURN(v1::Drain drain, connection.DrainMachine(request));
    if (waits_) RETURN_IF_ERROR(Wait(context, &connection, &drain));
    PrintAnswer(context, drain, &PrintDrain);
    if (!waits_) return absl::OkStatus();
    if (!drain.is_draining()) {
      return absl::AbortedError(
          StrCat(NameOf(drain), ": somebody cancelled the draining"));
    }
    const int64_t held = CountHeld(drain, /*is_only_for_now=*/false);
    if (held == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(
        StrCat(NameOf(drain), ": tasks that stay: ", held));
  }

 private:
  absl::Status Wait(const CommandContext& context, Connection* connection,
                    v1::Drain* drain) const {
    const int64_t total = drain->left() + drain->leaving() + drain->movable() +
                          CountHeld(*drain, /*is_only_for_now=*/false);
    v1::GetDrainRequest request;
    // Another machine may have the name by then.
    request.set_machine(drain->machine_uuid());
    Progress progress(context, "tasks have left", total);
    while (drain->is_draining() && IsUnderWay(*drain)) {
      Rest(context.clock, interval_ms_ * 1000);
      ASSIGN_OR_RETURN(*drain, connection->GetDrain(request));
      progress.Show(drain->left());
    }
    return absl::OkStatus();
  }

  std::string machine_;
  bool cancels_ = false;
  bool waits_ = false;
  int64_t interval_ms_ = 1000;
};

}  // namespace

std::unique_ptr<Command> MakeDrainCommand() {
  return std::make_unique<DrainCommand>();
}

}  // namespace sluice
