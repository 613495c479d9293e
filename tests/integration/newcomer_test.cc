// A client that calls Check and then Schedule, and nothing before: it may be a
// bridge that has just been started, or a script that looks whether there is a
// scheduler (docs/decisions/0022).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <optional>

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
  // A daemon with a node and a task, which its first client has announced, and
  // to which a newcomer connects.
  void Start(int64_t quiet_ms) {
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.announcement_quiet_ms = quiet_ms;
    server_.emplace(options);
    first_.emplace(server_->port());
    first_->AddNode(NodeMessage("n"));
    first_->Submit(TaskMessage(1));
    newcomer_.emplace(server_->port());
    EXPECT_EQ(newcomer_->Check(""), firmament::SERVING);
  }
  std::future<firmament::SchedulingDeltas> ScheduleNewcomer() {
    return std::async(std::launch::async,
                      [this] { return newcomer_->Schedule(); });
  }

  std::optional<MiniServer> server_;
  std::optional<Client> first_;
  std::optional<Client> newcomer_;
};

// So long that no test would see its end.
constexpr int64_t kForEverMs = 600000;

TEST_F(Newcomer, ThatOnlySchedulesIsToldWhatAnotherConnectionSubmitted) {
  Start(/*quiet_ms=*/20);
  EXPECT_THAT(PlacesOf(newcomer_->Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  EXPECT_EQ(first_->Status().stale_tasks(), 0);
  EXPECT_EQ(first_->Status().stale_machines(), 0);
}

TEST_F(Newcomer, IsToldOnlyWhatItAnnouncesAgain) {
  Start(kForEverMs);
  first_->Submit(TaskMessage(2));
  std::future<firmament::SchedulingDeltas> reply = ScheduleNewcomer();
  // Before the call has come, this says nothing.
  while (first_->Status().stale_tasks() == 0) first_->Submit(TaskMessage(1));
  EXPECT_THAT(reply.get().deltas(), IsEmpty()) << "its node is not announced";
  newcomer_->AddNode(NodeMessage("n"));
  EXPECT_THAT(PlacesOf(newcomer_->Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  EXPECT_EQ(first_->Status().stale_tasks(), 1) << "task 2";
}

TEST_F(Newcomer, DoesNotHoldUpOthers) {
  Start(kForEverMs);
  std::future<firmament::SchedulingDeltas> reply = ScheduleNewcomer();
  EXPECT_THAT(PlacesOf(first_->Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  // Somebody begins anew: that ends it.
  while (reply.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    first_->AddNode(NodeMessage("n"));
  }
}

}  // namespace
}  // namespace sluice
