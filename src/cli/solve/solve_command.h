// `sluicectl solve`: solves a flow problem of a file, without a daemon.

#ifndef SLUICE_CLI_SOLVE_SOLVE_COMMAND_H_
#define SLUICE_CLI_SOLVE_SOLVE_COMMAND_H_

#include <memory>

#include "cli/base/command.h"

namespace sluice {

std::unique_ptr<Command> MakeSolveCommand();

}  // namespace sluice

#endif  // SLUICE_CLI_SOLVE_SOLVE_COMMAND_H_
