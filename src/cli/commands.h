// All commands of sluicectl.

#ifndef SLUICE_CLI_COMMANDS_H_
#define SLUICE_CLI_COMMANDS_H_

#include <memory>
#include <vector>

#include "cli/base/command.h"
#include "cli/bench/bench_command.h"
#include "cli/client/commands.h"
#include "cli/replay/replay_command.h"
#include "cli/solve/solve_command.h"

namespace sluice {

std::unique_ptr<Command> MakeHelpCommand();
std::unique_ptr<Command> MakeVersionCommand();

// All commands, in the order in which help lists them.
inline std::vector<std::unique_ptr<Command>> MakeCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(MakeInjectCommand());
  commands.push_back(MakeFeedCommand());
  commands.push_back(MakeStatusCommand());
  commands.push_back(MakeWatchCommand());
  commands.push_back(MakeMachinesCommand());
  commands.push_back(MakeTasksCommand());
  commands.push_back(MakeJobCommand());
  commands.push_back(MakeBudgetsCommand());
  commands.push_back(MakeExplainCommand());
  commands.push_back(MakePlanCommand());
  commands.push_back(MakeDrainCommand());
  commands.push_back(MakeNetworkCommand());
  commands.push_back(MakePoliciesCommand());
  commands.push_back(MakeForgetCommand());
  commands.push_back(MakeSubmitCommand());
  commands.push_back(MakeRemoveCommand());
  commands.push_back(MakeReplayCommand());
  commands.push_back(MakeBenchCommand());
  commands.push_back(MakeSolveCommand());
  commands.push_back(MakeHelpCommand());
  commands.push_back(MakeVersionCommand());
  return commands;
}

}  // namespace sluice

#endif  // SLUICE_CLI_COMMANDS_H_
