// R4: what a client may have forgotten is never named to it, however many calls
// are under way.  (That a removal waits for a reply which names its task is in
// delivery_test.cc, where the reply can be held up.)

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "base/rng.h"
#include "integration/fake_bridge.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

// An element of a set, all alike likely.
template <class Set>
typename Set::value_type Any(const Set& set, Rng* rng) {
  return *std::next(set.begin(),
                    static_cast<ptrdiff_t>(rng->Below(set.size())));
}

TEST(Ordering, R4ThousandsOfCallsAtOnceNeverMeetWhatTheirClientForgot) {
  constexpr uint64_t kSeed = 7;
  constexpr int kCalls = 20000;
  // How many placements that makes hangs on how fast the rounds come; on a
  // busy machine it takes more calls until they are enough to prove anything.
  constexpr int kCallsMax = 100 * kCalls;
  constexpr int kPlacements = 1000;
  constexpr int kInFlightMax = 2000;
  Options options = MiniServer::OptionsFor(ReplyMode::kContract);
  options.improve_budget = 0;  // Many replies, be they not the best.
  MiniServer server(options);
  FakeBridge bridge(Connect(server.port()));
  Rng rng(kSeed);
  for (int i = 0; i < 20; ++i) bridge.AddNode(StrCat("node-", i));
  bridge.AwaitAll();
  uint64_t next_uid = 1;
  uint64_t next_node = 20;
  const auto is_enough = [&](int calls) {
    return calls == kCallsMax || !bridge.cause_of_death().empty() ||
           (calls >= kCalls && bridge.placement_count() > kPlacements);
  };
  for (int calls = 0; !is_enough(calls); ++calls) {
    if (!bridge.is_scheduling()) bridge.Schedule();
    if (rng.Chance(1, 200) && !bridge.nodes().empty()) {
      bridge.RemoveNode(Any(bridge.nodes(), &rng));
      bridge.AddNode(StrCat("node-", next_node++));
    } else if (bridge.pods().size() > 500 || rng.Chance(2, 5)) {
      if (!bridge.pods().empty()) bridge.Remove(Any(bridge.pods(), &rng));
    } else {
      bridge.Submit(next_uid++, {.cpu = static_cast<float>(rng.Below(300))});
    }
    while (bridge.in_flight() > kInFlightMax) bridge.AwaitOne();
    // Some are caught up with, so that removals meet replies of all ages.
    if (rng.Chance(1, 50)) bridge.AwaitOne();
  }
  bridge.AwaitAll();
  EXPECT_EQ(bridge.cause_of_death(), "") << "seed " << kSeed;
  EXPECT_GT(bridge.placement_count(), kPlacements)
      << "nothing was put to the test";
}

TEST(Ordering, TenThousandSubmissionsDuringScheduleAreAllPlaced) {
  MiniServer server;
  FakeBridge bridge(Connect(server.port()));
  for (int i = 0; i < 10; ++i) {
    bridge.AddNode(StrCat("node-", i), {.cpu = 1e6F, .max_pods = 2000});
  }
  constexpr uint64_t kTasks = 10000;
  for (uint64_t uid = 1; uid <= kTasks; ++uid) {
    if (!bridge.is_scheduling()) bridge.Schedule();
    bridge.Submit(uid, {.cpu = 1});
    while (bridge.in_flight() > 5000) bridge.AwaitOne();
  }
  bridge.AwaitAll();
  bridge.Schedule();
  bridge.AwaitAll();
  EXPECT_EQ(bridge.cause_of_death(), "");
  EXPECT_EQ(bridge.placements().size(), kTasks);
}

}  // namespace
}  // namespace sluice
