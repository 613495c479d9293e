#include "explain/cost_terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CostTermsTest : public testing::Test {
 protected:
  void Run(uint64_t uid, const TaskOptions& options, std::string_view machine) {
    scheduler_.Apply(Submitted(uid, options));
    ClusterState& state = scheduler_.mutable_state();
    state.Place({uid}, state.FindMachine(machine)->id, 0);
  }
  std::vector<CostTerms> Terms(uint64_t uid) {
    scheduler_.mutable_state().SyncPeers();
    return FindCostTerms(scheduler_.TaskOf(uid), scheduler_.scheduler());
  }
  std::string NameOf(const CostTerms& terms) const {
    return scheduler_.state().FindMachine(terms.machine)->uuid;
  }

  TestScheduler scheduler_{RoundOptions(), "cpu_memory,job_spread,taint"};
};

TEST_F(CostTermsTest, AreThoseOfTheTaskBesideWhatRuns) {
  ClusterBuilder()
      .Machine("own", {.cpu = 1000, .memory = 1000})
      .Machine("full", {.cpu = 1000, .memory = 1000})
      .Machine("next", {.cpu = 1000, .memory = 1000})
      .Machine("tainted",
               {.cpu = 1000,
                .memory = 1000,
                .taints = {{"k", "v", TaintEffect::kPreferNoSchedule}}})
      .ApplyTo(&scheduler_);
  Run(1, {.cpu = 200, .memory = 200, .job = "a"}, "own");
  Run(2, {.cpu = 400, .memory = 400, .job = "a"}, "own");
  Run(3, {.cpu = 900, .memory = 900, .job = "b"}, "full");
  Run(4, {.cpu = 600, .memory = 600, .job = "b"}, "next");
  const std::vector<CostTerms> terms = Terms(1);
  ASSERT_THAT(terms, SizeIs(2));
  EXPECT_EQ(NameOf(terms[0]), "own");
  EXPECT_THAT(terms[0].terms, ElementsAre(2400, 1, 0));
  EXPECT_EQ(NameOf(terms[1]), "next");
  EXPECT_THAT(terms[1].terms, ElementsAre(2600, 0, 0));
  // Alone it would have nowhere else to go.
  scheduler_.Apply(Removed("next"));
  EXPECT_EQ(NameOf(Terms(1)[1]), "tainted");
  EXPECT_THAT(Terms(1)[1].terms, ElementsAre(2000, 0, 450000));
  scheduler_.Apply(Removed("tainted"));
  EXPECT_THAT(Terms(1), SizeIs(1));
}

TEST(CostTerms, AreByWhatIsKnownOfSpeeds) {
  TestScheduler scheduler(RoundOptions(), "trivial,whare_map:samples=1");
  ClusterBuilder()
      .Machine("own", {.cpu = 1000})
      .Machine("next", {.cpu = 2000})
      .ApplyTo(&scheduler);
  ClusterState& state = scheduler.mutable_state();
  const auto run = [&](uint64_t uid, const char* machine) {
    scheduler.Apply(Submitted(uid, {.binary = "/bin/a"}));
    state.Place({uid}, state.FindMachine(machine)->id, 0);
    scheduler.Deliver();
  };
  run(1, "own");
  scheduler.Apply(CompleteTask{{1}, 300, 1'000'000'000});
  run(2, "next");
  scheduler.Apply(CompleteTask{{2}, 200, 1'000'000'000});
  run(3, "own");
  state.SyncPeers();
  const std::vector<CostTerms> terms =
      FindCostTerms(scheduler.TaskOf(3), scheduler.scheduler());
  ASSERT_THAT(terms, SizeIs(2));
  EXPECT_THAT(terms[0].terms, ElementsAre(2, 750'000));
  EXPECT_THAT(terms[1].terms, ElementsAre(2, 0));
}

TEST_F(CostTermsTest, AreNoneOfATaskThatWaits) {
  ClusterBuilder().Machine("m", {.cpu = 1000}).ApplyTo(&scheduler_);
  scheduler_.Apply(Submitted(1, {.cpu = 5}));
  EXPECT_THAT(Terms(1), IsEmpty());
}

}  // namespace
}  // namespace sluice
