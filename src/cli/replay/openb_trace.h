// The openb traces of GPU clusters: a list of machines and one of pods, in CSV
// (github.com/alibaba/clusterdata, cluster-trace-gpu-v2023).
//
// Columns are found by name, in any order; those not named here are skipped:
//   machines  sn, cpu_milli, memory_mib, gpu, model
//   pods      name, cpu_milli, memory_mib, num_gpu; optional: gpu_spec, qos,
//             creation_time, deletion_time (seconds)
//
// GPUs are whole: a pod that asks for a part of one (gpu_milli below 1000, with
// num_gpu 1) counts as asking for it all.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_REPLAY_OPENB_TRACE_H_
#define SLUICE_CLI_REPLAY_OPENB_TRACE_H_

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firmament/firmament_scheduler.pb.h"
#include "firmament/resource_topology_node_desc.pb.h"

namespace sluice {

inline constexpr char kGpuResource[] = "nvidia.com/gpu";
inline constexpr char kGpuModelLabel[] = "gpu-model";

struct TraceMachine {
  std::string sn;
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int64_t gpus = 0;
  // The model of its GPUs; empty if it has none.
  std::string model;
};

struct TracePod {
  std::string name;
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int64_t gpus = 0;
  // The accepted models of GPUs, separated by bars; empty means any.
  std::string gpu_spec;
  std::string qos;
  // Seconds since the trace began; kNever if the pod stays.
  int64_t creation_s = 0;
  int64_t deletion_s = kNever;

  static constexpr int64_t kNever = INT64_MAX;
};

struct TracePods {
  std::vector<TracePod> pods;
  // True if the file has creation times; otherwise all are 0.
  bool has_times = false;
};

// Errors begin with `name` and give the line and the column.
absl::StatusOr<std::vector<TraceMachine>> ReadTraceMachines(
    std::string name, std::istream& input);
absl::StatusOr<TracePods> ReadTracePods(std::string name, std::istream& input);

// The request that adds `machine`: with one processing unit, everything
// allocatable, and the model of its GPUs as a label.
firmament::ResourceTopologyNodeDescriptor MachineMessage(
    const TraceMachine& machine);

// The request that submits `pod` as task `uid`.  Pods of the same shape and
// class of service are one job, since the trace does not name their owners.
firmament::TaskDescription PodMessage(const TracePod& pod, uint64_t uid);

}  // namespace sluice

#endif  // SLUICE_CLI_REPLAY_OPENB_TRACE_H_
