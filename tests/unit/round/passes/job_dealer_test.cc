#include "round/passes/job_dealer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

class JobDealerTest : public testing::Test {
 protected:
  JobDealerTest() {
    ClusterBuilder()
        .Machines("m", 3, {.cpu = 1000})
        .Tasks(1, 8, {.cpu = 10, .job = "a"})
        .Tasks(11, 8, {.cpu = 10, .job = "b"})
        .ApplyTo(&cluster_);
  }
  MachineId IdOf(const std::string& machine) {
    return cluster_.state().FindMachine(machine)->id;
  }
  void Place(uint64_t uid, const std::string& machine) {
    cluster_.mutable_state().Place({uid}, IdOf(machine), 0);
  }
  JobId JobOf(uint64_t uid) { return cluster_.TaskOf(uid).job; }
  std::vector<MachineId> Machines() {
    return {IdOf("m0"), IdOf("m1"), IdOf("m2")};
  }

  TestScheduler cluster_;
};

TEST_F(JobDealerTest, GoesToTheFirstOfMachinesThatHaveAsFew) {
  JobDealer dealer(cluster_.state());
  EXPECT_EQ(dealer.Deal(JobOf(1), Machines()), 0);
  EXPECT_EQ(dealer.Deal(JobOf(11), Machines()), 0);
}

TEST_F(JobDealerTest, CountsWhoRunsThere) {
  Place(1, "m0");
  Place(2, "m1");
  Place(3, "m1");
  JobDealer dealer(cluster_.state());
  EXPECT_EQ(dealer.Deal(JobOf(4), Machines()), 2);
  EXPECT_EQ(dealer.Deal(JobOf(11), Machines()), 0);
}

TEST_F(JobDealerTest, CountsWhomItHasDealt) {
  Place(1, "m0");
  JobDealer dealer(cluster_.state());
  EXPECT_EQ(dealer.Deal(JobOf(2), Machines()), 1);
  EXPECT_EQ(dealer.Deal(JobOf(3), Machines()), 2);
  // All have one.
  EXPECT_EQ(dealer.Deal(JobOf(4), Machines()), 0);
  EXPECT_EQ(dealer.Deal(JobOf(5), Machines()), 1);
}

TEST_F(JobDealerTest, TakesWhatIsLeftWhereItHasNoChoice) {
  Place(1, "m1");
  JobDealer dealer(cluster_.state());
  const std::vector<MachineId> one = {IdOf("m1")};
  EXPECT_EQ(dealer.Deal(JobOf(2), one), 0);
  EXPECT_EQ(dealer.Deal(JobOf(3), Machines()), 0);
}

TEST_F(JobDealerTest, PassesOverWhatIsGone) {
  JobDealer dealer(cluster_.state());
  const std::vector<MachineId> machines = {{1000}, IdOf("m1")};
  EXPECT_EQ(dealer.Deal(JobOf(1), machines), 1) << "no such machine";
}

}  // namespace
}  // namespace sluice
