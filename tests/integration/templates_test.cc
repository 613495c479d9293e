// Tasks that the daemon makes from a template, over real gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "integration/kept_daemon.h"
#include "integration/messages.h"

namespace sluice {
namespace {

using firmament::SchedulingDelta;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

firmament::TaskDescription TemplateMessage(uint64_t uid,
                                           const TaskFields& fields) {
  firmament::TaskDescription task = TaskMessage(uid, fields);
  task.mutable_task_descriptor()->set_global(
      firmament::TaskDescriptor::TEMPLATE);
  return task;
}

class TemplatesOverGrpc : public KeptDaemonTest {
 protected:
  TemplatesOverGrpc() { Start(); }
  // The uids of what the reply has the client create, by resource.
  std::map<std::string, uint64_t> Created() {
    std::map<std::string, uint64_t> created;
    const firmament::SchedulingDeltas reply = client_->Schedule();
    for (const SchedulingDelta& delta : reply.deltas()) {
      EXPECT_EQ(delta.type(), SchedulingDelta::CREATE);
      EXPECT_EQ(delta.template_id(), 1);
      created[delta.resource_id()] = delta.task_id();
    }
    return created;
  }
};

TEST_F(TemplatesOverGrpc, MakeATaskForEachNodeAsItJoins) {
  client_->AddNode(NodeMessage("m"));
  EXPECT_EQ(
      client_->Submit(TemplateMessage(1, {.cpu = 100, .name = "ns/agent"})),
      firmament::TASK_SUBMITTED_OK);
  const std::map<std::string, uint64_t> first = Created();
  ASSERT_THAT(first, SizeIs(1));
  const uint64_t on_m = first.at("m-pu");
  EXPECT_EQ(client_->Explain(1).task().state(), v1::Task::TEMPLATE);
  EXPECT_THAT(client_->Explain(1).summary(),
              StartsWith("is a template that makes one task for each machine "
                         "that its rules allow; 1 of these run"));
  EXPECT_EQ(client_->Explain(on_m).task().name(), "ns/agent-m");

  Start();  // It remembers which is whose.
  EXPECT_THAT(Created(), IsEmpty());
  client_->AddNode(NodeMessage("n"));
  EXPECT_THAT(Created(), SizeIs(1));

  // A node that leaves takes its own along; the template takes the others.
  EXPECT_EQ(client_->RemoveNode("n"), firmament::NODE_REMOVED_OK);
  EXPECT_THAT(client_->ScheduleTexts(), IsEmpty());
  EXPECT_EQ(client_->Status().running_tasks(), 1);
  EXPECT_EQ(client_->Remove(1), firmament::TASK_REMOVED_OK);
  EXPECT_THAT(client_->ScheduleTexts(),
              ElementsAre(StrCat("PREEMPT ", on_m, " m-pu")));
  EXPECT_EQ(client_->Remove(on_m), firmament::TASK_REMOVED_OK);
  EXPECT_EQ(client_->Status().used().cpu_millicores(), 0);
}

TEST_F(TemplatesOverGrpc, AreToldAgainToAClientThatBeginsAnew) {
  client_->AddNode(NodeMessage("m"));
  client_->Submit(TemplateMessage(1, {.cpu = 100}));
  const std::map<std::string, uint64_t> first = Created();
  ASSERT_THAT(first, SizeIs(1));
  client_.emplace(server_->port());
  client_->AddNode(NodeMessage("m"));
  client_->Submit(TemplateMessage(1, {.cpu = 100}));
  EXPECT_EQ(Created(), first);
  EXPECT_THAT(Created(), IsEmpty());
}

TEST_F(TemplatesOverGrpc, AreNoPartOfAGang) {
  client_->AddNode(NodeMessage("m"));
  client_->Submit(TemplateMessage(1, {.cpu = 100, .gang_minimum = 1}));
  EXPECT_THAT(client_->ScheduleTexts(), IsEmpty());
  EXPECT_THAT(client_->Explain(1).summary(),
              HasSubstr("global: a template cannot be part of a gang"));
}

TEST_F(TemplatesOverGrpc, WithoutARequestTakeAPlaceEach) {
  client_->AddNode(NodeMessage("m", {.max_pods = 1}));
  client_->Submit(TemplateMessage(1, {}));
  EXPECT_THAT(Created(), SizeIs(1));
  client_->Submit(TaskMessage(2));
  EXPECT_THAT(client_->ScheduleTexts(), IsEmpty());
}

}  // namespace
}  // namespace sluice
