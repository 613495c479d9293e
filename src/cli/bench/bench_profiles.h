// The profiles of `sluicectl bench`: clusters and demands modeled on known
// benchmarks.
//
// The peers of a task are the tasks of its class, itself included: they have
// the label app=<job> in common.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_BENCH_BENCH_PROFILES_H_
#define SLUICE_CLI_BENCH_BENCH_PROFILES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "firmament/resource_desc.pb.h"
#include "firmament/task_desc.pb.h"

namespace sluice {

struct BenchSize {
  int64_t machine_count = 0;
  int64_t task_count = 0;
  int64_t class_count = 0;
};

struct BenchProfile {
  // What each task requires besides room.
  enum class Demand : uint8_t {
    kNothing,
    kFirstZone,         // Node affinity to zone1.
    kPeerAffinity,      // Pod affinity to its peers, by zone.
    kPeerAntiAffinity,  // Pod anti-affinity to its peers, by host name.
    kPeerSpread,        // Its peers spread over the zones.
  };

  std::string_view name = {};
  std::string_view help = {};   // What tasks require, in one line.
  std::string_view model = {};  // The benchmark it is modeled on, if any.
  BenchSize size = {};          // Unless flags say otherwise.
  Demand demand = Demand::kNothing;
  int64_t zone_count = 1;  // Machines are in zone1, zone2, ... in turn.
  // Tasks are in this many namespaces in turn.  If there are several, a
  // namespace selector finds peers in all of them.
  int64_t namespace_count = 1;
  // How many tasks of a lower priority fill each machine before others come.
  // Each of the others takes the room of all but one of them.  So no machine
  // has room for two of the others.
  int64_t fillers_per_machine = 0;

  // True if tasks refer to their peers.  Then all classes are of one size.
  bool HasPeers() const { return demand > Demand::kFirstZone; }
  // True if only a daemon that stops other tasks can place these.
  bool Preempts() const { return fillers_per_machine > 0; }
};

// The default comes first.
std::span<const BenchProfile> BenchProfiles();

// REQUIRES: there is one of this name.
const BenchProfile& FindBenchProfile(std::string_view name);

// How many tasks each machine must have room for, whatever their sizes, so that
// all tasks can be placed; nullopt if the demands make that impossible.
// REQUIRES: positive counts.
std::optional<int64_t> TasksPerMachine(const BenchProfile& profile,
                                       const BenchSize& size);

// Adds the labels of the machine with this 0-based index.
void DescribeMachine(const BenchProfile& profile, int64_t index,
                     firmament::ResourceDescriptor* machine);

// Sets the namespace of the task with this 0-based index, and what it requires.
// REQUIRES: the task has its job_id.
void DescribeTask(const BenchProfile& profile, int64_t index,
                  firmament::TaskDescriptor* task);

}  // namespace sluice

#endif  // SLUICE_CLI_BENCH_BENCH_PROFILES_H_
