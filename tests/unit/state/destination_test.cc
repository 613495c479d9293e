#include "state/destination.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

// Of 1,000, on two units.
MachineOptions WithUnits(const std::string& uuid) {
  return {.cpu = 1000,
          .pus = {{uuid + "0", {{"cpu", 500}}}, {uuid + "1", {{"cpu", 500}}}}};
}

class DestinationTest : public StateTest {
 protected:
  std::string Machine() const {
    return DestinationOf(Outbox().back(), state_).machine->uuid;
  }
  std::string Resource() const {
    return *DestinationOf(Outbox().back(), state_).resource_uuid;
  }
};

TEST_F(DestinationTest, IsWhereTheTaskIs) {
  Do(Added("m", WithUnits("m")));
  Do(Submitted(1, {.cpu = 100}));
  Place(1, "m");
  EXPECT_EQ(Machine(), "m");
  EXPECT_EQ(Resource(), "m0");
  Do(Submitted(2, {.cpu = 100}));
  Place(2, "m");
  EXPECT_EQ(Resource(), "m1");
  DeliverAll();
  state_.Preempt({1});
  EXPECT_EQ(Resource(), "m0");
}

TEST_F(DestinationTest, IsTheRoomThatIsKeptWhereATaskIsToMove) {
  Do(Added("m", {.cpu = 1000}));
  Do(Added("n", WithUnits("n")));
  Do(Submitted(1, {.cpu = 100}));
  Run(1, "m");
  Do(Submitted(2, {.cpu = 100}));
  Run(2, "n");
  state_.Migrate({1}, MachineOf("n").id);
  EXPECT_EQ(Machine(), "n");
  EXPECT_EQ(Resource(), "n1") << "the roomier one";
  Do(Removed("n"));
  EXPECT_EQ(Machine(), "m") << "no room is kept any more";
  EXPECT_EQ(Resource(), "m");
}

}  // namespace
}  // namespace sluice
