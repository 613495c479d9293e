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

// States the machines, then the tasks, and waits until all are placed; then
// does what `options` ask for.  In the end it states an empty snapshot, which
// removes everything, unless the options keep it.
//
// Messages are built while the clock runs.  Fillers are placed before that, and
// a task that the daemon stops is gone at once.
//
// Errors: those of the call; kInternal if a task was not placed;
// kFailedPrecondition if the daemon should stop fillers and does not.
absl::StatusOr<Report> RunFeedBench(const CommandContext& context,
                                    const BenchWorkload& workload,
                                    const FeedBenchOptions& options);

}  // namespace sluice

#endif  // SLUICE_CLI_BENCH_FEED_BENCH_H_
