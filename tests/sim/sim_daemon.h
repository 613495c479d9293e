// The daemon but for its sockets and its disk, on one thread: core loop, core,
// solver, records and recovery as they are shipped.  It can die at any moment
// and is started again from what its store has.  The store may be shared: when
// the process that leads stands still or is cut off, another one leads after a
// lease, whether or not the former one has ended.
//
// Threads: one.

#ifndef SLUICE_TESTS_SIM_SIM_DAEMON_H_
#define SLUICE_TESTS_SIM_SIM_DAEMON_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "loop/core_loop.h"
#include "observe/metrics.h"
#include "sim/faults.h"
#include "sim/real_cluster.h"
#include "sim/sim_store.h"
#include "sim/timeline.h"
#include "sim/workload.h"
#include "util/test_scheduler.h"

namespace sluice::sim {

class SimDaemon {
 public:
  // All must outlive it.
  SimDaemon(const Faults& faults, const Workload& workload, Timeline* timeline,
            Rng* rng, RealCluster* cluster);
  ~SimDaemon();

  // Its clients learn of a death, and then of what was recovered.
  struct Listener {
    std::function<void()> died;
    std::function<void(const ClusterState& recovered)> recovered;
    // After all that it does.
    std::function<void(const ClusterState&)> stepped = {};
  };
  void AddListener(Listener listener) {
    listeners_.push_back(std::move(listener));
  }

  // Hands something to the process that runs at the moment, if one does.
  void Deliver(const std::function<void(CoreLoop&)>& message);
  bool is_up() const { return process_ != nullptr; }
  // How many processes there were.
  uint64_t process_number() const { return process_count_; }
  // REQUIRES: is_up().
  const ClusterState& state() const;

  // Whether what is less urgent is stopped wherever the task then has room.
  bool MustStopFor(const RealCluster::Task& task) const;
  // Whether the machine is kept for one task that waits too long.
  bool IsReserved(std::string_view machine) const;
  bool MayMove() const;

  void Kill(Loss loss);
  // For a time, which may be longer than the lease.
  void Freeze();
  void CutOff();
  // How many times another process led before the former one had ended.
  uint64_t overlap_count() const { return overlap_count_; }
  void StopFailing();

 private:
  struct Process;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  void Start();
  // The process that leads does not lead any more.
  void End(Loss loss);
  // Nothing keeps the lease of the process that leads.
  void LetExpire();
  void TakeOver();
  // One that leads or has led; null if it has ended.
  Process* Find(uint64_t number);
  // What waits in the mailbox is handled a little later, together.
  void Wake(Process& process, int64_t delay_us);
  void Run(Process& process);
  // Runs `event` after the delay, in this process or not at all.
  void InProcess(const Process& process, int64_t delay_us,
                 std::function<void(Process&)> event);

  const Faults faults_;
  const Workload workload_;
  Timeline& timeline_;
  Rng& rng_;
  RealCluster& cluster_;
  SimStore store_;
  bool solves_fail_;
  std::unique_ptr<Process> process_;
  std::vector<std::unique_ptr<Process>> former_;  // They lead no more.
  uint64_t process_count_ = 0;
  uint64_t overlap_count_ = 0;
  std::vector<Listener> listeners_;
};

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_SIM_DAEMON_H_
