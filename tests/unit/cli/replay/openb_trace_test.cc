#include "cli/replay/openb_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "util/paths.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<std::vector<TraceMachine>> Machines(const std::string& text) {
  std::istringstream input(text);
  return ReadTraceMachines("nodes.csv", input);
}

absl::StatusOr<TracePods> Pods(const std::string& text) {
  std::istringstream input(text);
  return ReadTracePods("pods.csv", input);
}

TEST(ReadTraceMachines, ReadsColumnsInAnyOrder) {
  const auto machines = Machines(
      "model,gpu,extra,sn,memory_mib,cpu_milli\nT4,2,x,m1,1024,8000\n");
  ASSERT_THAT(machines, IsOk());
  ASSERT_EQ(machines->size(), 1u);
  EXPECT_EQ((*machines)[0].sn, "m1");
  EXPECT_EQ((*machines)[0].cpu_milli, 8000);
  EXPECT_EQ((*machines)[0].memory_mib, 1024);
  EXPECT_EQ((*machines)[0].gpus, 2);
  EXPECT_EQ((*machines)[0].model, "T4");
}

TEST(ReadTraceMachines, NamesWhatIsWrong) {
  EXPECT_THAT(Machines("sn,cpu_milli,memory_mib,gpu\n"),
              StatusIs(kInvalid, "nodes.csv: column model is missing"));
  const std::string header = "sn,cpu_milli,memory_mib,gpu,model\n";
  EXPECT_THAT(Machines(header + "a,1,1,0,\n,1,1,0,\n"),
              StatusIs(kInvalid, "nodes.csv:3: column sn: is empty"));
  EXPECT_THAT(Machines(header + "a,1,1,0,\na,1,1,0,\n"),
              StatusIs(kInvalid,
                       "nodes.csv:3: column sn: a appears in the file twice"));
  EXPECT_THAT(Machines(header + "a,-1,1,0,\n"),
              StatusIs(kInvalid, HasSubstr("nodes.csv:2: column cpu_milli: "
                                           "'-1' is not a whole number")));
  EXPECT_THAT(Machines(header + "a,1,99999999999999,0,\n"),
              StatusIs(kInvalid, HasSubstr("column memory_mib")));
}

TEST(ReadTracePods, ReadsTimesWhereThereAreAny) {
  const auto trace = Pods(
      "name,cpu_milli,memory_mib,num_gpu,creation_time,deletion_time\n"
      "a,1000,1024,1,5,9\n"
      "b,1000,1024,0,7,\n");
  ASSERT_THAT(trace, IsOk());
  EXPECT_TRUE(trace->has_times);
  EXPECT_EQ(trace->pods[0].creation_s, 5);
  EXPECT_EQ(trace->pods[0].deletion_s, 9);
  EXPECT_EQ(trace->pods[1].deletion_s, TracePod::kNever);
}

TEST(ReadTracePods, DoesWithoutTimes) {
  const auto trace =
      Pods("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,330\n");
  ASSERT_THAT(trace, IsOk());
  EXPECT_FALSE(trace->has_times);
  EXPECT_EQ(trace->pods[0].creation_s, 0);
  EXPECT_EQ(trace->pods[0].deletion_s, TracePod::kNever);
  EXPECT_EQ(trace->pods[0].gpus, 1);
}

TEST(ReadTracePods, RefusesADeletionBeforeTheCreation) {
  EXPECT_THAT(
      Pods("name,cpu_milli,memory_mib,num_gpu,creation_time,deletion_time\n"
           "a,1,1,0,5,4\n"),
      StatusIs(kInvalid,
               HasSubstr("pods.csv:2: column deletion_time: '4' is not a "
                         "whole number from 5 to ")));
}

TEST(ReadTracePods, NeedsACreationTimeWhereTheColumnIsThere) {
  EXPECT_THAT(Pods("name,cpu_milli,memory_mib,num_gpu,creation_time\n"
                   "a,1,1,0,\n"),
              StatusIs(kInvalid, HasSubstr("column creation_time: ''")));
}

TEST(OpenbTrace, ReadsTheSample) {
  std::ifstream nodes(SourcePath("tests/testdata/openb_nodes.csv"));
  const auto machines = ReadTraceMachines("openb_nodes.csv", nodes);
  ASSERT_THAT(machines, IsOk());
  EXPECT_EQ(machines->size(), 19u);
  std::ifstream file(SourcePath("tests/testdata/openb_pods.csv"));
  const auto pods = ReadTracePods("openb_pods.csv", file);
  ASSERT_THAT(pods, IsOk());
  EXPECT_EQ(pods->pods.size(), 19u);
}

TEST(MachineMessage, OffersAllItHasInTheContractsUnits) {
  const auto node = MachineMessage({.sn = "m1",
                                    .cpu_milli = 8000,
                                    .memory_mib = 16,
                                    .gpus = 2,
                                    .model = "T4"});
  const firmament::ResourceDescriptor& machine = node.resource_desc();
  EXPECT_EQ(machine.uuid(), "m1");
  EXPECT_EQ(machine.type(), firmament::ResourceDescriptor::RESOURCE_MACHINE);
  EXPECT_EQ(machine.available_resources().cpu_cores(), 8000);
  EXPECT_EQ(machine.available_resources().ram_cap(), 16'777'216'000u);
  EXPECT_EQ(
      machine.available_resources().extended_resources().at("nvidia.com/gpu"),
      2);
  EXPECT_EQ(machine.resource_capacity().SerializeAsString(),
            machine.available_resources().SerializeAsString());
  ASSERT_EQ(machine.labels_size(), 1);
  EXPECT_EQ(machine.labels(0).value(), "T4");
  ASSERT_EQ(node.children_size(), 1);
  EXPECT_EQ(node.children(0).parent_id(), "m1");
  EXPECT_EQ(node.children(0).resource_desc().type(),
            firmament::ResourceDescriptor::RESOURCE_PU);
  EXPECT_NE(node.children(0).resource_desc().uuid(), "m1");
}

TEST(MachineMessage, SaysNothingOfGpusWhereThereAreNone) {
  TraceMachine machine;
  machine.sn = "m1";
  const auto node = MachineMessage(machine);
  EXPECT_TRUE(
      node.resource_desc().available_resources().extended_resources().empty());
  EXPECT_EQ(node.resource_desc().labels_size(), 0);
}

TEST(PodMessage, MakesPodsOfOneShapeOneJob) {
  TracePod pod;
  pod.name = "a";
  pod.cpu_milli = 500;
  pod.qos = "LS";
  const auto first = PodMessage(pod, 1);
  pod.name = "b";
  const auto second = PodMessage(pod, 2);
  pod.gpus = 1;
  const auto other = PodMessage(pod, 3);
  EXPECT_EQ(first.job_descriptor().uuid(), second.job_descriptor().uuid());
  EXPECT_NE(first.job_descriptor().uuid(), other.job_descriptor().uuid());
  EXPECT_EQ(first.task_descriptor().job_id(), first.job_descriptor().uuid());
  EXPECT_NE(first.task_descriptor().name(), second.task_descriptor().name());
  EXPECT_EQ(second.task_descriptor().uid(), 2u);
  EXPECT_EQ(second.task_descriptor().state(),
            firmament::TaskDescriptor::CREATED);
}

TEST(PodMessage, AsksForAnyOfTheModelsOfItsSpec) {
  TracePod pod;
  pod.name = "a";
  pod.gpus = 2;
  pod.gpu_spec = "V100M16|V100M32";
  const auto description = PodMessage(pod, 1);
  const firmament::TaskDescriptor& task = description.task_descriptor();
  EXPECT_EQ(task.resource_request().extended_resources().at("nvidia.com/gpu"),
            2);
  ASSERT_EQ(task.label_selectors_size(), 1);
  EXPECT_EQ(task.label_selectors(0).key(), kGpuModelLabel);
  EXPECT_THAT(task.label_selectors(0).values(),
              ElementsAre("V100M16", "V100M32"));
}

}  // namespace
}  // namespace sluice
