#include <memory>
#include <ostream>

#include "cli/application.h"
#include "cli/base/json.h"
#include "cli/commands.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "version",
    .arguments = "",
    .summary = "Shows the version of sluicectl",
    .description =
        R"(Shows the version of this program, as --version does.  "sluicectl status" shows
that of the daemon.
)"};

class VersionCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status Run(const CommandContext& context) override {
    if (context.options.wants_json()) {
      context.console.out << "{\"version\": " << JsonString(ProgramVersion())
                          << "}\n";
    } else {
      context.console.out << "sluicectl version " << ProgramVersion() << '\n';
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Command> MakeVersionCommand() {
  return std::make_unique<VersionCommand>();
}

}  // namespace sluice
