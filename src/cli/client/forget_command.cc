#include <memory>
#include <ostream>

#include "base/status_macros.h"
#include "cli/client/answer.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "forget",
    .arguments = "",
    .summary = "Forgets what a client that began anew has not announced again",
    .description =
        R"(Forgets the machines and tasks that "status" calls stale: a client that began
anew has not announced them again.  This frees what these tasks use, so be sure
that they no longer run.
)"};

void PrintForgotten(const v1::ForgetStaleResponse& forgotten,
                    std::ostream& out) {
  out << "forgotten: " << forgotten.machines() << " machines, "
      << forgotten.tasks() << " tasks\n";
}

class ForgetCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    ASSIGN_OR_RETURN(const v1::ForgetStaleResponse forgotten,
                     connection.ForgetStale());
    PrintAnswer(context, forgotten, &PrintForgotten);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Command> MakeForgetCommand() {
  return std::make_unique<ForgetCommand>();
}

}  // namespace sluice
