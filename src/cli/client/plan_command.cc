#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "base/flag_set.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/table.h"
#include "cli/client/answer.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "plan",
    .arguments = "",
    .summary = "Says what a round would stop and move, without doing it",
    .description =
        R"(Says which running tasks a round would move or stop now, and which waiting tasks
would get their room.  GAIN is what the task gains by its preferences, in cost
points, less what the move costs; COST is what a stop costs, in points of
--preemption_cost.  A plan is that of one round; the next rounds decide once
those tasks have left.  Nothing is done, whatever --preemption of the daemon
says.  The daemon's limits on moves count.
)"};

void PrintPlan(const v1::RebalancePlan& plan, std::ostream& out) {
  if (plan.is_too_large()) {
    out << "the cluster has more classes of tasks and kinds of machines than a "
           "round can look at together\n";
    return;
  }
  if (plan.machines_in_part() > 0) {
    out << "in a large cluster a round moves tasks in one part, here of "
        << plan.machines_in_part()
        << " machines; --preemption=priority says what it would stop\n";
  }
  if (plan.moves().empty() && plan.stops().empty()) {
    out << "nothing would be moved or stopped\n";
    return;
  }
  Table table({{"WHAT"},
               {"TASK"},
               {"FROM"},
               {"TO"},
               {"PRIORITY", Align::kRight},
               {"GAIN", Align::kRight},
               {"COST", Align::kRight}});
  int64_t gain = 0;
  int64_t cost = 0;
  for (const auto& move : plan.moves()) {
    table.AddRow({"move", NameOrId(move.task_name(), move.task()), move.from(),
                  move.to(), "", StrCat(move.gain()), ""});
    gain += move.gain();
  }
  for (const auto& stop : plan.stops()) {
    table.AddRow({"stop", NameOrId(stop.task_name(), stop.task()),
                  stop.machine(), "", StrCat(stop.priority()), "",
                  StrCat(stop.cost())});
    cost += stop.cost();
  }
  for (const auto& served : plan.served()) {
    table.AddRow({"keep room", NameOrId(served.task_name(), served.task()), "",
                  served.machine(), StrCat(served.priority()), "", ""});
  }
  table.Print(out);
  out << "moves " << plan.moves_size() << " with a gain of " << gain
      << ", stops " << plan.stops_size() << " at a cost of " << cost
      << ", and keeps room for " << plan.served_size() << '\n';
}

class PlanCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    flags.AddChoice({.name = "preemption",
                     .value = "MODE",
                     .help = "full: moves, and stops for more urgent tasks; "
                             "the default.\npriority: stops only."},
                    {"full", "priority"}, &preemption_);
  }
  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    v1::PlanRebalanceRequest request;
    request.set_preemption(preemption_ == "full"
                               ? v1::PlanRebalanceRequest::FULL
                               : v1::PlanRebalanceRequest::PRIORITY);
    ASSIGN_OR_RETURN(const v1::RebalancePlan plan,
                     connection.PlanRebalance(request));
    PrintAnswer(context, plan, &PrintPlan);
    return absl::OkStatus();
  }

 private:
  std::string preemption_ = "full";
};

}  // namespace

std::unique_ptr<Command> MakePlanCommand() {
  return std::make_unique<PlanCommand>();
}

}  // namespace sluice
