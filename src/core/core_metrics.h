// What the core loop counts and shows of itself and of the cluster.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_CORE_METRICS_H_
#define SLUICE_CORE_CORE_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "clients/replies.h"
#include "core/census.h"
#include "network/eligibility.h"
#include "observe/metrics.h"
#include "observe/rate_limited_log.h"
#include "round/scheduler.h"
#include "state/command.h"

namespace sluice {

// As metrics have it.
inline double Seconds(int64_t us) { return static_cast<double>(us) / 1e6; }

class CoreMetrics {
 public:
  // Both must outlive it.
  CoreMetrics(const Scheduler& scheduler, Metrics& metrics);

  void CountCommand(const Command& command, Ack ack);
  // Logs a line if the reply leaves out what is stale.  Walks over everything
  // if a client has begun anew since RefreshGauges() did.
  void CountReply(const ScheduleReply& reply, int64_t now_us);
  // A round that ended at `now_us`.
  void CountRound(const RoundStats& round, int64_t now_us);
  // Walks over everything once a second at most.
  void RefreshGauges(size_t mailbox_depth, int64_t now_us);

 private:
  void CountVerdicts();
  // Warns where there are more of them than before.
  void LogNamesakes(const Census& census);
  void CountRequeues(const RequeueRecord& record);
  // Walks over everything.
  void RefreshCensus(int64_t now_us);

  const Scheduler& scheduler_;
  Metrics& metrics_;
  std::array<Metrics::Counter*, std::variant_size_v<Command>> event_counters_;
  int64_t reused_uids_counted_ = 0;
  // Requeued tasks, by reason.
  int64_t lost_counted_ = 0;
  int64_t evicted_counted_ = 0;
  int64_t failed_counted_ = 0;
  EligibilityCounters verdicts_counted_;
  uint64_t newest_sequence_taken_ = 0;  // Of deltas, plus one.
  int64_t gauges_us_;                   // When they were refreshed,
  uint64_t gauges_version_ = 0;         // and as of which version.
  uint32_t census_stale_below_ = 0;     // As of then, as are the next three.
  int64_t namesakes_logged_ = 0;
  int64_t stale_tasks_ = 0;
  int64_t stale_machines_ = 0;
  RateLimiter round_log_{1};
  RateLimiter stale_log_{1};
};

}  // namespace sluice

#endif  // SLUICE_CORE_CORE_METRICS_H_
