#include <memory>
#include <ostream>
#include <string>

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
    .name = "budgets",
    .arguments = "",
    .summary = "Lists the disruption budgets and what each allows now",
    .description =
        R"(Lists the disruption budgets of jobs and of feeds by name, with their limits.
EXPECTED is how many tasks a budget should have, AVAILABLE how many of them run
and were not told to leave, and NEEDED how many of these have to stay.  ALLOWED
is how many more may be stopped or moved now; if that is less than AVAILABLE
minus NEEDED, the budget's own client says so.
)"};

std::string LimitText(const v1::Budget& budget) {
  return budget.min_available().empty()
             ? StrCat("max unavailable ", budget.max_unavailable())
             : StrCat("min available ", budget.min_available());
}

void PrintBudgets(const v1::ListBudgetsResponse& budgets, std::ostream& out) {
  Table table({{"NAME"},
               {"OF"},
               {"LIMIT"},
               {"EXPECTED", Align::kRight},
               {"AVAILABLE", Align::kRight},
               {"NEEDED", Align::kRight},
               {"ALLOWED", Align::kRight}});
  for (const v1::Budget& budget : budgets.budgets()) {
    table.AddRow({budget.name(),
                  budget.job_uuid().empty() ? StrCat("feed ", budget.feed())
                                            : StrCat("job ", budget.job_uuid()),
                  LimitText(budget), StrCat(budget.expected()),
                  StrCat(budget.available()), StrCat(budget.needed()),
                  StrCat(budget.allowed())});
  }
  table.Print(out);
}

class BudgetsCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    ASSIGN_OR_RETURN(const v1::ListBudgetsResponse budgets,
                     connection.ListBudgets());
    PrintAnswer(context, budgets, &PrintBudgets);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Command> MakeBudgetsCommand() {
  return std::make_unique<BudgetsCommand>();
}

}  // namespace sluice
