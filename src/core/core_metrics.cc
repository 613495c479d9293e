#include "core/core_metrics.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "core/census.h"

namespace sluice {
namespace {

constexpr int64_t kGaugesUs = 1000000;

// By the index of the command in its variant; the values of the label "kind".
constexpr std::array<std::string_view, std::variant_size_v<Command>>
    kCommandNames = {
        "submit_task",        "update_task",        "complete_task",
        "fail_task",          "remove_task",        "add_machine",
        "update_machine",     "remove_machine",     "add_foreign_pod",
        "remove_foreign_pod", "report_task_usage",  "report_machine_usage",
        "mute_task",          "begin_announcement", "end_announcement",
        "forget_stale",       "set_draining"};

// The levels that the metric and the log name one by one; the rest is one.
constexpr std::array<std::string_view, 8> kLevelNames = {"1", "2", "3", "4",
                                                         "5", "6", "7", "8"};

struct NamedGap {
  std::string_view name;
  std::optional<double> gap;  // Nullopt if no bound is known.
};

std::vector<NamedGap> GapsOf(const RoundStats& round) {
  std::vector<NamedGap> gaps;
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    gaps.push_back({kLevelNames[i], round.WaitingGap(i, i + 1)});
  }
  gaps.push_back({"rest", round.WaitingGap(kLevelNames.size(),
                                           round.cost.waiting.size())});
  gaps.push_back({"cost", round.PlacementGap()});
  gaps.push_back({"stops", round.stop_gap});
  return gaps;
}

// "13/1000", rounded up.
std::string GapText(std::optional<double> gap) {
  if (!gap.has_value()) return "unknown";
  return StrCat(std::llround(std::ceil(*gap * 1000)), "/1000");
}

// The gaps above 0: "2:13/1000,rest:4/1000".
std::string GapsText(const std::vector<NamedGap>& gaps) {
  if (!gaps.front().gap.has_value()) return "unknown";
  std::string text;
  for (const auto& [name, gap] : gaps) {
    if (gap.value_or(0) > 0) {
      text += StrCat(text.empty() ? "" : ",", name, ":", GapText(gap));
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace

CoreMetrics::CoreMetrics(const Scheduler& scheduler, Metrics& metrics)
    : scheduler_(scheduler), metrics_(metrics), gauges_us_(-kGaugesUs) {
  for (size_t i = 0; i < event_counters_.size(); ++i) {
    event_counters_[i] = &metrics_.events.With(kCommandNames[i]);
  }
}

void CoreMetrics::CountCommand(const Command& command, Ack ack) {
  event_counters_[command.index()]->Increment();
  if (!IsSample(command)) return;
  const bool is_of_machine =
      std::holds_alternative<ReportMachineUsage>(command);
  metrics_.usage_samples
      .With(ack != Ack::kOk ? "unknown"
            : is_of_machine ? "machine"
                            : "task")
      .Increment();
}

void CoreMetrics::CountReply(const ScheduleReply& reply, int64_t now_us) {
  for (const ScheduleReply::Entry& entry : reply.deltas) {
    metrics_.delta_deliveries.Increment();
    // A reply takes the oldest deltas, so all up to the newest one that was
    // ever taken have been in a reply before.
    if (entry.sequence < newest_sequence_taken_) {
      metrics_.redelivered_deltas.Increment();
    }
  }
  if (!reply.deltas.empty()) {
    newest_sequence_taken_ =
        std::max(newest_sequence_taken_, reply.deltas.back().sequence + 1);
  }
  // In the first second after a client begins anew, too.
  if (scheduler_.state().counters().stale_below != census_stale_below_) {
    RefreshCensus(now_us);
  }
  if (stale_tasks_ == 0 && stale_machines_ == 0) return;
  if (const auto suppressed = stale_log_.Admit(now_us)) {
    LOG(INFO) << "reply: deltas=" << reply.deltas.size()
              << " unscheduled=" << reply.unscheduled.size()
              << " stale_tasks=" << stale_tasks_
              << " stale_machines=" << stale_machines_
              << " (not mentioned since their client began anew, so the reply "
                 "leaves them out) replies_not_logged="
              << *suppressed;
  }
}

void CoreMetrics::CountRound(const RoundStats& round, int64_t now_us) {
  metrics_.longest_step.Observe(Seconds(round.longest_step_us));
  metrics_.rounds.Increment();
  metrics_.passes.Increment(round.passes);
  metrics_.evictions.Increment(static_cast<double>(round.evicted));
  metrics_.replacements.Increment(static_cast<double>(round.replaced));
  metrics_.preemptions.Increment(static_cast<double>(round.preempted));
  metrics_.moves.Increment(static_cast<double>(round.moved));
  metrics_.kept_by_budgets.Increment(
      static_cast<double>(round.left_alone + round.held_back + round.given_up));
  metrics_.exhausted_budgets.Set(static_cast<double>(round.exhausted_budgets));
  metrics_.nominated_tasks.Set(static_cast<double>(round.nominated));
  metrics_.unmet_minimums.Set(static_cast<double>(round.unmet_minimums));
  metrics_.placements.Increment(static_cast<double>(round.placed));
  metrics_.refused_placements.Increment(static_cast<double>(round.refused));
  metrics_.pass_conflicts.Increment(static_cast<double>(round.conflicts));
  metrics_.round_seconds.Observe(Seconds(round.total_us));
  const std::vector<NamedGap> gaps = GapsOf(round);
  // The gauge keeps its value until a round looks for a proof again.
  if (!round.skips_proof) {
    for (const auto& [level, gap] : gaps) {
      metrics_.round_gap.With(level).Set(
          gap.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    if (!round.is_bound_known) metrics_.unbounded_rounds.Increment();
  }
  CountVerdicts();
  if (round.passes == 0 && round.evicted == 0 && round.replaced == 0 &&
      round.preempted == 0 && round.moved == 0) {
    return;
  }
  if (const auto suppressed = round_log_.Admit(now_us)) {
    LOG(INFO) << "round=" << round.number << " passes=" << round.passes
              << " placed=" << round.placed << " pending=" << round.pending
              << " refused=" << round.refused << " evicted=" << round.evicted
              << " replaced=" << round.replaced
              << " preempted=" << round.preempted << " moved=" << round.moved
              << " nominated=" << round.nominated
              << " gap=" << GapText(round.Gap())
              << " level_gaps=" << GapsText(gaps)
              << " build_us=" << round.build_us
              << " solve_us=" << round.solve_us
              << " commit_us=" << round.commit_us
              << " total_us=" << round.total_us
              << " rounds_not_logged=" << *suppressed;
  }
}

void CoreMetrics::CountVerdicts() {
  const EligibilityCounters counters = scheduler_.eligibility().counters();
  const auto add = [](Metrics::Counter& counter, int64_t count) {
    counter.Increment(static_cast<double>(count));
  };
  add(metrics_.verdict_hits, counters.hits - verdicts_counted_.hits);
  add(metrics_.verdict_evaluations,
      counters.evaluations - verdicts_counted_.evaluations);
  add(metrics_.verdict_invalidations,
      counters.invalidations - verdicts_counted_.invalidations);
  verdicts_counted_ = counters;
}

void CoreMetrics::CountRequeues(const RequeueRecord& record) {
  const auto count = [this](std::string_view reason, int64_t now,
                            int64_t* counted) {
    metrics_.requeued_tasks.With(reason).Increment(
        static_cast<double>(now - *counted));
    *counted = now;
  };
  count("machine_failed", record.lost_count, &lost_counted_);
  count("evicted", record.evicted_count, &evicted_counted_);
  count("failed", record.failed_count, &failed_counted_);
}

void CoreMetrics::LogNamesakes(const Census& census) {
  constexpr size_t kShownBytes = 128;
  if (census.namesake_machines > namesakes_logged_) {
    LOG(WARNING) << census.namesake_machines
                 << " machines share their name with another one, for example '"
                 << Printable(census.shared_name, kShownBytes)
                 << "': such a name is ambiguous";
  }
  namesakes_logged_ = census.namesake_machines;
}

void CoreMetrics::RefreshGauges(size_t mailbox_depth, int64_t now_us) {
  const ClusterState& state = scheduler_.state();
  metrics_.mailbox_depth.Set(static_cast<double>(mailbox_depth));
  metrics_.undelivered_deltas.Set(static_cast<double>(state.outbox().size()));
  metrics_.state_version.Set(static_cast<double>(state.version()));
  metrics_.reserved_machines.Set(
      static_cast<double>(state.nominations().reservations().size()));
  metrics_.reused_uids.Increment(
      static_cast<double>(state.reused_uid_count() - reused_uids_counted_));
  reused_uids_counted_ = state.reused_uid_count();
  CountRequeues(state.requeues());
  // The rest walks over everything, so it is done once a second at most.
  if (now_us - gauges_us_ < kGaugesUs || state.version() == gauges_version_) {
    return;
  }
  RefreshCensus(now_us);
}

void CoreMetrics::RefreshCensus(int64_t now_us) {
  const ClusterState& state = scheduler_.state();
  gauges_us_ = now_us;
  gauges_version_ = state.version();
  census_stale_below_ = state.counters().stale_below;
  const Census census = TakeCensus(state);
  stale_tasks_ = census.stale_tasks;
  stale_machines_ = census.stale_machines;
  const auto set = [](Metrics::Gauge& gauge, int64_t value) {
    gauge.Set(static_cast<double>(value));
  };
  set(metrics_.machines, census.usable_machines + census.draining_machines +
                             census.stale_machines +
                             census.quarantined_machines);
  set(metrics_.quarantined_machines, census.quarantined_machines);
  LogNamesakes(census);
  set(metrics_.measured_machines, census.measured_machines);
  for (const auto& [name, i] :
       {std::pair("cpu", kCpu), std::pair("memory", kMemory)}) {
    const auto offered = static_cast<double>(census.allocatable[i]);
    metrics_.reclaimed.With(name).Set(
        offered > 0 ? static_cast<double>(census.reclaimed[i]) / offered : 0);
  }
  set(metrics_.quarantined_tasks, census.quarantined_tasks);
  set(metrics_.tasks.With("pending"), census.pending_tasks);
  set(metrics_.tasks.With("running"), census.running_tasks);
  set(metrics_.tasks.With("completed"), census.completed_tasks);
  set(metrics_.tasks.With("failed"), census.failed_tasks);
  set(metrics_.tasks.With("quarantined"), census.quarantined_tasks);
  set(metrics_.tasks.With("muted"), census.muted_tasks);
  set(metrics_.tasks.With("template"), census.templates);
  set(metrics_.stale_tasks, census.stale_tasks);
  set(metrics_.stale_machines, census.stale_machines);
  set(metrics_.draining_machines, census.draining_machines);
  set(metrics_.overcommitted_machines, census.overcommitted_machines);
  set(metrics_.pending_tasks.With("gang"), census.gang_tasks);
  set(metrics_.pending_tasks.With("no_room"),
      census.pending_tasks - census.gang_tasks - census.held_tasks -
          census.backoff_tasks - census.awaiting_tasks);
  set(metrics_.pending_tasks.With("unknown_machine"), census.awaiting_tasks);
  set(metrics_.pending_tasks.With("backoff"), census.backoff_tasks);
  set(metrics_.pending_tasks.With("feed"), census.held_tasks);
  set(metrics_.pending_tasks.With("muted"), census.muted_tasks);
  set(metrics_.pending_tasks.With("quarantined"), census.quarantined_tasks);
}

}  // namespace sluice
