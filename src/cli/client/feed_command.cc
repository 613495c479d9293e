#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/json.h"
#include "cli/client/commands.h"
#include "cli/client/event_line.h"
#include "cli/client/feed_client.h"
#include "cli/client/json_fault.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "feed",
    .arguments = "NAME FILE|-",
    .summary = "States a cluster over a feed, and prints what is decided",
    .description =
        R"(Opens the feed NAME, sends the events of FILE (- for standard input) as they
come, and prints each decision and each problem as the daemon tells it.  A line
holds one event of sluice.v1.FeedEvent in proto3's JSON mapping, without its
sequence:

  {"beginSnapshot": {}}
  {"machine": {"resourceDesc": {"uuid": "n1", "availableResources":
      {"cpuCores": 4000}}}}
  {"task": {"id": "web-1", "description": {"taskDescriptor": {"jobId": "web",
      "resourceRequest": {"cpuCores": 500}}}}}
  {"endSnapshot": {}}
  {"taskGone": {"id": "web-1"}}

In FILE each of them is on one line.  Blank lines and lines that begin with # or
// are skipped.  If a line makes no sense, the error has its number, and neither
that line nor anything after it is sent.

A feed begins with a snapshot: when that ends, whatever the feed stated before
and the snapshot leaves out is gone.  So --snapshot with an empty FILE removes
all that NAME ever stated.  Decisions are confirmed as they are printed.  At the
end of FILE the command waits until all is durable, and longer with --for.
)"};

constexpr int kPollMs = 20;
constexpr int64_t kSecondUs = 1000000;

// Reads lines as they come.
class LineReader {
 public:
  LineReader() = default;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader() {
    if (descriptor_ > STDIN_FILENO) close(descriptor_);
  }

  absl::Status Open(const std::string& path) {
    descriptor_ =
        path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ >= 0) return absl::OkStatus();
    return absl::NotFoundError(
        StrCat("cannot open ", path, ": ", std::strerror(errno)));
  }
  // The next line; nullopt at the end, or if none has come within `timeout_ms`.
  std::optional<std::string> Next(int timeout_ms) {
    size_t end = text_.find('\n', at_);
    if (end == std::string::npos && !is_over_) {
      Fill(timeout_ms);
      end = text_.find('\n', at_);
    }
    if (end == std::string::npos) {
      if (!is_over_ || at_ == text_.size()) return std::nullopt;
      end = text_.size();
    }
    std::string line = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    ++number_;
    return line;
  }
  bool HasEnded() const { return is_over_ && at_ == text_.size(); }
  int64_t number() const { return number_; }  // Of the last line.

 private:
  void Fill(int timeout_ms) {
    pollfd waiting = {descriptor_, POLLIN, 0};
    if (poll(&waiting, 1, timeout_ms) <= 0) return;
    text_.erase(0, std::exchange(at_, 0));
    char buffer[1 << 16];
    const ssize_t count = read(descriptor_, buffer, sizeof(buffer));
    if (count > 0) {
      text_.append(buffer, static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      is_over_ = true;
    }
  }

  int descriptor_ = -1;
  std::string text_;
  size_t at_ = 0;
  int64_t number_ = 0;
  bool is_over_ = false;
};

class FeedCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    flags.AddSwitch("snapshot",
                    "Makes FILE a snapshot: sends begin_snapshot before it "
                    "and\nend_snapshot after it.",
                    &is_snapshot_);
    flags.AddInteger({.name = "for",
                      .value = "SECONDS",
                      .help = "Goes on printing for this long after the end "
                              "of FILE (0)."},
                     {.min = 0, .max = 1'000'000'000}, &for_s_);
  }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 2));
    name_ = arguments[0];
    path_ = arguments[1];
    return absl::OkStatus();
  }

  absl::Status Run(const CommandContext& context) override {
    LineReader lines;
    RETURN_IF_ERROR(lines.Open(path_));
    FeedClient client(context, name_);
    const absl::Status sent = SendAll(context, lines, client);
    if (sent.ok()) {
      const int64_t end_us = context.clock.MonotonicUs() + for_s_ * kSecondUs;
      while (!has_ended_ && (durable_ < client.sequence() ||
                             context.clock.MonotonicUs() < end_us)) {
        PrintNews(context, client.Take(int64_t{kPollMs} * 1000));
        client.Confirm();
      }
    }
    FeedClient::News rest;
    const absl::Status status = client.Close(&rest);
    PrintNews(context, rest);
    RETURN_IF_ERROR(sent);
    RETURN_IF_ERROR(status);
    if (problems_ == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(
        StrCat(problems_, " of ", client.sequence(), " events had problems"));
  }

 private:
  // Sends events until the input or the call ends.
  absl::Status SendAll(const CommandContext& context, LineReader& lines,
                       FeedClient& client) {
    if (is_snapshot_) client.Add()->mutable_begin_snapshot();
    while (!lines.HasEnded() && !has_ended_) {
      const std::optional<std::string> line =
          lines.Next(client.added() == 0 ? kPollMs : 0);
      if (line.has_value()) {
        const absl::Status status = AddEvent(*line, client);
        if (!status.ok()) {
          client.Flush();
          return Annotate(status, LineName(path_, lines.number()));
        }
        client.FlushIfFull();
        if (client.added() > 0) continue;
      }
      client.Flush();
      PrintNews(context, client.Take(0));
      client.Confirm();
    }
    if (is_snapshot_) client.Add()->mutable_end_snapshot();
    client.Flush();
    return absl::OkStatus();
  }

  static absl::Status AddEvent(const std::string& line, FeedClient& client) {
    if (IsCommentLine(line)) return absl::OkStatus();
    v1::FeedEvent event;
    RETURN_IF_ERROR(ReadJson(line, &event));
    v1::FeedEvent* added = client.Add();
    event.set_sequence(added->sequence());
    *added = std::move(event);
    return absl::OkStatus();
  }

  void PrintNews(const CommandContext& context, const FeedClient::News& news) {
    std::ostream& out = context.console.out;
    const auto print = [&](const char* kind, const auto& message,
                           const std::string& text) {
      if (context.options.wants_json()) {
        out << "{\"" << kind << "\":" << JsonOf(message, JsonLayout::kOneLine)
            << "}\n";
      } else {
        out << text << '\n';
      }
    };
    for (const v1::FeedProblem& problem : news.problems) {
      print("problem", problem,
            StrCat("problem with event ", problem.sequence(), ": ",
                   problem.message()));
    }
    for (const v1::FeedDelta& delta : news.deltas) {
      print("delta", delta,
            StrCat(v1::FeedDelta::Type_Name(delta.type()), " ", delta.task(),
                   " ", delta.machine()));
    }
    out.flush();
    problems_ += news.problems.size();
    durable_ = std::max(durable_, news.events_durable);
    has_ended_ |= news.has_ended;
  }

  std::string name_;
  std::string path_;
  bool is_snapshot_ = false;
  int64_t for_s_ = 0;
  size_t problems_ = 0;
  uint64_t durable_ = 0;
  bool has_ended_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeFeedCommand() {
  return std::make_unique<FeedCommand>();
}

}  // namespace sluice
