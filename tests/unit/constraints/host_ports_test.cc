// The reasons that host ports give, and what addresses mean;
// kubernetes_rules_test.cc has the other verdicts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/constraints/rule_cases.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(HostPorts, GiveAReasonForEachThatIsTaken) {
  const auto rules = Listening({TcpPort(80), TcpPort(8080, "10.0.0.1"),
                                UdpPort(53, "::1"), TcpPort(443)});
  const Machine machine =
      Used({TcpPort(80, "10.0.0.1"), TcpPort(8080), UdpPort(53)});
  EXPECT_THAT(
      ReasonsFor(rules, machine),
      ElementsAre("host_port_in_use | had the host port 80/TCP in use | "
                  "lacks a free host port 80/TCP",
                  "host_port_in_use | had the host port 10.0.0.1:8080/TCP in "
                  "use | lacks a free host port 10.0.0.1:8080/TCP",
                  "host_port_in_use | had the host port [::1]:53/UDP in use | "
                  "lacks a free host port [::1]:53/UDP"));
}

TEST(HostPorts, AreTakenWhereTheyAreKeptForATaskThatIsToCome) {
  Machine machine = Used({});
  machine.KeepPorts({TcpPort(80)});
  EXPECT_FALSE(IsAllowed(Listening({TcpPort(80)}), machine));
  EXPECT_TRUE(IsAllowed(Listening({TcpPort(81)}), machine));
  EXPECT_THAT(ReasonsFor(Listening({TcpPort(80)}), machine),
              ElementsAre("host_port_in_use | had the host port 80/TCP in use "
                          "| keeps the host port 80/TCP for a task that is to "
                          "come"));
  machine.ReleaseKeptPorts({TcpPort(80)});
  EXPECT_TRUE(IsAllowed(Listening({TcpPort(80)}), machine));
}

TEST(HostPorts, AreSilentWhereTheyAreFree) {
  EXPECT_THAT(ReasonsFor(Listening({TcpPort(80), UdpPort(81)}),
                         Used({UdpPort(80), TcpPort(81)})),
              IsEmpty());
}

TEST(HostPorts, TakeBothUnspecifiedAddressesForAll) {
  for (const char* all : {"0.0.0.0", "::"}) {
    for (const char* other : {"0.0.0.0", "::", "10.0.0.1", "::1"}) {
      EXPECT_FALSE(
          IsAllowed(Listening({TcpPort(80, all)}), Used({TcpPort(80, other)})))
          << all << " against " << other;
      EXPECT_FALSE(
          IsAllowed(Listening({TcpPort(80, other)}), Used({TcpPort(80, all)})))
          << other << " against " << all;
    }
  }
  EXPECT_TRUE(IsAllowed(Listening({TcpPort(80, "::1")}),
                        Used({TcpPort(80, "10.0.0.1")})));
}

}  // namespace
}  // namespace sluice
