#include "cli/base/progress.h"

#include <gtest/gtest.h>

#include <sstream>

#include "util/fake_clock.h"

namespace sluice {
namespace {

struct Fixture {
  CommandContext Context() {
    return {.options = options, .console = console, .clock = clock};
  }

  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  GlobalOptions options;
  Console console = {.in = in, .out = out, .err = err, .err_is_terminal = true};
  FakeClock clock;
};

TEST(Progress, DrawsOnATerminalAndWipesItself) {
  Fixture f;
  const CommandContext context = f.Context();
  {
    Progress progress(context, "events", 10);
    f.clock.AdvanceMs(2000);
    progress.Show(3);
  }
  EXPECT_EQ(f.err.str(), "\r\x1b[K3/10 events, 2 s\r\x1b[K");
  EXPECT_EQ(f.out.str(), "");
}

TEST(Progress, DrawsAtMostTenTimesASecond) {
  Fixture f;
  const CommandContext context = f.Context();
  Progress progress(context, "events", 0);
  progress.Show(1);
  EXPECT_EQ(f.err.str(), "");
  f.clock.AdvanceMs(100);
  progress.Show(2);
  f.clock.AdvanceMs(99);
  progress.Show(3);
  EXPECT_EQ(f.err.str(), "\r\x1b[K2 events, 0 s");
}

TEST(Progress, IsSilentWhereNobodyWatches) {
  Fixture f;
  f.console.err_is_terminal = false;
  const CommandContext context = f.Context();
  {
    Progress progress(context, "events", 10);
    f.clock.AdvanceMs(2000);
    progress.Show(3);
  }
  EXPECT_EQ(f.err.str(), "");
}

TEST(Progress, DrawsPlainlyWhereTheUserAsksForIt) {
  Fixture f;
  f.console.err_is_terminal = false;
  f.options.shows_progress = true;
  const CommandContext context = f.Context();
  {
    Progress progress(context, "events", 10);
    f.clock.AdvanceMs(1000);
    progress.Show(3);
  }
  EXPECT_EQ(f.err.str(), "\r3/10 events, 1 s\n");
}

}  // namespace
}  // namespace sluice
