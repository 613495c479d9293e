#include "cli/client/contract_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "unit/cli/fake_server.h"
#include "util/fake_clock.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;

struct Fixture {
  Fixture() { options.server = server.Address(); }

  FakeServer server;
  GlobalOptions options;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Console console = {.in = in, .out = out, .err = err};
  FakeClock clock;
  CommandContext context = {
      .options = options, .console = console, .clock = clock};
};

firmament::TaskDescription Task(uint64_t uid) {
  firmament::TaskDescription task;
  task.mutable_task_descriptor()->set_uid(uid);
  return task;
}

TEST(ContractClient, RoundsSeeAllThatWasSentBefore) {
  Fixture f;
  ContractClient client(f.context, 8);
  for (uint64_t uid = 1; uid <= 50; ++uid) {
    ASSERT_THAT(client.SubmitTask(Task(uid)), IsOk());
  }
  const auto deltas = client.Schedule();
  ASSERT_THAT(deltas, IsOk());
  EXPECT_EQ(deltas->deltas_size(), 50);
  EXPECT_EQ(client.round_us().size(), 1u);
}

TEST(ContractClient, SendsWhatItsMethodsSay) {
  Fixture f;
  ContractClient client(f.context, 1);
  firmament::ResourceTopologyNodeDescriptor machine;
  machine.mutable_resource_desc()->set_uuid("m");
  ASSERT_THAT(client.AddMachine(machine), IsOk());
  ASSERT_THAT(client.SubmitTask(Task(7)), IsOk());
  ASSERT_THAT(client.CompleteTask(7), IsOk());
  ASSERT_THAT(client.RemoveTask(7), IsOk());
  ASSERT_THAT(client.RemoveMachine("m"), IsOk());
  ASSERT_THAT(client.Drain(), IsOk());
  EXPECT_THAT(f.server.scheduler.calls(),
              ElementsAre("NodeAdded m", "TaskSubmitted 7", "TaskCompleted 7",
                          "TaskRemoved 7", "NodeRemoved m"));
}

TEST(ContractClient, StopsAtTheFirstRefusal) {
  Fixture f;
  ContractClient client(f.context, 4);
  ASSERT_THAT(client.RemoveTask(7), IsOk());
  EXPECT_THAT(client.Drain(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "the server refused a call: TaskRemoved answered "
                       "TASK_NOT_FOUND (task or machine key 7)"));
  EXPECT_THAT(client.SubmitTask(Task(8)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(client.Schedule(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(f.server.scheduler.calls(), ElementsAre("TaskRemoved 7"));
}

}  // namespace
}  // namespace sluice
