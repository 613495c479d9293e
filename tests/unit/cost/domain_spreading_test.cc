#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cost/policy_set.h"
#include "sluice/cost/cost_model.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

PolicySet Set(const std::string& names) {
  absl::StatusOr<PolicySet> set = PolicySet::FromNames(names);
  EXPECT_TRUE(set.ok()) << set.status();
  return *std::move(set);
}

TEST(DomainSpreading, ChargesTheMeanOfCpuAndMemory) {
  const PolicySet set = Set("domain_spreading");
  EXPECT_EQ(set.AggregateLabel(), "rack");
  const Resources offered(8000, 1000, 0, 0);
  EXPECT_EQ(set.AggregateCost({}, offered), 0);
  EXPECT_EQ(set.AggregateCost(Resources(4000, 250, 0, 0), offered), 2250);
  EXPECT_EQ(set.AggregateCost(offered, offered), 6000);
  // More may be in use than there is, and of what there is not.
  const Resources huge(INT64_MAX, INT64_MAX, 0, 0);
  EXPECT_EQ(set.AggregateCost(huge, offered), 6000);
  EXPECT_EQ(set.AggregateCost(huge, {}), 0);
}

TEST(DomainSpreading, HasALabel) {
  EXPECT_EQ(Set("domain_spreading:label=topology.kubernetes.io/zone")
                .AggregateLabel(),
            "topology.kubernetes.io/zone");
  EXPECT_EQ(Set("cpu_memory").AggregateLabel(), "");
  for (const char* names :
       {"domain_spreading:label=", "domain_spreading:labels=x",
        "domain_spreading:label", "domain_spreading:seed=1"}) {
    EXPECT_FALSE(PolicySet::FromNames(names).ok()) << names;
  }
}

}  // namespace
}  // namespace sluice
