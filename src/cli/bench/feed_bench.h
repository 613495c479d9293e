// The benchmark over a feed: sluicectl bench --feed.
//
// Threads: one.

#ifndef SLUICE_CLI_BENCH_FEED_BENCH_H_
#define SLUICE_CLI_BENCH_FEED_BENCH_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "cli/base/command.h"
#include "cli/base/report.h"
#include "cli/bench/bench_workload.h"

namespace sluice {

struct FeedBenchOptions {
  bool resyncs = false;
  int64_t latency_count = 0;
  bool keeps = false;
};

// States the machines, then the tasks, until all are placed; then what the
// options ask for; and at last, unless it keeps it, an empty snapshot, which
// removes everything.
// Messages are built while the clock runs.  Fillers are placed before it runs,
// and what the daemon stops is gone as soon as that is told.
// Errors: of the call, and where a task was not placed; kFailedPrecondition
// where the daemon would have to stop fillers and does not.
absl::StatusOr<Report> RunFeedBench(const CommandContext& context,
                                    const BenchWorkload& workload,
                                    const FeedBenchOptions& options);

}  // namespace sluice

#endif  // SLUICE_CLI_BENCH_FEED_BENCH_H_
