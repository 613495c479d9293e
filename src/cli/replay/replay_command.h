// `sluicectl replay`: plays a recorded trace to a running daemon.

#ifndef SLUICE_CLI_REPLAY_REPLAY_COMMAND_H_
#define SLUICE_CLI_REPLAY_REPLAY_COMMAND_H_

#include <memory>

#include "cli/base/command.h"

namespace sluice {

std::unique_ptr<Command> MakeReplayCommand();

}  // namespace sluice

#endif  // SLUICE_CLI_REPLAY_REPLAY_COMMAND_H_
