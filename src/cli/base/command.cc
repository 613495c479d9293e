#include "cli/base/command.h"

#include <utility>

#include "base/strings.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 64;

// The name of the argument at `index`, without what may also stand in its place
// or follow it: "FILE" of "NAME FILE|-".
std::string_view ArgumentName(std::string_view arguments, size_t index) {
  for (; index > 0; --index) arguments.remove_prefix(arguments.find(' ') + 1);
  return arguments.substr(0, arguments.find_first_of(" |."));
}

}  // namespace

absl::Status CheckArgumentCount(const Command::Text& text,
                                const std::vector<std::string>& arguments,
                                size_t count) {
  if (arguments.size() == count) return absl::OkStatus();
  const std::string fault =
      arguments.size() < count
          ? StrCat(ArgumentName(text.arguments, arguments.size()),
                   " is missing")
          : StrCat("'", Printable(arguments[count], kShownBytes),
                   "' is one argument too many");
  return absl::InvalidArgumentError(
      StrCat(fault, "; usage: sluicectl ", text.name,
             text.arguments.empty() ? "" : " ", text.arguments,
             text.example.empty() ? "" : "; for example: ", text.example));
}

absl::Status Command::TakeArguments(std::vector<std::string> arguments) {
  const std::vector<std::string> given = std::move(arguments);
  return CheckArgumentCount(text(), given, 0);
}

}  // namespace sluice
