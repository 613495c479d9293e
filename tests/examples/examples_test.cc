// A program of docs/feed-clients.md does what the page says: that of $EXAMPLE,
// or the one in C++.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/strings.h"
#include "integration/daemon_process.h"
#include "integration/shell_command.h"
#include "util/paths.h"

namespace sluice {
namespace {

TEST(Example, RunsWhatItIsToldToRun) {
  const char* const named = std::getenv("EXAMPLE");
  const std::string name = named == nullptr ? "feed_example" : named;
  DaemonProcess daemon({"--listen_address=127.0.0.1:0", "--http_address="});
  const int port = daemon.AwaitReady();
  EXPECT_EQ(OutputOf(StrCat(ProgramPath(name), " 127.0.0.1:", port)),
            "web-1 runs on node-1\nweb-2 runs on node-1\nexit code 0\n");
}

}  // namespace
}  // namespace sluice
