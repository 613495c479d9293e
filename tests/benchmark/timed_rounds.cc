#include "benchmark/timed_rounds.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <variant>

namespace sluice {
namespace {

double Milliseconds() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void Shares::Report(benchmark::State* bench) {
  const auto rounds = static_cast<double>(totals.size());
  std::ranges::sort(totals);
  const auto part_of = [](int64_t part, int64_t all) {
    return static_cast<double>(part) /
           static_cast<double>(std::max<int64_t>(all, 1));
  };
  bench->counters["build_ms"] = build / rounds;
  bench->counters["solve_ms"] = solve / rounds;
  bench->counters["commit_ms"] = commit / rounds;
  bench->counters["p50_ms"] = totals[(totals.size() - 1) / 2];
  bench->counters["p99_ms"] = totals[(totals.size() - 1) * 99 / 100];
  bench->counters["longest_ms"] = longest;
  bench->counters["warm"] = part_of(warm_solves, solves);
  bench->counters["scans"] = part_of(scans, solves);
  bench->counters["passes"] = last.passes;
  bench->counters["placed"] = static_cast<double>(last.placed);
  bench->counters["arcs"] = static_cast<double>(last.arcs);
  bench->counters["gap"] = gap;
}

void RunRound(Scheduler* scheduler, RoundSolver* solver, Shares* shares,
              int64_t now_ms) {
  const double begin = Milliseconds();
  scheduler->StartRound(now_ms);
  while (true) {
    const double start = Milliseconds();
    const std::optional<RoundWork> work = scheduler->NextStep();
    const double built = Milliseconds();
    shares->build += built - start;
    shares->longest = std::max(shares->longest, built - start);
    if (!work.has_value()) break;
    const RoundAnswer answer = solver->Solve(*work).answer;
    const double solved = Milliseconds();
    if (const auto* flow = std::get_if<FlowSolution>(&answer)) {
      ++shares->solves;
      if (flow->is_warm) ++shares->warm_solves;
      shares->scans += flow->work.arc_scans;
    }
    shares->solve += solved - built;
    scheduler->FinishStep(answer);
    const double committed = Milliseconds();
    shares->commit += committed - solved;
    shares->longest = std::max(shares->longest, committed - solved);
  }
  shares->totals.push_back(Milliseconds() - begin);
  shares->last = scheduler->round_stats();
  shares->gap = shares->last.Gap().value_or(shares->gap);
}

ScheduleReply Deliver(ClusterState* state) {
  constexpr size_t kReplyBytesMax = size_t{1} << 30;
  Replies replies(state);
  ScheduleReply reply = replies.Take(kReplyBytesMax);
  replies.End(/*is_delivered=*/true);
  return reply;
}

}  // namespace sluice
