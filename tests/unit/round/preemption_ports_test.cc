// Tasks that are stopped for the host ports that they listen on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/cluster_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class PreemptionPortsTest : public testing::Test {
 protected:
  PreemptionPortsTest()
      : cluster_({.preemption = {.mode = Preemption::kPriority}}) {}

  std::vector<std::string> Reply() {
    std::vector<std::string> texts = cluster_.Reply(++now_ms_);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    return texts;
  }
  void Machine(std::string_view uuid, int64_t cpu = 1000) {
    cluster_.Apply(Added(uuid, {.cpu = cpu}));
  }
  void Submit(uint64_t uid, uint32_t priority, std::vector<HostPort> ports,
              int64_t cpu = 100) {
    TaskOptions options = {.cpu = cpu, .priority = priority};
    options.rules.host_ports = std::move(ports);
    cluster_.Apply(Submitted(uid, options));
  }
  bool IsNominated(uint64_t uid) const {
    return cluster_.state().nominations().Contains({uid});
  }

  TestScheduler cluster_;
  int64_t now_ms_ = 0;
};

TEST_F(PreemptionPortsTest, StopsWhoeverHasThePortWhateverRoomThereIs) {
  Machine("m");
  Submit(1, 0, {{.port = 80}});
  Submit(2, 0, {{.port = 81}});
  Reply();
  Submit(3, 9, {{.port = 80}});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  EXPECT_TRUE(IsNominated(3));
  EXPECT_THAT(Reply(), IsEmpty()) << "it still listens";
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on m"));
}

TEST_F(PreemptionPortsTest, StopsTheLeastUrgentThatHasThePort) {
  for (const char* uuid : {"a", "b", "c"}) Machine(uuid);
  for (const uint64_t uid : {1, 2, 3}) {
    Submit(uid, static_cast<uint32_t>(uid), {{.port = 80}});
  }
  Reply();
  Submit(4, 9, {{.port = 80}});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on " + cluster_.MachineOf(1)));
}

TEST_F(PreemptionPortsTest, StopsNobodyWhereAnotherMachineHasItFree) {
  Machine("a");
  Submit(1, 0, {{.port = 80}});
  Reply();
  Machine("b");
  Submit(2, 9, {{.port = 80}});
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on b"));
}

TEST_F(PreemptionPortsTest, StopsNobodyAsUrgent) {
  Machine("m");
  Submit(1, 9, {{.port = 80}});
  Reply();
  Submit(2, 9, {{.port = 80}});
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(PreemptionPortsTest, TellsAddressesAndProtocolsApart) {
  Machine("m");
  Submit(1, 0, {{.address = "10.0.0.1", .port = 80}});
  Submit(2, 0, {{.protocol = "UDP", .port = 80}});
  Reply();
  Submit(3, 9, {{.address = "10.0.0.2", .port = 80}});
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on m"));
  Submit(4, 8, {{.protocol = "UDP", .address = "10.0.0.3", .port = 80}});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on m"));
}

TEST_F(PreemptionPortsTest, StopsOneThatListensForItsCpu) {
  Machine("m");
  Submit(1, 0, {{.port = 80}}, /*cpu=*/600);
  Submit(2, 1, {{.port = 81}}, /*cpu=*/400);
  Reply();
  Submit(3, 9, {}, /*cpu=*/500);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
}

TEST_F(PreemptionPortsTest, StopsOneForTheTwoPortsOfAnother) {
  for (const char* uuid : {"a", "b"}) Machine(uuid);
  Submit(1, 0, {{.port = 80}});
  Reply();
  Submit(2, 0, {{.port = 80}, {.port = 81}});
  Reply();
  Submit(3, 0, {{.port = 82}});
  Submit(4, 9, {{.port = 80}, {.port = 82}});
  Submit(5, 8, {{.port = 81}});
  EXPECT_THAT(Reply(), UnorderedElementsAre("PREEMPT 2 on b", "PLACE 3 on a"));
  EXPECT_TRUE(IsNominated(4));
  EXPECT_TRUE(IsNominated(5));
}

TEST_F(PreemptionPortsTest, OneOfTwoNewcomersGetsThePort) {
  Machine("m");
  Submit(1, 0, {{.port = 80}});
  Reply();
  Submit(2, 9, {{.port = 80}});
  Submit(3, 9, {{.port = 80}});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  EXPECT_NE(IsNominated(2), IsNominated(3));
}

TEST_F(PreemptionPortsTest, ALessUrgentOneDoesNotTakeThePortMeanwhile) {
  Machine("m");
  Submit(1, 0, {{.port = 80}});
  Reply();
  Submit(2, 9, {{.port = 80}});
  Reply();
  Submit(3, 5, {{.port = 80}});
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on m"));
}

}  // namespace
}  // namespace sluice
