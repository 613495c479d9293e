#include <cmath>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/json.h"
#include "cli/quantity.h"
#include "cli/resource_text.h"
#include "cli/table.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "status",
    .arguments = "",
    .summary = "Shows the daemon and the cluster in one screen",
    .description =
        R"(Shows the daemon (version, store, policies), how many machines, jobs and tasks
it knows, what is used of what the machines offer, and its newest round.

"Undelivered deltas" are decisions that no client is known to have.
)"};

void PrintUse(const v1::Status& status, std::ostream& out) {
  const v1::Resources& used = status.used();
  const v1::Resources& offered = status.allocatable();
  Table table({{"RESOURCE"},
               {"USED", Align::kRight},
               {"ALLOCATABLE", Align::kRight},
               {"SHARE", Align::kRight}});
  const auto add = [&table](const std::string& name, int64_t part,
                            int64_t whole, std::string (*format)(int64_t)) {
    table.AddRow({name, format(part), format(whole), FormatShare(part, whole)});
  };
  const auto count = [](int64_t amount) { return StrCat(amount); };
  add("cpu", used.cpu_millicores(), offered.cpu_millicores(), FormatCpu);
  add("memory", used.memory_millibytes(), offered.memory_millibytes(),
      FormatMemory);
  add("ephemeral storage", used.ephemeral_storage_millibytes(),
      offered.ephemeral_storage_millibytes(), FormatMemory);
  add("pods", used.pods(), offered.pods(), count);
  for (const auto& [name, use] : ExtendedUse(used, offered)) {
    add(name, use.used, use.allocatable, count);
  }
  table.Print(out);
}

// How far the round may be from the best possible one.
std::string GapText(const v1::Round& round) {
  if (!round.is_bound_known()) return "not worked out";
  if (round.gap_ratio() <= 0) return "none: as good as can be";
  const auto tenths = static_cast<int64_t>(std::ceil(round.gap_ratio() * 1000));
  return StrCat("at most ", tenths / 10, ".", tenths % 10,
                " % of its cost could be saved");
}

std::string_view StateName(v1::FeedState::State state) {
  switch (state) {
    case v1::FeedState::SNAPSHOT:
      return "states what there is";
    case v1::FeedState::LIVE:
      return "live";
    case v1::FeedState::LOST:
      return "not connected";
    case v1::FeedState::AWAY:
      return "away: what waits of it is not placed";
    case v1::FeedState::SETTLING:
      return "waits until its former clients can no longer act";
    case v1::FeedState::STATE_UNSPECIFIED:
    case v1::FeedState_State_FeedState_State_INT_MIN_SENTINEL_DO_NOT_USE_:
    case v1::FeedState_State_FeedState_State_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  return "?";
}

// Of what is rare.
std::string NonZero(int64_t count, std::string_view what) {
  return count == 0 ? "" : StrCat(", ", count, " ", what);
}

std::string FeedText(const v1::FeedState& feed) {
  const std::string term =
      feed.holder().empty()
          ? ""
          : StrCat("; term ", feed.term(), " of ", feed.holder());
  return StrCat(StateName(feed.state()), ", for ", FormatAge(feed.since_ms()),
                term, "; ", feed.tasks(), " tasks",
                NonZero(feed.untold_deltas(), "deltas to tell"),
                NonZero(feed.unconfirmed_deltas(), "deltas to be confirmed"));
}

void PrintStatus(const v1::Status& status, const std::string& server,
                 std::ostream& out) {
  std::string policies;
  for (const std::string& name : status.cost_models()) {
    policies += StrCat(policies.empty() ? "" : ", ", name);
  }
  Table table({{"SLUICED"}, {StrCat(status.version(), " at ", server)}});
  table.AddRow({"uptime", FormatAge(status.uptime_ms())});
  table.AddRow({"state version", StrCat(status.state_version())});
  table.AddRow({"store", status.store()});
  table.AddRow({"policies", policies});
  table.AddRow(
      {"machines",
       StrCat(status.machines(), " usable, ", status.departed_machines(),
              " departed, ", status.quarantined_machines(), " quarantined",
              NonZero(status.stale_machines(), "stale"))});
  table.AddRow({"jobs", StrCat(status.jobs())});
  table.AddRow({"tasks", StrCat(status.pending_tasks(), " pending, ",
                                status.running_tasks(), " running, ",
                                status.finished_tasks(), " finished, ",
                                status.quarantined_tasks(), " quarantined",
                                NonZero(status.muted_tasks(), "muted"),
                                NonZero(status.stale_tasks(), "stale"))});
  table.AddRow({"undelivered deltas", StrCat(status.undelivered_deltas())});
  for (const v1::FeedState& feed : status.feeds()) {
    table.AddRow({StrCat("feed ", feed.name()), FeedText(feed)});
  }
  if (status.has_last_round()) {
    const v1::Round& round = status.last_round();
    table.AddRow(
        {StrCat("round ", round.number()),
         StrCat(round.placed(), " placed, ", round.pending(), " pending, ",
                round.refused(), " refused, ", round.passes(), " passes")});
    table.AddRow(
        {"round time", StrCat(FormatMicroseconds(round.total_us()), " (build ",
                              FormatMicroseconds(round.build_us()), ", solve ",
                              FormatMicroseconds(round.solve_us()), ", commit ",
                              FormatMicroseconds(round.commit_us()), ")")});
    table.AddRow({"round gap", GapText(round)});
  }
  table.Print(out);
  out << '\n';
  PrintUse(status, out);
}

class StatusCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    return CheckArgumentCount(kText, arguments, 0);
  }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    ASSIGN_OR_RETURN(const v1::Status status, connection.GetStatus());
    std::ostream& out = context.console.out;
    if (context.options.wants_json()) {
      out << JsonOf(status, JsonLayout::kIndented) << '\n';
    } else {
      PrintStatus(status, context.options.server, out);
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Command> MakeStatusCommand() {
  return std::make_unique<StatusCommand>();
}

}  // namespace sluice
