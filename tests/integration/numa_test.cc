// Tasks that demand parts of machines, over real gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "integration/client.h"
#include "integration/messages.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

using firmament::ResourceDescriptor;
using firmament::ResourceTopologyNodeDescriptor;
using firmament::TaskRules;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ResourceTopologyNodeDescriptor* AddPart(ResourceTopologyNodeDescriptor* to,
                                        const std::string& uuid,
                                        ResourceDescriptor::ResourceType type,
                                        float cpu) {
  ResourceTopologyNodeDescriptor* part = to->add_children();
  part->mutable_resource_desc()->set_uuid(uuid);
  part->mutable_resource_desc()->set_type(type);
  part->mutable_resource_desc()->mutable_resource_capacity()->set_cpu_cores(
      cpu);
  return part;
}

// A node of two NUMA nodes of four cores, with two processing units of two
// cores each.
ResourceTopologyNodeDescriptor NumaMessage(const std::string& uuid) {
  ResourceTopologyNodeDescriptor tree = NodeMessage(uuid, {.cpu = 8000});
  tree.clear_children();
  for (const char* side : {"a", "b"}) {
    ResourceTopologyNodeDescriptor* numa =
        AddPart(&tree, StrCat(uuid, "-", side),
                ResourceDescriptor::RESOURCE_NUMA_NODE, 4000);
    firmament::Label* label = numa->mutable_resource_desc()->add_labels();
    label->set_key("side");
    label->set_value(side);
    for (const int i : {0, 1}) {
      AddPart(numa, StrCat(uuid, "-", side, i), ResourceDescriptor::RESOURCE_PU,
              2000);
    }
  }
  return tree;
}

firmament::TaskDescription Demanding(uint64_t uid, float cpu,
                                     TaskRules::PartDemand::Level level,
                                     const std::string& side = "") {
  firmament::TaskDescription task = TaskMessage(uid, {.cpu = cpu});
  TaskRules::PartDemand* demand =
      task.mutable_task_descriptor()->mutable_rules()->add_part_demands();
  demand->set_level(level);
  if (!side.empty()) {
    demand->set_key("side");
    demand->set_value(side);
  }
  return task;
}

TEST(PartsOverGrpc, ATaskThatDemandsIsPlacedWhereOnePartHasRoom) {
  const MiniServer server(ReplyMode::kContract);
  Client client(server.port());
  client.AddNode(NodeMessage("flat", {.cpu = 64000}));
  client.Submit(Demanding(1, 3000, TaskRules::PartDemand::NUMA_NODE));
  client.Submit(Demanding(2, 3000, TaskRules::PartDemand::PROCESSING_UNIT));
  EXPECT_THAT(PlacesOf(client.Schedule()), SizeIs(1)) << "a unit is a part";
  EXPECT_THAT(client.Explain(1).summary(), HasSubstr("lacked NUMA nodes"));

  client.AddNode(NumaMessage("m"));
  const auto places = PlacesOf(client.Schedule());
  ASSERT_THAT(places, SizeIs(1));
  EXPECT_THAT(places.at(1), testing::StartsWith("m-"));
}

TEST(PartsOverGrpc, PartsAreNeverGivenTwice) {
  const MiniServer server(ReplyMode::kContract);
  Client client(server.port());
  client.AddNode(NumaMessage("m"));
  // Eight cores, and no two of three cores fit one NUMA node.
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    client.Submit(Demanding(uid, 2500, TaskRules::PartDemand::NUMA_NODE));
  }
  const auto places = PlacesOf(client.Schedule());
  ASSERT_THAT(places, SizeIs(2));
  std::set<std::string> sides;
  for (const auto& [uid, resource] : places)
    sides.insert(resource.substr(0, 3));
  EXPECT_THAT(sides, SizeIs(2));
  // What is left of both is enough for one that floats.
  client.Submit(TaskMessage(9, {.cpu = 3000}));
  EXPECT_THAT(PlacesOf(client.Schedule()), SizeIs(1));
}

TEST(PartsOverGrpc, TasksOfAGroupShareANodeOrKeepApart) {
  const MiniServer server(ReplyMode::kContract);
  Client client(server.port());
  client.AddNode(NumaMessage("m"));
  const auto submit = [&client](uint64_t uid, const std::string& group,
                                bool apart) {
    firmament::TaskDescription task = TaskMessage(uid, {.cpu = 1000});
    TaskRules::PartGroup* message =
        task.mutable_task_descriptor()->mutable_rules()->add_part_groups();
    message->set_name(group);
    message->set_key("side");
    message->set_apart(apart);
    client.Submit(task);
  };
  std::map<uint64_t, std::string> sides;
  const auto schedule = [&] {
    for (const auto& [uid, resource] : PlacesOf(client.Schedule())) {
      sides[uid] = resource.substr(0, 3);
    }
  };
  for (const uint64_t uid : {1, 2, 3}) submit(uid, "db", /*apart=*/false);
  schedule();
  ASSERT_THAT(sides, SizeIs(3));
  EXPECT_EQ(sides[1], sides[2]);
  EXPECT_EQ(sides[1], sides[3]);
  for (const uint64_t uid : {4, 5, 6}) submit(uid, "web", /*apart=*/true);
  schedule();
  ASSERT_THAT(sides, SizeIs(5)) << "one waits: there are two sides";
  EXPECT_THAT(client.Explain(6).summary(),
              HasSubstr("a NUMA node with room away from the others of 'web'"));
}

TEST(PartsOverGrpc, ATaskMayDemandALabelOfThePart) {
  const MiniServer server(ReplyMode::kContract);
  Client client(server.port());
  client.AddNode(NumaMessage("m"));
  client.Submit(Demanding(1, 3000, TaskRules::PartDemand::NUMA_NODE, "b"));
  client.Submit(Demanding(2, 3000, TaskRules::PartDemand::NUMA_NODE, "b"));
  const auto places = PlacesOf(client.Schedule());
  ASSERT_THAT(places, SizeIs(1));
  EXPECT_THAT(places.begin()->second, testing::StartsWith("m-b"));
  client.Submit(Demanding(3, 100, TaskRules::PartDemand::NUMA_NODE, "c"));
  EXPECT_THAT(PlacesOf(client.Schedule()), IsEmpty());
  EXPECT_THAT(client.Explain(3).summary(),
              HasSubstr("a NUMA node with the labels that it demands"));
}

}  // namespace
}  // namespace sluice
