// How deltas reach their client: in replies that it can take, once where the
// transport took them, and again where it did not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <map>
#include <string>
#include <vector>

#include "integration/fake_bridge.h"
#include "integration/mini_server.h"
#include "integration/stalled_client.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class Delivery : public ContractFixture {
 protected:
  // Waits until the newest round has the number `number`, which is when its
  // reply is on its way.
  void AwaitRound(uint64_t number) {
    while (client_.Status().last_round().number() < number) {
    }
  }
};

TEST_F(Delivery, R3ARoundThatIsTooLargeForOneReplyComesInSeveral) {
  // 36 bytes, as the uuids of the field are: 52 a delta.
  const std::string uuid = "6ea443f6-d5c5-4417-828e-b1f7c7389";
  constexpr uint64_t kTasks = 85000;
  FakeBridge bridge(client_.channel());
  bridge.AddNode(uuid, {.max_pods = 100000});
  for (uint64_t uid = 1; uid <= kTasks; ++uid) {
    // Large uids, which take as many bytes as those of the field.
    bridge.Submit(~uid);
    while (bridge.in_flight() > 3000) bridge.AwaitOne();
  }
  bridge.AwaitAll();
  ASSERT_EQ(bridge.cause_of_death(), "");
  std::map<uint64_t, std::string> places;
  int replies = 0;
  for (;;) {
    const firmament::SchedulingDeltas reply = client_.Schedule();
    if (reply.deltas().empty()) break;
    ++replies;
    EXPECT_LT(reply.ByteSizeLong(), size_t{4} << 20);
    for (const firmament::SchedulingDelta& delta : reply.deltas()) {
      EXPECT_TRUE(places.emplace(delta.task_id(), delta.resource_id()).second)
          << delta.task_id() << " came twice";
    }
  }
  EXPECT_EQ(places.size(), kTasks);
  EXPECT_EQ(replies, 2);
  EXPECT_EQ(client_.Status().undelivered_deltas(), 0);
}

TEST_F(Delivery, DeltasOfACallThatBrokeOffComeWithTheNextOne) {
  client_.AddNode(NodeMessage("n"));
  client_.Submit(TaskMessage(1));
  StalledClient stalled(server_.port());
  AwaitRound(1);
  EXPECT_EQ(client_.Status().undelivered_deltas(), 1);
  stalled.Close();
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
}

TEST_F(Delivery, ARemovalThatAReplyOnItsWayNamesIsAcknowledgedAfterIt) {
  client_.AddNode(NodeMessage("n"));
  client_.Submit(TaskMessage(1));
  StalledClient stalled(server_.port());
  AwaitRound(1);
  std::future<firmament::TaskReplyType> removal =
      std::async(std::launch::async, [this] { return client_.Remove(1); });
  // The removal has been applied, and yet it is not answered.
  while (client_.Status().jobs() > 0) {
  }
  client_.Submit(TaskMessage(2));
  EXPECT_EQ(client_.Remove(2), firmament::TASK_REMOVED_OK)
      << "no reply names this one";
  EXPECT_EQ(removal.wait_for(std::chrono::seconds(0)),
            std::future_status::timeout);
  stalled.Close();
  EXPECT_EQ(removal.get(), firmament::TASK_REMOVED_OK);
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
}

TEST_F(Delivery, OtherCallsGoOnWhileAReplyIsStuck) {
  StalledClient stalled(server_.port());
  AwaitRound(1);
  EXPECT_EQ(client_.AddNode(NodeMessage("n")), firmament::NODE_ADDED_OK);
  EXPECT_EQ(client_.Submit(TaskMessage(1)), firmament::TASK_SUBMITTED_OK);
  EXPECT_EQ(client_.Complete(1), firmament::TASK_COMPLETED_OK);
  EXPECT_EQ(client_.Check(""), firmament::SERVING);
}

TEST_F(Delivery, ACallWhoseClientGaveUpWhileItWaitedHoldsUpNobody) {
  StalledClient stalled(server_.port());
  AwaitRound(1);
  grpc::ClientContext context;
  std::future<grpc::Status> waiting = std::async(std::launch::async, [&] {
    firmament::SchedulingDeltas reply;
    return client_.scheduler().Schedule(&context, {}, &reply);
  });
  context.TryCancel();
  EXPECT_EQ(waiting.get().error_code(), grpc::StatusCode::CANCELLED);
  stalled.Close();
  client_.AddNode(NodeMessage("n"));
  client_.Submit(TaskMessage(1));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(1, PuOf("n"))));
}

TEST_F(Delivery, ManyScheduleCallsAtOnceShareTheDeltasBetweenThem) {
  constexpr uint64_t kTasks = 100;
  client_.AddNode(NodeMessage("n"));
  for (uint64_t uid = 1; uid <= kTasks; ++uid) client_.Submit(TaskMessage(uid));
  std::vector<std::future<firmament::SchedulingDeltas>> calls;
  for (int i = 0; i < 8; ++i) {
    calls.push_back(
        std::async(std::launch::async, [this] { return client_.Schedule(); }));
  }
  size_t placed = 0;
  for (auto& call : calls) placed += PlacesOf(call.get()).size();
  EXPECT_EQ(placed, kTasks);
}

}  // namespace
}  // namespace sluice
