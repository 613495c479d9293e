// A client that calls Check and then Schedule, and nothing before: it may be a
// bridge that has just been started, or a script that looks whether there is a
// scheduler (docs/decisions/0022).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "integration/client.h"
#include "integration/messages.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class Newcomer : public testing::Test {
 protected:
  static Options WithQuiet(int64_t ms) {
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.announcement_quiet_ms = ms;
    return options;
  }
};

TEST_F(Newcomer, ThatOnlySchedulesIsToldWhatAnotherConnectionSubmitted) {
  const MiniServer server(WithQuiet(20));
  Client first(server.port());
  first.AddNode(NodeMessage("n"));
  first.Submit(TaskMessage(1));
  Client script(server.port());
  EXPECT_EQ(script.Check(""), firmament::SERVING);
  EXPECT_THAT(PlacesOf(script.Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  EXPECT_EQ(first.Status().stale_tasks(), 0);
  EXPECT_EQ(first.Status().stale_machines(), 0);
}

TEST_F(Newcomer, IsToldOnlyWhatItAnnouncesAgain) {
  // It would wait for ever.
  const MiniServer server(WithQuiet(600000));
  Client first(server.port());
  first.AddNode(NodeMessage("n"));
  first.Submit(TaskMessage(1));
  first.Submit(TaskMessage(2));
  Client bridge(server.port());
  EXPECT_EQ(bridge.Check(""), firmament::SERVING);
  std::future<firmament::SchedulingDeltas> reply =
      std::async(std::launch::async, [&] { return bridge.Schedule(); });
  // Before the call has come, this says nothing.
  while (first.Status().stale_tasks() == 0) first.Submit(TaskMessage(1));
  EXPECT_THAT(reply.get().deltas(), IsEmpty()) << "its node is not announced";
  bridge.AddNode(NodeMessage("n"));
  EXPECT_THAT(PlacesOf(bridge.Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  EXPECT_EQ(first.Status().stale_tasks(), 1) << "task 2";
}

TEST_F(Newcomer, DoesNotHoldUpOthers) {
  const MiniServer server(WithQuiet(600000));
  Client first(server.port());
  first.AddNode(NodeMessage("n"));
  first.Submit(TaskMessage(1));
  Client script(server.port());
  EXPECT_EQ(script.Check(""), firmament::SERVING);
  std::future<firmament::SchedulingDeltas> reply =
      std::async(std::launch::async, [&] { return script.Schedule(); });
  EXPECT_THAT(PlacesOf(first.Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  // Somebody begins anew: that ends it.
  while (reply.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    first.AddNode(NodeMessage("n"));
  }
}

}  // namespace
}  // namespace sluice
