// Tasks of kinds, and the policy that keeps those apart that mind each other
// (--cost_model=coco,...), over real gRPC: of kinds that are stated, and of
// those that final reports tell.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "integration/client.h"
#include "integration/messages.h"
#include "integration/mini_server.h"
#include "util/http_get.h"

namespace sluice {
namespace {

using firmament::TaskDescription;
using firmament::TaskDescriptor;
using testing::HasSubstr;

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

// A large machine, which the load policy likes best, and a small one with two
// turtles, so that two sheep share the large one and two devils part.
class LearnedCocoOverGrpc : public testing::Test {
 protected:
  LearnedCocoOverGrpc() : server_(CocoOptions()), client_(server_.port()) {
    client_.AddNode(NodeMessage("large", {.cpu = 64000}));
    client_.AddNode(
        NodeMessage("small", {.cpu = 8000, .labels = {{"disk", "ssd"}}}));
    for (const uint64_t uid : {1, 2}) {
      TaskDescription turtle =
          TaskMessage(uid, {.cpu = 1000, .node_selector = {{"disk", "ssd"}}});
      turtle.mutable_task_descriptor()->set_task_type(TaskDescriptor::TURTLE);
      client_.Submit(turtle);
    }
    client_.Schedule();
  }
  static Options CocoOptions() {
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.cost_model = "coco:samples=2,cpu_memory,pod_affinity";
    options.http_address = "127.0.0.1:0";
    return options;
  }
  // Where the second of two tasks goes that state no kind; both then report so
  // many references and misses in a thousand million instructions.
  std::string RunTwo(const char* binary, uint64_t references, uint64_t misses) {
    std::string place;
    for (const uint64_t uid : {3, 4}) {
      TaskDescription task = TaskMessage(uid, {.cpu = 1000});
      task.mutable_task_descriptor()->set_binary(binary);
      client_.Submit(task);
      place = PlacesOf(client_.Schedule()).at(uid);
    }
    explained_ = client_.Explain(4).summary();
    for (const uint64_t uid : {3, 4}) {
      firmament::TaskUID done;
      done.set_task_uid(uid);
      firmament::TaskFinalReport* report = done.mutable_final_report();
      report->set_instructions(1'000'000'000);
      report->set_llc_refs(references);
      report->set_llc_misses(misses);
      grpc::ClientContext context;
      firmament::TaskCompletedResponse response;
      const grpc::Status status =
          client_.scheduler().TaskCompleted(&context, done, &response);
      EXPECT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(response.type(), firmament::TASK_COMPLETED_OK);
      client_.Remove(uid);
    }
    return place;
  }

  MiniServer server_;
  Client client_;
  std::string explained_;  // Of the second one, while it ran.
};

TEST_F(LearnedCocoOverGrpc, PartsDevilsThatFinalReportsTell) {
  EXPECT_EQ(RunTwo("/bin/scan", 40'000'000, 30'000'000), PuOf("large"));
  EXPECT_THAT(explained_, HasSubstr("to its neighbors it is a sheep"));
  EXPECT_EQ(RunTwo("/bin/scan", 40'000'000, 30'000'000), PuOf("small"));
  EXPECT_THAT(explained_, HasSubstr("to its neighbors it is a devil"));
  EXPECT_EQ(RunTwo("/bin/prove", 5'000'000, 1'000'000), PuOf("large"));
  EXPECT_EQ(RunTwo("/bin/prove", 5'000'000, 1'000'000), PuOf("large"));
}

TEST_F(LearnedCocoOverGrpc, CountsReportsThatMakeNoSense) {
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(RunTwo("/bin/scan", 30'000'000, 40'000'000), PuOf("large"));
  EXPECT_EQ(RunTwo("/bin/scan", kAll, kAll), PuOf("large"));
  EXPECT_EQ(RunTwo("/bin/scan", 0, 0), PuOf("large"));
  EXPECT_THAT(HttpGet(server_.http_port(), "/metrics").body,
              HasSubstr("sluice_malformed_total{kind=\"TaskCompleted\"} 4"));
}

}  // namespace
}  // namespace sluice
