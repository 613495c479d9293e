// The commands of sluicectl; each is one file, NAME_command.cc.

#ifndef SLUICE_CLI_COMMANDS_H_
#define SLUICE_CLI_COMMANDS_H_

#include <memory>
#include <vector>

#include "cli/command.h"

namespace sluice {

std::unique_ptr<Command> MakeInjectCommand();
std::unique_ptr<Command> MakeStatusCommand();
std::unique_ptr<Command> MakeWatchCommand();
std::unique_ptr<Command> MakeMachinesCommand();
std::unique_ptr<Command> MakeTasksCommand();
std::unique_ptr<Command> MakeJobCommand();
std::unique_ptr<Command> MakeBudgetsCommand();
std::unique_ptr<Command> MakeExplainCommand();
std::unique_ptr<Command> MakeFeedCommand();
std::unique_ptr<Command> MakePlanCommand();
std::unique_ptr<Command> MakeNetworkCommand();
std::unique_ptr<Command> MakePoliciesCommand();
std::unique_ptr<Command> MakeDrainCommand();
std::unique_ptr<Command> MakeForgetCommand();
std::unique_ptr<Command> MakeRemoveCommand();
std::unique_ptr<Command> MakeReplayCommand();
std::unique_ptr<Command> MakeBenchCommand();
std::unique_ptr<Command> MakeSolveCommand();
std::unique_ptr<Command> MakeHelpCommand();
std::unique_ptr<Command> MakeVersionCommand();

// One of each, in the order in which help lists them.
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
