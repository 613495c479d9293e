#include <memory>
#include <ostream>
#include <utility>

#include "base/status_macros.h"
#include "cli/base/table.h"
#include "cli/client/answer.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "policies",
    .arguments = "",
    .summary = "Lists the cost models (policies), and which are in force",
    .description =
        R"(Lists the cost models that the daemon knows, with what each reads, and which
of them are in force.  Their costs add up; the daemon's --cost_model chooses.
)"};

void PrintPolicies(const v1::ListPoliciesResponse& list, std::ostream& out) {
  Table table({{"POLICY"}, {"IN FORCE"}, {"READS"}, {"WHAT IT WANTS"}});
  for (const v1::ListPoliciesResponse::Policy& policy : list.policies()) {
    table.AddRow({policy.name(), policy.in_force() ? "yes" : "-",
                  policy.reads(), policy.summary()});
  }
  table.Print(out);
}

class PoliciesCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    ASSIGN_OR_RETURN(const v1::ListPoliciesResponse list,
                     connection.ListPolicies());
    PrintAnswer(context, list, &PrintPolicies);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Command> MakePoliciesCommand() {
  return std::make_unique<PoliciesCommand>();
}

}  // namespace sluice
