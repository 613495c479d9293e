// The commands that ask a daemon or tell it something; each is one file,
// NAME_command.cc.

#ifndef SLUICE_CLI_CLIENT_COMMANDS_H_
#define SLUICE_CLI_CLIENT_COMMANDS_H_

#include <memory>

#include "cli/base/command.h"

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
std::unique_ptr<Command> MakeSubmitCommand();
std::unique_ptr<Command> MakeRemoveCommand();

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_COMMANDS_H_
