// Where a command writes: results to `out`, messages and progress to `err`.
//
// Threads: one; confined to the thread that runs the command.

#ifndef SLUICE_CLI_BASE_CONSOLE_H_
#define SLUICE_CLI_BASE_CONSOLE_H_

#include <iosfwd>

namespace sluice {

struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // True if `err` is a terminal, where progress may redraw its line.
  bool err_is_terminal = false;
};

// The standard streams of the process.
Console StandardConsole();

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_CONSOLE_H_
