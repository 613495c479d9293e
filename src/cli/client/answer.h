// What commands share when they print the answer of a daemon.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_CLIENT_ANSWER_H_
#define SLUICE_CLI_CLIENT_ANSWER_H_

#include <ostream>
#include <string>

#include "cli/base/command.h"
#include "cli/base/json.h"

namespace sluice {

// Prints `answer`, a message: as JSON if the user wants that, otherwise with
// print(answer, out).
template <class Answer, class Print>
void PrintAnswer(const CommandContext& context, const Answer& answer,
                 Print print) {
  std::ostream& out = context.console.out;
  if (context.options.wants_json()) {
    out << JsonOf(answer, JsonLayout::kIndented) << '\n';
  } else {
    print(answer, out);
  }
}

// What people call a thing: by its name, or by its id if it has none.
inline std::string NameOrId(const std::string& name, const std::string& id) {
  return name.empty() ? id : name;
}

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_ANSWER_H_
