#include "cli/bench/bench_profiles.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "glog/logging.h"

namespace sluice {
namespace {

using firmament::ResourceDescriptor;
using firmament::TaskDescriptor;

// `text` as its message prints it.
template <class Message>
std::string Printed(const std::string& text) {
  Message message;
  CHECK(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message.ShortDebugString();
}

std::string MachineOf(std::string_view profile, int64_t index) {
  ResourceDescriptor machine;
  machine.set_uuid("m");
  DescribeMachine(FindBenchProfile(profile), index, &machine);
  return machine.ShortDebugString();
}

std::string TaskOf(std::string_view profile, int64_t index = 0) {
  TaskDescriptor task;
  task.set_job_id("j");
  DescribeTask(FindBenchProfile(profile), index, &task);
  return task.ShortDebugString();
}

TEST(BenchProfiles, EachHasANameOfItsOwnAndFits) {
  std::set<std::string_view> names;
  for (const BenchProfile& profile : BenchProfiles()) {
    EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
    EXPECT_EQ(&FindBenchProfile(profile.name), &profile);
    EXPECT_TRUE(TasksPerMachine(profile, profile.size)) << profile.name;
  }
}

TEST(BenchProfiles, GiveMachinesRoomForTheirShareOfTheTasks) {
  const struct {
    std::string_view profile;
    BenchSize size;
    std::optional<int64_t> tasks_per_machine;
  } kRows[] = {
      {"basic", {1000, 10'000, 10}, 10},
      {"basic", {3, 10, 1}, 4},
      // Half of the machines take tasks; of an odd number the greater half.
      {"node_affinity", {5000, 10'000, 10}, 4},
      {"node_affinity", {5, 9, 1}, 3},
      {"node_affinity", {1, 9, 1}, 9},
      {"pod_affinity", {5000, 5000, 1}, 1},
      // No two of the same class on one machine.
      {"pod_anti_affinity", {5000, 2000, 1}, 1},
      {"pod_anti_affinity", {5, 6, 1}, std::nullopt},
      {"pod_anti_affinity", {5, 10, 2}, 2},
      {"bridge_anti_affinity", {200, 3600, 36}, 18},
      // The smallest zone has one machine.
      {"topology_spreading", {5, 9, 1}, 3},
      {"topology_spreading", {2, 9, 1}, 5},
      // Nine jobs a zone, of 100 tasks on 50 machines.
      {"bridge_affinity", {200, 3600, 36}, 18},
      // Two jobs of two tasks on the one machine of a zone.
      {"bridge_affinity", {7, 10, 5}, 4},
      // Each displaces what fills a machine.
      {"preemption", {5000, 5000, 1}, 8},
      {"preemption", {5, 6, 1}, std::nullopt},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(TasksPerMachine(FindBenchProfile(row.profile), row.size),
              row.tasks_per_machine)
        << row.profile << " on " << row.size.machine_count;
  }
}

TEST(BenchProfiles, LabelMachines) {
  EXPECT_EQ(MachineOf("basic", 0), Printed<ResourceDescriptor>("uuid: 'm'"));
  const std::string zone_2 =
      "uuid: 'm' labels { key: 'topology.kubernetes.io/zone' value: 'zone2' }";
  EXPECT_EQ(MachineOf("node_affinity", 3), Printed<ResourceDescriptor>(zone_2));
  EXPECT_EQ(
      MachineOf("topology_spreading", 4),
      Printed<ResourceDescriptor>(
          zone_2 + "labels { key: 'kubernetes.io/hostname' value: 'm' }"));
}

TEST(BenchProfiles, RequireNodes) {
  EXPECT_EQ(TaskOf("basic"),
            Printed<TaskDescriptor>("job_id: 'j' namespace: 'bench'"));
  EXPECT_EQ(TaskOf("node_affinity"), Printed<TaskDescriptor>(R"(
              job_id: 'j'
              namespace: 'bench'
              affinity { node_affinity {
                requiredDuringSchedulingIgnoredDuringExecution {
                  nodeSelectorTerms {
                    matchExpressions {
                      key: 'topology.kubernetes.io/zone'
                      operator: 'In'
                      values: 'zone1'
                    }
                  }
                }
              } })"));
}

TEST(BenchProfiles, RequirePeers) {
  EXPECT_EQ(TaskOf("pod_affinity"), TaskOf("bridge_affinity"));
  EXPECT_EQ(TaskOf("pod_affinity"), Printed<TaskDescriptor>(R"(
              job_id: 'j'
              namespace: 'bench'
              labels { key: 'app' value: 'j' }
              affinity { pod_affinity {
                requiredDuringSchedulingIgnoredDuringExecution {
                  labelSelector { matchExpressions {
                    key: 'app' operator: 'In' values: 'j'
                  } }
                  topologyKey: 'topology.kubernetes.io/zone'
                }
              } })"));
}

TEST(BenchProfiles, KeepPeersApart) {
  EXPECT_EQ(TaskOf("pod_anti_affinity"), TaskOf("bridge_anti_affinity"));
  EXPECT_EQ(TaskOf("pod_anti_affinity"), Printed<TaskDescriptor>(R"(
              job_id: 'j'
              namespace: 'bench'
              labels { key: 'app' value: 'j' }
              affinity { pod_anti_affinity {
                requiredDuringSchedulingIgnoredDuringExecution {
                  labelSelector { matchExpressions {
                    key: 'app' operator: 'In' values: 'j'
                  } }
                  topologyKey: 'kubernetes.io/hostname'
                }
              } })"));
}

TEST(BenchProfiles, KeepPeersOfAllNamespacesApart) {
  EXPECT_EQ(TaskOf("namespace_anti_affinity", 199), Printed<TaskDescriptor>(R"(
              job_id: 'j'
              namespace: 'bench-100'
              namespace_labels { key: 'team' value: 'devops' }
              labels { key: 'app' value: 'j' }
              affinity { pod_anti_affinity {
                requiredDuringSchedulingIgnoredDuringExecution {
                  labelSelector { matchExpressions {
                    key: 'app' operator: 'In' values: 'j'
                  } }
                  namespaceSelector { matchExpressions {
                    key: 'team' operator: 'In' values: 'devops'
                  } }
                  topologyKey: 'kubernetes.io/hostname'
                }
              } })"));
}

TEST(BenchProfiles, SpreadPeers) {
  EXPECT_EQ(TaskOf("topology_spreading"), Printed<TaskDescriptor>(R"(
              job_id: 'j'
              namespace: 'bench'
              labels { key: 'app' value: 'j' }
              topology_spread_constraints {
                topologyKey: 'topology.kubernetes.io/zone'
                maxSkew: 5
                whenUnsatisfiable: 'DoNotSchedule'
                labelSelector { matchExpressions {
                  key: 'app' operator: 'In' values: 'j'
                } }
              })"));
}

}  // namespace
}  // namespace sluice
