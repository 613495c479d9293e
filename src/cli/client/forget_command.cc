#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "cli/base/json.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "forget",
    .arguments = "",
    .summary = "Forgets what a bridge that began anew did not mention again",
    .description =
        R"(Forgets the machines and tasks that "status" calls stale: a client that began
anew has not announced them again. What these tasks use is free then, so be sure
that they do not run any more.
)"};

class ForgetCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    return CheckArgumentCount(kText, arguments, 0);
  }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    ASSIGN_OR_RETURN(const v1::ForgetStaleResponse forgotten,
                     connection.ForgetStale());
    std::ostream& out = context.console.out;
    if (context.options.wants_json()) {
      out << JsonOf(forgotten, JsonLayout::kIndented) << '\n';
    } else {
      out << "forgotten: " << forgotten.machines() << " machines, "
          << forgotten.tasks() << " tasks\n";
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Command> MakeForgetCommand() {
  return std::make_unique<ForgetCommand>();
}

}  // namespace sluice
