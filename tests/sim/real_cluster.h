// The machines and tasks as they really are, whatever anybody believes: where
// clients run tasks because they were told to.
//
// Threads: one.

#ifndef SLUICE_TESTS_SIM_REAL_CLUSTER_H_
#define SLUICE_TESTS_SIM_REAL_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/state/disruption_budget.h"
#include "sluice/state/job.h"
#include "sluice/state/task.h"

namespace sluice::sim {

class RealCluster {
 public:
  struct Machine {
    int64_t cpu = 0;
    bool has_gpu = false;
    bool is_present = true;
    int64_t used_cpu = 0;
    std::map<uint32_t, int64_t> used_of = {};  // By priority.
  };
  struct Task {
    int64_t cpu = 0;
    bool needs_gpu = false;
    uint32_t priority = 0;
    bool never_preempts = false;
    int32_t preemption_cost = 0;
    bool is_owned = false;  // By a controller, which submits others like it.
    std::string job = {};
    std::optional<DisruptionBudget> budget = {};  // Of the job.
    OnFailure on_failure = {};                    // The same.
  };

  // A machine that comes back still runs what it ran.
  void AddMachine(const std::string& uuid, int64_t cpu, bool has_gpu) {
    Machine& machine = machines_[uuid];
    machine.cpu = cpu;
    machine.has_gpu = has_gpu;
    machine.is_present = true;
  }
  // It goes away; what runs on it is collected sooner or later by those who
  // have asked to be told.
  void RemoveMachine(const std::string& uuid) {
    machines_.at(uuid).is_present = false;
    for (const auto& listener : listeners_) listener(uuid);
  }
  void OnRemoval(std::function<void(const std::string& uuid)> listener) {
    listeners_.push_back(std::move(listener));
  }
  bool IsPresent(const std::string& uuid) const {
    return machines_.at(uuid).is_present;
  }
  const Machine& machine(const std::string& uuid) const {
    return machines_.at(uuid);
  }

  // Runs the task there.  It is wrong (I1) where it does not fit.
  void Run(const std::string& name, const Task& task, const std::string& uuid) {
    Machine& machine = machines_.at(uuid);
    if (!MayRun(task, machine)) Fail(name + " may not run on " + uuid);
    machine.used_cpu += task.cpu;
    machine.used_of[task.priority] += task.cpu;
    if (machine.used_cpu > machine.cpu) Fail(uuid + " has too much");
  }
  void Stop(const Task& task, const std::string& uuid) {
    Machine& machine = machines_.at(uuid);
    machine.used_cpu -= task.cpu;
    machine.used_of[task.priority] -= task.cpu;
  }
  bool Fits(const Task& task, const std::string& uuid) const {
    const Machine& machine = machines_.at(uuid);
    return MayRun(task, machine) && machine.used_cpu + task.cpu <= machine.cpu;
  }

  // The same without all that is less urgent.
  bool FitsInstead(const Task& task, const std::string& uuid) const {
    const Machine& machine = machines_.at(uuid);
    int64_t used_cpu = 0;
    for (const auto& [priority, cpu] : machine.used_of) {
      if (priority >= task.priority) used_cpu += cpu;
    }
    return MayRun(task, machine) && used_cpu + task.cpu <= machine.cpu;
  }

  // Whoever finds something wrong says it here.
  void Fail(std::string_view what) { errors_.emplace_back(what); }
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  static bool MayRun(const Task& task, const Machine& machine) {
    return machine.has_gpu || !task.needs_gpu;
  }

  std::map<std::string, Machine> machines_;
  std::vector<std::function<void(const std::string&)>> listeners_;
  std::vector<std::string> errors_;
};

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_REAL_CLUSTER_H_
