// One command of sluicectl.
//
// The application makes a command, lets it declare its flags, parses the
// command line into them, has the remaining arguments checked, and runs it.
//
// Threads: none; a command runs on the main thread.

#ifndef SLUICE_CLI_BASE_COMMAND_H_
#define SLUICE_CLI_BASE_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/flag_set.h"
#include "cli/base/console.h"
#include "cli/base/exit_code.h"
#include "cli/base/identity.h"
#include "sluice/base/clock.h"

namespace sluice {

// The options of all commands.
struct GlobalOptions {
  std::string server = "127.0.0.1:9090";
  Identity identity;
  // "table" or "json".
  std::string output = "table";
  // How long one call may take; 0 means for ever.
  int64_t timeout_s = 60;
  // True if progress is shown even if standard error is not a terminal.
  bool shows_progress = false;

  bool wants_json() const { return output == "json"; }
};

// What a command works with while it runs.
struct CommandContext {
  const GlobalOptions& options;
  const Console& console;
  const Clock& clock;
};

class Command {
 public:
  // How the command appears in help texts.
  struct Text {
    std::string_view name;
    // What follows the name, e.g. "FILE|-"; may be empty.
    std::string_view arguments;
    // One line without a full stop.
    std::string_view summary;
    // Paragraphs of at most 80 columns, each ending with a newline.
    std::string_view description;
    // A complete command line, "sluicectl explain 17"; may be empty.
    std::string_view example = {};
  };

  virtual ~Command() = default;

  virtual Text text() const = 0;

  // Declares the command's own flags; their targets are its members.
  virtual void AddFlags(FlagSet&) {}

  // Takes the arguments that are not flags; by default there are none.  Called
  // once, with the flags set.
  // Errors: kInvalidArgument if the user must be told the usage.
  virtual absl::Status TakeArguments(std::vector<std::string> arguments);

  // Errors: whatever keeps the command from doing its work.
  virtual absl::Status Run(const CommandContext& context) = 0;

  // The exit code for an error of Run().
  virtual int ExitCode(const absl::Status&) const { return kExitFailure; }
};

// `text.arguments` names at least `count` arguments.
// Errors: kInvalidArgument, unless there are `count` arguments, that says which
// is missing or too many, with the command's usage and example.
absl::Status CheckArgumentCount(const Command::Text& text,
                                const std::vector<std::string>& arguments,
                                size_t count);

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_COMMAND_H_
