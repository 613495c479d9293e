// The programs of docs/api.md do what the page says.

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/strings.h"
#include "integration/daemon_process.h"
#include "integration/shell_command.h"
#include "util/paths.h"

namespace sluice {
namespace {

TEST(Examples, RunWhatTheyAreToldToRun) {
  std::istringstream names(EXAMPLES);
  for (std::string name; names >> name;) {
    SCOPED_TRACE(name);
    DaemonProcess daemon({"--listen_address=127.0.0.1:0", "--http_address="});
    const int port = daemon.AwaitReady();
    EXPECT_EQ(OutputOf(StrCat(ProgramPath(name), " 127.0.0.1:", port)),
              "web-1 runs on node-1\nweb-2 runs on node-1\nexit code 0\n");
  }
}

}  // namespace
}  // namespace sluice
