#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/json.h"
#include "cli/base/rest.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "watch",
    .arguments = "",
    .summary = "Shows how the cluster changes, line by line",
    .description =
        R"(Prints a line every second until it is interrupted: how many machines may take
tasks; how many tasks wait, run, and are quarantined; how many decisions no
client is known to have; the newest round, and how many tasks it placed, stopped
and moved.  With --output=json each line is an object with all that "status"
shows.
)",
    .example = "sluicectl watch --interval_ms=500 --lines=20"};

// As many lines as fit on a small terminal.
constexpr int64_t kLinesOfPage = 20;

struct Column {
  std::string_view heading;
  int64_t (*value)(const v1::Status&);
};

constexpr std::array kColumns = {
    Column{"MACHINES", [](const v1::Status& s) { return s.machines(); }},
    Column{"PENDING", [](const v1::Status& s) { return s.pending_tasks(); }},
    Column{"RUNNING", [](const v1::Status& s) { return s.running_tasks(); }},
    Column{"QUARANTINED",
           [](const v1::Status& s) { return s.quarantined_tasks(); }},
    Column{"UNDELIVERED",
           [](const v1::Status& s) { return s.undelivered_deltas(); }},
    Column{"ROUND",
           [](const v1::Status& s) {
             return static_cast<int64_t>(s.last_round().number());
           }},
    Column{"PLACED",
           [](const v1::Status& s) { return s.last_round().placed(); }},
    Column{"STOPPED",
           [](const v1::Status& s) { return s.last_round().preempted(); }},
    Column{"MOVED",
           [](const v1::Status& s) { return s.last_round().moved(); }}};

// Right-aligned; a text that is wider than its column shifts the others.
void PrintCell(size_t index, const std::string& text, std::ostream& out) {
  constexpr size_t kWidth = 7;
  const size_t width = std::max(kColumns[index].heading.size(), kWidth);
  out << (index == 0 ? "" : "  ")
      << std::string(width - std::min(text.size(), width), ' ') << text;
}

class WatchCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    flags.AddInteger({.name = "interval_ms",
                      .value = "MS",
                      .help = "How often to ask (1000)."},
                     {.min = 1, .max = 1'000'000}, &interval_ms_);
    flags.AddInteger({.name = "lines",
                      .value = "COUNT",
                      .help = "Ends after this many lines; 0 is never (0)."},
                     {.min = 0, .max = 1'000'000'000}, &lines_);
  }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    std::ostream& out = context.console.out;
    for (int64_t line = 0; out.good(); ++line) {
      ASSIGN_OR_RETURN(const v1::Status status, connection.GetStatus());
      if (context.options.wants_json()) {
        out << JsonOf(status, JsonLayout::kOneLine) << '\n';
      } else {
        if (line % kLinesOfPage == 0) PrintHeadings(out);
        PrintLine(status, out);
      }
      out.flush();
      if (line + 1 == lines_) break;
      Rest(context.clock, interval_ms_ * 1000);
    }
    return absl::OkStatus();
  }

 private:
  static void PrintHeadings(std::ostream& out) {
    for (size_t i = 0; i < kColumns.size(); ++i) {
      PrintCell(i, std::string(kColumns[i].heading), out);
    }
    out << '\n';
  }

  static void PrintLine(const v1::Status& status, std::ostream& out) {
    for (size_t i = 0; i < kColumns.size(); ++i) {
      PrintCell(i, StrCat(kColumns[i].value(status)), out);
    }
    out << '\n';
  }

  int64_t interval_ms_ = 1000;
  int64_t lines_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeWatchCommand() {
  return std::make_unique<WatchCommand>();
}

}  // namespace sluice
