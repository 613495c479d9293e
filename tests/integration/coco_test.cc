// Tasks of kinds, and the policy that keeps those apart that mind each other
// (--cost_model=coco,...), over real gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "integration/client.h"
#include "integration/messages.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

using firmament::TaskDescription;
using firmament::TaskDescriptor;

TaskDescription TaskOfType(uint64_t uid, TaskDescriptor::TaskType type,
                           int64_t cpu) {
  TaskDescription task = TaskMessage(uid, {.cpu = static_cast<float>(cpu)});
  task.mutable_task_descriptor()->set_task_type(type);
  return task;
}

class CocoOverGrpc : public testing::Test {
 protected:
  CocoOverGrpc() : server_(CocoOptions()), client_(server_.port()) {
    for (const char* uuid : {"a", "b"}) client_.AddNode(NodeMessage(uuid));
  }
  static Options CocoOptions() {
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.cost_model = "coco,cpu_memory,pod_affinity";
    return options;
  }
  std::string Place(const TaskDescription& task) {
    const uint64_t uid = task.task_descriptor().uid();
    client_.Submit(task);
    return PlacesOf(client_.Schedule()).at(uid);
  }

  MiniServer server_;
  Client client_;
};

TEST_F(CocoOverGrpc, PartsTwoDevilsWhateverTheLoad) {
  const std::string first = Place(TaskOfType(1, TaskDescriptor::DEVIL, 100));
  // The other machine is the fuller one by far.
  const std::string second = Place(TaskOfType(2, TaskDescriptor::TURTLE, 3000));
  ASSERT_NE(first, second);
  EXPECT_EQ(Place(TaskOfType(3, TaskDescriptor::DEVIL, 100)), second);
}

TEST_F(CocoOverGrpc, GoesByTheLabelBeforeTheType) {
  TaskDescription rabbit = TaskOfType(1, TaskDescriptor::TURTLE, 100);
  firmament::Label* label = rabbit.mutable_task_descriptor()->add_labels();
  label->set_key("taskType");
  label->set_value("Rabbit");
  const std::string of_rabbit = Place(rabbit);
  const std::string of_sheep =
      Place(TaskOfType(2, TaskDescriptor::SHEEP, 3000));
  ASSERT_NE(of_rabbit, of_sheep);
  EXPECT_EQ(Place(TaskOfType(3, TaskDescriptor::DEVIL, 100)), of_sheep)
      << "it minds a sheep less than a rabbit";
  EXPECT_EQ(Place(TaskOfType(4, TaskDescriptor::TURTLE, 100)), of_rabbit)
      << "it hardly minds anybody, and there is more room";
}

}  // namespace
}  // namespace sluice
