#include "round/together/promised_spreads.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "constraints/constraint_set.h"
#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

class PromisedSpreadsTest : public StateTest {
 protected:
  PromisedSpreadsTest() {
    for (const std::string name : {"a", "b"}) {
      Do(Added(name, {.cpu = 1000, .labels = {{"zone", name}}}));
    }
    for (uint64_t uid = 1; uid <= 4; ++uid) {
      Do(Submitted(uid,
                   {.cpu = 100,
                    .labels = {{"app", "web"}},
                    .rules = {.spread = {Spread(App("web"), "zone")}}},
                   PeerOptions()));
    }
    state_.SyncPeers();
  }
  MachineId On(const std::string& uuid) { return MachineOf(uuid).id; }
  PromisedSpreads Spreads() {
    state_.SyncPeers();
    return {state_, constraints_, state_.FindTask({1})->class_key};
  }
  bool Allow(const std::string& uuid) { return Spreads().Allow(On(uuid)); }
  bool AllowAll(const std::string& uuid) {
    return Spreads().AllowAll(On(uuid));
  }
  const ConstraintSet constraints_;
};

TEST_F(PromisedSpreadsTest, CountWhatComesForOtherDomainsAlone) {
  state_.Place({1}, On("a"), 0);
  EXPECT_FALSE(Allow("a"));
  EXPECT_TRUE(AllowAll("a"));
  // Another one comes to "b", so "a" may have two.
  state_.Nominate({2}, On("b"));
  EXPECT_TRUE(Allow("a"));
  // One of two may come to "a".
  state_.Nominate({3}, On("a"));
  EXPECT_TRUE(AllowAll("a"));
  state_.Nominate({4}, On("a"));
  EXPECT_TRUE(Allow("a"));
  EXPECT_FALSE(AllowAll("a"));
}

}  // namespace
}  // namespace sluice
