#include <gtest/gtest.h>

#include <string>

#include "cost/policy_set.h"
#include "sluice/cost/cost_model.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

JobBounds BoundsOf(const std::string& names) {
  absl::StatusOr<PolicySet> set = PolicySet::FromNames(names);
  EXPECT_TRUE(set.ok()) << set.status();
  return set->BoundsOfJobs();
}

TEST(JobBounds, HasParameters) {
  const JobBounds plain = BoundsOf("cpu_memory,job_bounds");
  EXPECT_EQ(plain.topology_key, "rack");
  EXPECT_EQ(plain.at_least, 1);
  EXPECT_EQ(plain.at_most, 0);
  const JobBounds zones =
      BoundsOf("job_bounds:label=zone:at_least=2:at_most=3");
  EXPECT_EQ(zones.topology_key, "zone");
  EXPECT_EQ(zones.at_least, 2);
  EXPECT_EQ(zones.at_most, 3);
  EXPECT_EQ(BoundsOf("job_bounds:label=").topology_key, "");
  EXPECT_EQ(BoundsOf("cpu_memory").at_least, 0);
}

TEST(JobBounds, RefusesWhatMakesNoSense) {
  const auto refused = [](const char* names, const char* error) {
    EXPECT_THAT(
        PolicySet::FromNames(names),
        StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr(error)))
        << names;
  };
  refused("job_bounds:at_least=-1", "at_least: 0 to 1000000 are allowed");
  refused("job_bounds:at_most=1000001", "at_most: 0 to 1000000 are allowed");
  refused("job_bounds:at_most=2:at_least=3", "at_least 3 is above at_most 2");
  refused("job_bounds:seed=3", "no parameter 'seed'");
  refused("job_bounds:labels=x", "'labels=x' is not a parameter");
}

}  // namespace
}  // namespace sluice
