#include "constraints/domain_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/constraints/peers_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;

PlacementRules AtLeast(int32_t count, const std::string& topology = "zone") {
  return {.minimums = {{{App("web"), topology}, count}}};
}

class DomainSharesTest : public PeersTest {
 protected:
  // Zones a (two machines), b and c.
  DomainSharesTest() {
    AddZones();
    AddMachine("c1", {{"zone", "c"}});
  }
  // Of zones a, b, c.
  std::vector<int64_t> SharesOf(int64_t count, int32_t at_least,
                                int64_t room_on_each = 100) {
    const ClassKey& key = ClassOf("web", AtLeast(at_least));
    return DomainShares(state(), key, 0).Of(count, [=](const Machine&) {
      return room_on_each;
    });
  }
};

TEST_F(DomainSharesTest, AreWhatDomainsLack) {
  RunOn("a1", "web");
  RunOn("b1", "web");
  RunOn("b1", "web");
  RunOn("b1", "web");
  RunOn("c1", "db");
  EXPECT_THAT(SharesOf(10, 2), ElementsAre(1, 0, 2));
  EXPECT_THAT(SharesOf(10, 4), ElementsAre(3, 1, 4));
}

TEST_F(DomainSharesTest, RiseLikeWaterWhereThereAreTooFew) {
  RunOn("a1", "web");
  RunOn("b1", "web");
  RunOn("b1", "web");
  EXPECT_THAT(SharesOf(0, 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(SharesOf(1, 3), ElementsAre(0, 0, 1));
  EXPECT_THAT(SharesOf(3, 3), ElementsAre(1, 0, 2));
  EXPECT_THAT(SharesOf(5, 3), ElementsAre(2, 1, 2));
  EXPECT_THAT(SharesOf(6, 3), ElementsAre(2, 1, 3));
}

TEST_F(DomainSharesTest, AreNoMoreThanThereIsRoomFor) {
  // Of the two machines in zone a together.
  EXPECT_THAT(SharesOf(10, 3, /*room_on_each=*/1), ElementsAre(2, 1, 1));
  EXPECT_THAT(SharesOf(10, 3, /*room_on_each=*/0), ElementsAre(0, 0, 0));
}

TEST_F(DomainSharesTest, AreSaidByTheUuidsOfMachinesWithoutNames) {
  auto added = Added("nameless", {});
  added.spec.name.clear();
  state_.Apply(added, 0);
  for (const char* machine : {"a1", "a2", "b1", "c1", "x1"}) {
    RunOn(machine, "web");
  }
  EXPECT_EQ(MinimumsText(state(), ClassOf("web", AtLeast(1, ""))),
            "; too few of app=web of namespace ns: of the 1 that it should "
            "have, nameless has 0");
}

TEST_F(DomainSharesTest, AreSaidByDomain) {
  RunOn("a1", "web");
  RunOn("a2", "web");
  RunOn("b1", "web");
  const ClassKey& key = ClassOf("web", AtLeast(2));
  EXPECT_EQ(DomainShares(state(), key, 0).Lacking(), 3);
  EXPECT_EQ(MinimumsText(state(), key),
            "; too few of app=web of namespace ns: of the 2 that it should "
            "have, zone=b has 1, zone=c has 0");
  EXPECT_EQ(MinimumsText(state(), ClassOf("web", AtLeast(1, "rack"))), "");
  EXPECT_EQ(MinimumsText(state(), ClassOf("web", {})), "");
}

}  // namespace
}  // namespace sluice
