#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/application.h"
#include "cli/commands.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "Lists the commands, or describes one of them",
    .description =
        R"(Lists the commands and the flags that all of them have, as --help does.  With
COMMAND, says what it does and lists its flags, as "sluicectl COMMAND --help"
does.
)",
    .example = "sluicectl help inject"};

class HelpCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    if (arguments.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 1));
    topic_ = std::move(arguments.front());
    for (const auto& command : MakeCommands()) {
      if (command->text().name == topic_) return absl::OkStatus();
    }
    return UnknownCommand(topic_);
  }

  absl::Status Run(const CommandContext& context) override {
    std::vector<std::string> arguments;
    if (!topic_.empty()) arguments.push_back(topic_);
    arguments.emplace_back("--help");
    RunSluicectl(arguments, context.console, context.clock);
    return absl::OkStatus();
  }

 private:
  std::string topic_;
};

}  // namespace

std::unique_ptr<Command> MakeHelpCommand() {
  return std::make_unique<HelpCommand>();
}

}  // namespace sluice
