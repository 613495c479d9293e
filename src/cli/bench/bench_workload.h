// The machines of a benchmark, all of one size, and its tasks, of some classes.
// If the profile has fillers, they are the first tasks.
//
// Threads: immutable after construction.

#ifndef SLUICE_CLI_BENCH_BENCH_WORKLOAD_H_
#define SLUICE_CLI_BENCH_BENCH_WORKLOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/bench/bench_profiles.h"
#include "firmament/firmament_scheduler.pb.h"

namespace sluice {

class BenchWorkload {
 public:
  // `profile` must outlive the workload.
  // Errors: kInvalidArgument if a machine would have to hold more tasks than
  // its amounts can express.
  static absl::StatusOr<BenchWorkload> Make(const BenchProfile& profile,
                                            const BenchSize& size,
                                            int64_t seed);

  const BenchProfile& profile() const { return profile_; }
  // Its tasks are those that are timed, without the fillers.
  const BenchSize& size() const { return size_; }
  int64_t filler_count() const {
    return profile_.fillers_per_machine * size_.machine_count;
  }
  int64_t task_count() const { return filler_count() + size_.task_count; }

  static std::string MachineUuid(int64_t index);
  // The tasks have the uids from TaskUid(0) up.
  static uint64_t TaskUid(int64_t index);
  // Both fill an empty message.
  void DescribeMachine(int64_t index,
                       firmament::ResourceTopologyNodeDescriptor* node) const;
  void DescribeTask(int64_t index,
                    firmament::TaskDescription* description) const;

 private:
  struct TaskClass {
    int64_t cpu_milli = 0;
    int64_t memory_mib = 0;
  };

  BenchWorkload(const BenchProfile& profile, const BenchSize& size,
                int64_t seed, int64_t tasks_per_machine);

  const BenchProfile& profile_;
  const BenchSize size_;
  const int64_t tasks_per_machine_;
  std::vector<TaskClass> classes_;
  std::vector<int64_t> class_of_task_;
};

}  // namespace sluice

#endif  // SLUICE_CLI_BENCH_BENCH_WORKLOAD_H_
