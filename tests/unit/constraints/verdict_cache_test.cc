#include "constraints/verdict_cache.h"

#include <gtest/gtest.h>

#include <vector>

#include "util/cluster_builder.h"

namespace sluice {
namespace {

class VerdictCacheTest : public testing::Test {
 protected:
  VerdictCacheTest() {
    rules_.id = 1;
    rules_.selectors = {LabelIn("disk", {"ssd"})};
    ClusterBuilder()
        .Machine("hdd", {.labels = {{"disk", "hdd"}}})
        .Machine("ssd", {.labels = {{"disk", "ssd"}}})
        .Machine("tainted",
                 {.labels = {{"disk", "ssd"}}, .taints = {NoSchedule("k")}})
        .ApplyTo(&state_);
    for (const auto& [id, fields] : state_.TakeDescribedMachines()) {
      kinds_.Update(id, fields, state_);
    }
    kinds_.Learn(std::vector<const PlacementRules*>{&rules_}, state_);
  }
  bool Allows(std::string_view uuid) {
    return cache_.Allows(rules_, kinds_,
                         kinds_.KindOf(state_.FindMachine(uuid)->id));
  }

  ClusterState state_;
  PlacementRules rules_;
  MachineKinds kinds_;
  const ConstraintSet constraints_;
  VerdictCache cache_{constraints_};
};

TEST_F(VerdictCacheTest, SaysWhatTheConstraintsSay) {
  EXPECT_FALSE(Allows("hdd"));
  EXPECT_TRUE(Allows("ssd"));
  EXPECT_FALSE(Allows("tainted"));
}

TEST_F(VerdictCacheTest, AsksOnce) {
  Allows("ssd");
  const int64_t evaluations = cache_.evaluation_count();
  EXPECT_GT(evaluations, 0);
  EXPECT_EQ(cache_.hit_count(), 0);
  EXPECT_TRUE(Allows("ssd"));
  EXPECT_EQ(cache_.evaluation_count(), evaluations);
  EXPECT_EQ(cache_.hit_count(), evaluations);
}

TEST_F(VerdictCacheTest, SharesVerdictsBetweenKindsThatAreAlikeInAnAspect) {
  Allows("ssd");
  const int64_t evaluations = cache_.evaluation_count();
  EXPECT_FALSE(Allows("tainted"));
  EXPECT_EQ(cache_.evaluation_count(), evaluations + 1) << "the taints alone";
}

TEST_F(VerdictCacheTest, AsksAgainForRulesThatItForgot) {
  Allows("ssd");
  const int64_t evaluations = cache_.evaluation_count();
  cache_.Forget(std::vector<uint32_t>{rules_.id, 99});
  EXPECT_TRUE(Allows("ssd"));
  EXPECT_EQ(cache_.evaluation_count(), 2 * evaluations);
}

}  // namespace
}  // namespace sluice
