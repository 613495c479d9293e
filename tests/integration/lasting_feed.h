// A client of a feed that knows several daemons: it connects to one after the
// other until one takes its feed, states its cluster there, and goes on until
// another one leads.  Whatever was durable, and every place that it was told,
// each new leader has to know before it is stated anew.
//
// Threads: Run() has one and starts another one; the rest by any.

#ifndef SLUICE_TESTS_INTEGRATION_LASTING_FEED_H_
#define SLUICE_TESTS_INTEGRATION_LASTING_FEED_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/rng.h"
#include "integration/answer_log.h"
#include "integration/client.h"
#include "integration/feed_client.h"
#include "integration/lasting_client.h"
#include "integration/replica_group.h"
#include "sluice/base/clock.h"

namespace sluice {

class LastingFeed final : public LastingClient {
 public:
  LastingFeed(const ReplicaGroup& group, AnswerLog& answers, uint64_t seed);

  void Run() override;
  std::string Summary() const override;

 private:
  struct Task {
    int64_t cpu = 0;
    uint32_t priority = 0;
    bool is_durable = false;
    bool is_gone = false;      // As stated; it may still be known.
    std::string machine = {};  // Where it was told to run.
    bool is_bound = false;     // It runs there, as stated.
    bool leaves = false;       // It was told to.
  };

  // One connection, from its beginning to its end.
  void Connect(size_t replica);
  bool StateAll();
  // A few changes.  Returns whether the connection goes on.
  bool Step();
  void StateTask(const std::string& id, const Task& task);
  // Until all that was stated is durable.
  bool Settle();
  void Take(const v1::FeedDelta& delta);
  void CheckRoom(const std::string& machine);
  // What that daemon knows, before it is told anything.  Returns whether it
  // said so.
  bool Compare(size_t replica);
  void CompareTasks(const std::vector<v1::Task>& tasks);
  // Breaks the connection off once another process has answered.
  void Watch();

  const ReplicaGroup& group_;
  AnswerLog& answers_;
  const SystemClock clock_;
  Rng rng_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::atomic<bool> has_ended_ = false;

  std::map<std::string, int64_t> machines_;  // With their millicores.
  std::map<std::string, Task> tasks_;
  int64_t next_task_ = 0;
  size_t deltas_taken_ = 0;
  int64_t placements_ = 0;
  int64_t comparisons_ = 0;

  Mutex
      feed_mutex_;  // Held where feed_ is made and ended, and to break it off.
  std::unique_ptr<FeedClient> feed_;
  Answer session_;  // Its process, and when it began.
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_LASTING_FEED_H_
