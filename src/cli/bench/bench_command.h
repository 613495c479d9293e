// `sluicectl bench`: measures a running daemon.

#ifndef SLUICE_CLI_BENCH_BENCH_COMMAND_H_
#define SLUICE_CLI_BENCH_BENCH_COMMAND_H_

#include <memory>

#include "cli/base/command.h"

namespace sluice {

std::unique_ptr<Command> MakeBenchCommand();

}  // namespace sluice

#endif  // SLUICE_CLI_BENCH_BENCH_COMMAND_H_
