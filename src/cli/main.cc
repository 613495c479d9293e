#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "cli/application.h"
#include "cli/base/console.h"
#include "cli/config_file.h"
#include "sluice/base/clock.h"

int main(int argc, char** argv) {
  // As in the daemon (src/server/main.cc).
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0),
                                           argv + argc);
  const sluice::SystemClock clock;
  return sluice::RunSluicectl(arguments, sluice::StandardConsole(), clock,
                              sluice::ConfigFilePath());
}
