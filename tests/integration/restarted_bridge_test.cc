// A bridge that ends and begins anew, with what it knew forgotten, its uids
// dealt afresh and pods deleted meanwhile: it is never told anything that it
// has not announced, and in the end every pod is bound.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "integration/client.h"
#include "integration/daemon_process.h"
#include "integration/fake_api_server.h"
#include "integration/watching_bridge.h"

namespace sluice {
namespace {

class Bridge : public testing::Test {
 protected:
  void SetUp() override {
    port_ = daemon_.AwaitReady();
    ASSERT_NE(port_, 0) << daemon_.log();
  }

  void StartBridge() { bridge_.emplace(port_, rng_.Next(), &api_); }
  void StopBridge() { bridge_.reset(); }

  // Lets the bridge go on for some time, drawn at random.
  void RunForAWhile() {
    for (uint64_t steps = rng_.Below(150); steps > 0 && IsAlive(); --steps) {
      bridge_->Step();
    }
  }

  // Lets the bridge go on until `is_reached`.  Fails if it dies, or if that
  // takes far longer than it should.
  testing::AssertionResult RunUntil(const std::function<bool()>& is_reached) {
    constexpr int64_t kRepliesMax = 600;
    const int64_t replies_end = bridge_->reply_count() + kRepliesMax;
    while (IsAlive() && !is_reached()) {
      if (bridge_->reply_count() > replies_end) {
        return testing::AssertionFailure() << bridge_->Describe();
      }
      bridge_->Step();
    }
    if (IsAlive()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "the bridge died: " << CauseOfDeath();
  }
  testing::AssertionResult RunUntilAnnounced() {
    return RunUntil([this] { return bridge_->HasAnnounced(); });
  }
  testing::AssertionResult RunUntilSettled() {
    return RunUntil([this] { return bridge_->IsSettled(); });
  }
  testing::AssertionResult RunForReplies(int64_t count) {
    const int64_t end = bridge_->reply_count() + count;
    return RunUntil([this, end] { return bridge_->reply_count() >= end; });
  }

  // Tells pods, drawn at random, to end.  Of two that share a uid the older
  // one goes first, as the daemon takes it for: a removal has only the uid.
  void BeginDeleting(uint64_t count) {
    std::vector<std::string> names;
    for (const auto& [name, pod] : api_.pods()) {
      if (!pod.is_ending && !bridge_->SharesUidWithOlder(name)) {
        names.push_back(name);
      }
    }
    rng_.Shuffle(names);
    if (names.size() > count) names.resize(count);
    for (const std::string& name : names) api_.BeginDelete(name);
  }
  std::string AnyPod() {
    auto it = api_.pods().begin();
    std::advance(it, static_cast<ptrdiff_t>(rng_.Below(api_.pods().size())));
    return it->first;
  }

  // Replaces pods while the bridge runs.  It waits for the bridge to settle
  // first, and the new ones have been announced when the old ones go: a uid
  // that two pods have before the daemon knows of either, or while the older
  // one waits for its place, is beyond what any daemon can mend.
  testing::AssertionResult Replace(uint64_t count) {
    testing::AssertionResult result = RunUntilSettled();
    if (!result) return result;
    BeginDeleting(count);
    result = RunUntilAnnounced();
    api_.EndPods();
    return result;
  }

  std::string CauseOfDeath() const {
    return bridge_.has_value() ? bridge_->cause_of_death() : "";
  }
  bool IsAlive() const { return CauseOfDeath().empty(); }

  // Each pod is known to the daemon once, and where it is bound.
  void ExpectThatTheDaemonKnowsEveryPod() {
    Client client(port_);
    std::multimap<std::string, std::string> machines;
    v1::ListTasksRequest request;
    do {
      grpc::ClientContext context;
      v1::ListTasksResponse page;
      ASSERT_TRUE(client.inspector().ListTasks(&context, request, &page).ok());
      for (const v1::Task& task : page.tasks()) {
        machines.emplace(task.name(), task.machine_name());
      }
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    for (const auto& [name, pod] : api_.pods()) {
      EXPECT_EQ(machines.count(name), 1) << name;
      const auto machine = machines.find(name);
      if (machine != machines.end()) {
        EXPECT_EQ(machine->second, pod.node) << name;
      }
    }
  }

  static constexpr uint64_t kSeed = 20261114;

  // A test that stands still for a while has not announced all there is.
  DaemonProcess daemon_{{"--listen_address=127.0.0.1:0",
                         "--http_address=", "--announcement_quiet_ms=10000"}};
  int port_ = 0;
  Rng rng_{kSeed};
  FakeApiServer api_{kSeed};
  std::optional<WatchingBridge> bridge_;
};

TEST_F(Bridge, ThatRestartsUnderChurnNeverDiesAndBindsEveryPod) {
  // Room for the pods, and for some of which nobody told that they went.
  for (int i = 0; i < 40; ++i) api_.AddNode(StrCat("node-", i), 6000);
  for (int i = 0; i < 10; ++i) {
    api_.AddReplicaSet(StrCat("rs-", i), 30, 100 * (i + 1));
  }
  for (int life = 0; life < 10; ++life) {
    SCOPED_TRACE(StrCat("life ", life));
    StartBridge();
    for (uint64_t waves = rng_.Below(3); waves > 0; --waves) {
      ASSERT_TRUE(Replace(10 + rng_.Below(10)));
    }
    RunForAWhile();
    ASSERT_EQ(CauseOfDeath(), "");
    StopBridge();
    if (rng_.Chance(1, 2)) api_.EndPods();
    for (uint64_t pods = rng_.Below(15); pods > 0; --pods) {
      api_.Delete(AnyPod());
    }
  }
  StartBridge();
  api_.EndPods();
  ASSERT_TRUE(RunUntilSettled());
  EXPECT_EQ(api_.unbound_count(), 0);
  EXPECT_EQ(api_.Overcommitted(), "");
  ExpectThatTheDaemonKnowsEveryPod();
}

TEST_F(Bridge, WhoseReplicaSetIsReplacedThriceBindsAllOfIt) {
  for (int i = 0; i < 20; ++i) api_.AddNode(StrCat("node-", i), 4000);
  api_.AddReplicaSet("rs", 60, 500);
  StartBridge();
  for (int time = 0; time < 3; ++time) {
    SCOPED_TRACE(StrCat("time ", time));
    ASSERT_TRUE(Replace(20));
  }
  ASSERT_TRUE(RunUntilSettled());
  EXPECT_EQ(api_.pods().size(), 60);
  EXPECT_EQ(api_.unbound_count(), 0);
  EXPECT_EQ(api_.Overcommitted(), "");
  ExpectThatTheDaemonKnowsEveryPod();
}

TEST_F(Bridge, ThatHasManyPodsPendingMayBeginAnew) {
  for (int i = 0; i < 10; ++i) api_.AddNode(StrCat("small-", i), 100);
  for (int i = 0; i < 10; ++i) api_.AddReplicaSet(StrCat("rs-", i), 30, 400);
  for (int life = 0; life < 5; ++life) {
    SCOPED_TRACE(StrCat("life ", life));
    StartBridge();
    if (life % 2 == 0) {
      ASSERT_TRUE(RunUntilAnnounced());
      ASSERT_TRUE(RunForReplies(3));
    } else {
      RunForAWhile();
      ASSERT_EQ(CauseOfDeath(), "");
    }
    StopBridge();
    for (int i = 0; i < 10; ++i) api_.Delete(AnyPod());
    // Fewer pods have fewer uids: those of some that went come never again.
    for (int i = 0; i < 10; ++i) api_.ScaleDownBy(AnyPod());
  }
  StartBridge();
  ASSERT_TRUE(RunUntilAnnounced());
  EXPECT_EQ(api_.unbound_count(), 250);
  for (int i = 0; i < 40; ++i) api_.AddNode(StrCat("large-", i), 4000);
  ASSERT_TRUE(RunUntilSettled());
  EXPECT_EQ(api_.unbound_count(), 0);
  EXPECT_EQ(api_.Overcommitted(), "");
}

}  // namespace
}  // namespace sluice
