// What a client of the contract was told, and what follows from it whichever
// daemon answers: a model that knows the messages on the wire and nothing of
// the daemon.
//
// Its client makes one call after another, so that whenever it has an answer
// the daemon knows just what this says.
//
// Threads: none; confined to the client.

#ifndef SLUICE_TESTS_INTEGRATION_ACKNOWLEDGED_H_
#define SLUICE_TESTS_INTEGRATION_ACKNOWLEDGED_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "firmament/firmament_scheduler.pb.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {

class Acknowledged {
 public:
  struct Task {
    int64_t cpu = 0;
    std::string machine = {};  // Where it was told to run, or empty.
    bool leaves = false;       // It was told to.
    bool has_ended = false;
  };

  // Amounts in thousandths of a core.
  void AddMachine(const std::string& uuid, int64_t cpu);
  void AddTask(uint64_t uid, int64_t cpu);
  void TaskEnded(uint64_t uid);
  void TaskRemoved(uint64_t uid);
  // What a Schedule call was answered.
  void Decided(const firmament::SchedulingDeltas& reply);
  // What the daemon says that it knows, all of it.
  void Compare(const std::vector<v1::Machine>& machines,
               const std::vector<v1::Task>& tasks);

  const std::map<uint64_t, Task>& tasks() const { return tasks_; }
  size_t machines() const { return machines_.size(); }
  int64_t placements() const { return placements_; }

  // What cannot be, in the order in which it was found.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  void Placed(uint64_t uid, const std::string& resource);
  void ToldToLeave(uint64_t uid);
  void CompareTask(const v1::Task& task);

  std::map<std::string, int64_t> machines_;
  std::map<std::string, std::string> machine_of_resource_;
  std::map<uint64_t, Task> tasks_;
  int64_t placements_ = 0;
  std::vector<std::string> errors_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_ACKNOWLEDGED_H_
