// The connection of a feed's client as the loop sees it, and what is exchanged
// on it (sluice/v1/feed.proto).
//
// Threads: values; see FeedSession for its own.

#ifndef SLUICE_CLIENTS_FEED_SESSION_H_
#define SLUICE_CLIENTS_FEED_SESSION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "state/command.h"
#include "state/delta.h"
#include "state/feed.h"

namespace sluice {

// What is wrong with one event.  Numbered as FeedProblem.Code.
struct FeedProblem {
  enum class Code {
    kInvalid = 1,
    kMalformed = 2,
    kUnknown = 3,
    kNotYours = 4,
    kNotPlacedThere = 5,
  };
  uint64_t sequence = 0;
  Code code = Code::kInvalid;
  std::string message;
};

// What a client sent at once, as far as the edge could check it.
struct FeedBatch {
  struct Entry {
    uint64_t sequence = 0;
    FeedEvent event;
  };
  // Its name; only in the first batch of a session, which begins a snapshot.
  std::string feed;
  std::vector<Entry> events;  // Ascending.
  uint64_t up_to = 0;         // The last sequence that it covers; 0: none.
  uint64_t deltas_received = 0;
  std::vector<FeedProblem> problems = {};
  // Samples, and the number of malformed ones.
  std::vector<ReportMachineUsage> machine_usage = {};
  std::vector<TaskMeasured> task_usage = {};
  int64_t malformed_samples = 0;
};

// What a client is told at once.
struct FeedNews {
  struct Entry {
    uint64_t sequence = 0;
    std::string task;
    DeltaType type = DeltaType::kPlace;
    std::string machine;
    std::string resource;
  };
  int batches = 0;              // Of the client, answered by this.
  uint64_t events_durable = 0;  // 0: nothing new.
  std::vector<FeedProblem> problems = {};
  int64_t problems_left_out = 0;  // For lack of room.
  std::vector<Entry> deltas = {};
  // Tasks, and the machine where room is kept for each; empty: none any more.
  std::vector<std::pair<std::string, std::string>> nominations = {};
  size_t bytes = 0;  // On the wire, at most.

  // True if there is nothing to tell.
  bool IsSilent() const {
    return events_durable == 0 && deltas.empty() && nominations.empty();
  }
  // True if it does nothing but acknowledge.
  bool IsOnlyAck() const {
    return problems.empty() && deltas.empty() && nominations.empty();
  }
};

// It must live until Release(), which follows CoreLoop::EndFeed().
class FeedSession {
 public:
  virtual ~FeedSession() = default;

  // All are called on the core thread, and none blocks.
  //
  // Returns true if what was told before has left.  If not, the session wakes
  // the loop up once it has.
  virtual bool AwaitReady() = 0;
  // REQUIRES: AwaitReady() returned true.  What is told after the end, or after
  // the client has gone, is dropped.
  virtual void Tell(FeedNews news) = 0;
  virtual void End(const absl::Status& status) = 0;
  // The loop no longer uses it.
  virtual void Release() = 0;
};

}  // namespace sluice

#endif  // SLUICE_CLIENTS_FEED_SESSION_H_
