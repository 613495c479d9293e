#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "base/percent.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/quantity.h"
#include "cli/base/table.h"
#include "cli/client/answer.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "cli/client/resource_text.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "status",
    .arguments = "",
    .summary = "Shows the daemon and the cluster in one screen",
    .description =
        R"(Shows the daemon (version, store, policies), how many machines, jobs and tasks
it knows, what is used of what the machines offer, and its newest round.  If
several daemons share a store in etcd, the leader answers: it shows itself, its
term, and for each follower how many batches of the store's log the follower has
not seen.  A follower that is not warm has yet to read the store.

Namesakes are machines that share their name with another.  Muted tasks are
those whose client has given their uid to another task, or no longer knows it:
those that wait are not placed.  "sluicectl tasks" lists each by the uid that it
had, and "sluicectl explain" knows it by its name.

"Undelivered deltas" are decisions that no client is known to have.  The "round
gap" is what a better round could save, as far as that is not ruled out; if
tasks of several priorities wait, a table shows it for each level of them.
)"};

// No more than this of an address is shown.
constexpr size_t kShownBytes = 256;

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
  return AtMostPercent(round.gap_ratio()) + " of its cost could be saved";
}

// How far the price of its stops may be from the lowest possible one.
std::string StopGapText(const v1::Round& round) {
  if (round.stop_gap_ratio() <= 0) return "no cheaper: as good as can be";
  return AtMostPercent(round.stop_gap_ratio()) +
         " of their price could be saved";
}

std::string PrioritiesText(const v1::RoundLevel& level) {
  if (!level.has_lowest_priority() && !level.has_highest_priority()) {
    return "all";
  }
  if (!level.has_highest_priority()) {
    return StrCat(level.lowest_priority(), " and above");
  }
  if (!level.has_lowest_priority()) {
    return StrCat(level.highest_priority(), " and below");
  }
  if (level.lowest_priority() == level.highest_priority()) {
    return StrCat(level.lowest_priority());
  }
  return StrCat(level.lowest_priority(), " to ", level.highest_priority());
}

// True if the levels say more than the round as a whole.
bool IsWorthLevels(const v1::Round& round) {
  int waiting = 0;
  bool has_gap = false;
  for (const v1::RoundLevel& level : round.levels()) {
    waiting += level.waiting_cost() > 0 ? 1 : 0;
    has_gap = has_gap || level.gap_ratio() > 0;
  }
  return waiting > 1 || (has_gap && round.levels_size() > 1);
}

void PrintLevels(const v1::Round& round, std::ostream& out) {
  Table table({{"LEVEL"},
               {"PRIORITY"},
               {"WAITING COST", Align::kRight},
               {"AT LEAST", Align::kRight},
               {"GAP", Align::kRight}});
  const auto add = [&](std::string level, std::string priority, int64_t cost,
                       int64_t bound, bool is_known, double gap) {
    table.AddRow({std::move(level), std::move(priority), StrCat(cost),
                  is_known ? StrCat(bound) : "?",
                  !is_known ? "?"
                  : gap > 0 ? AtMostPercent(gap)
                            : "none"});
  };
  for (int i = 0; i < round.levels_size(); ++i) {
    const v1::RoundLevel& level = round.levels(i);
    add(StrCat(i + 1), PrioritiesText(level), level.waiting_cost(),
        level.waiting_cost_bound(), round.is_bound_known(), level.gap_ratio());
  }
  add("cost", "(what is placed)", round.placement_cost(),
      round.placement_cost_bound(), round.has_placement_gap_ratio(),
      round.placement_gap_ratio());
  table.Print(out);
}

std::string_view StateName(v1::FeedState::State state) {
  switch (state) {
    case v1::FeedState::SNAPSHOT:
      return "is stating what there is";
    case v1::FeedState::LIVE:
      return "live";
    case v1::FeedState::LOST:
      return "not connected";
    case v1::FeedState::AWAY:
      return "away: its waiting tasks are not placed";
    case v1::FeedState::SETTLING:
      return "waits until its former clients can no longer act";
    case v1::FeedState::STANDBY:
      return "stands by: others lead";
    case v1::FeedState::STATE_UNSPECIFIED:
    case v1::FeedState_State_FeedState_State_INT_MIN_SENTINEL_DO_NOT_USE_:
    case v1::FeedState_State_FeedState_State_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  return "?";
}

// Empty for 0: rare things are shown only if there are any.
std::string NonZero(int64_t count, std::string_view what) {
  return count == 0 ? "" : StrCat(", ", count, " ", what);
}

// ", 3 preempted, 1 moved, 2 wait for others to leave", without zeros.
std::string PreemptionText(const v1::Round& round) {
  return StrCat(NonZero(round.preempted(), "preempted"),
                NonZero(round.moved(), "moved"),
                NonZero(round.nominated(), "wait for others to leave"));
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

std::string FollowerText(const v1::Follower& follower) {
  if (!follower.is_warm()) return "not warm: is reading the store";
  return follower.lag() == 0 ? "warm, up to date"
                             : StrCat("warm, ", follower.lag(), " behind");
}

void AddRound(const v1::Round& round, Table& table) {
  if (round.number() == 0) {
    table.AddRow({"round", "none yet: nothing was scheduled"});
    return;
  }
  table.AddRow({StrCat("round ", round.number()),
                StrCat(round.placed(), " placed, ", round.pending(),
                       " pending, ", round.refused(), " refused, ",
                       round.passes(), " passes", PreemptionText(round))});
  table.AddRow(
      {"round time", StrCat(FormatMicroseconds(round.total_us()), " (build ",
                            FormatMicroseconds(round.build_us()), ", solve ",
                            FormatMicroseconds(round.solve_us()), ", commit ",
                            FormatMicroseconds(round.commit_us()), ")")});
  table.AddRow({"round gap", GapText(round)});
  if (round.preempted() > 0 && round.has_stop_gap_ratio()) {
    table.AddRow({"stops", StopGapText(round)});
  }
}

void AddReplicas(const v1::Replicas& replicas, Table& table) {
  table.AddRow({"leader", StrCat(Printable(replicas.leader(), kShownBytes),
                                 ", term ", replicas.term())});
  for (const v1::Follower& follower : replicas.followers()) {
    table.AddRow({"follower", StrCat(Printable(follower.address(), kShownBytes),
                                     ": ", FollowerText(follower))});
  }
}

// Of machines, jobs and tasks.
void AddCounts(const v1::Status& status, Table& table) {
  table.AddRow(
      {"machines",
       StrCat(status.machines(), " usable, ", status.departed_machines(),
              " departed, ", status.quarantined_machines(), " quarantined",
              NonZero(status.stale_machines(), "stale"),
              NonZero(status.draining_machines(), "draining"),
              NonZero(status.overcommitted_machines(), "overcommitted"))});
  if (status.namesake_machines() > 0) {
    table.AddRow({"namesakes", StrCat(status.namesake_machines(),
                                      " machines share a name with another")});
  }
  table.AddRow({"jobs", StrCat(status.jobs())});
  table.AddRow({"tasks", StrCat(status.pending_tasks(), " pending, ",
                                status.running_tasks(), " running, ",
                                status.finished_tasks(), " finished, ",
                                status.quarantined_tasks(), " quarantined",
                                NonZero(status.muted_tasks(), "muted"),
                                NonZero(status.stale_tasks(), "stale"))});
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
  if (status.has_replicas()) AddReplicas(status.replicas(), table);
  table.AddRow({"policies", policies});
  AddCounts(status, table);
  table.AddRow({"undelivered deltas", StrCat(status.undelivered_deltas())});
  for (const v1::FeedState& feed : status.feeds()) {
    table.AddRow({StrCat("feed ", feed.name()), FeedText(feed)});
  }
  AddRound(status.last_round(), table);
  table.Print(out);
  if (IsWorthLevels(status.last_round())) {
    out << '\n';
    PrintLevels(status.last_round(), out);
  }
  out << '\n';
  PrintUse(status, out);
}

class StatusCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    ASSIGN_OR_RETURN(const v1::Status status, connection.GetStatus());
    PrintAnswer(context, status,
                [&context](const v1::Status& shown, std::ostream& out) {
                  PrintStatus(shown, context.options.server, out);
                });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Command> MakeStatusCommand() {
  return std::make_unique<StatusCommand>();
}

}  // namespace sluice
