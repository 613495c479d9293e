#include "state/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Machine Labeled(uint32_t id, LabelPairs labels) {
  Machine machine;
  machine.id = {id};
  machine.labels = std::move(labels);
  return machine;
}

// Puts the machine where it belongs.
DomainIndex Put(const Machine& machine, Topology* topology) {
  topology->Move(machine.id, topology->DomainFor(machine));
  return topology->DomainOf(machine.id);
}

TEST(Tally, CountsByDomainAndForgetsWhatIsNothing) {
  Tally tally;
  tally.Add(3, 2);
  tally.Add(5, -4);
  tally.Add(kNoDomain, 7);
  EXPECT_EQ(tally.At(3), 2);
  EXPECT_EQ(tally.At(4), 0);
  EXPECT_EQ(tally.At(kNoDomain), 0);
  EXPECT_EQ(tally.total(), -2);
  tally.Add(5, 4);
  EXPECT_THAT(tally.counts(), ElementsAre(std::pair(3, 2)));
  EXPECT_EQ(tally.total(), 2);
}

TEST(Topology, PutsMachinesWithOneValueIntoOneDomain) {
  Topology zones("zone");
  const DomainIndex a = Put(Labeled(1, {{"zone", "a"}}), &zones);
  const DomainIndex b = Put(Labeled(2, {{"host", "a"}, {"zone", "b"}}), &zones);
  const DomainIndex empty = Put(Labeled(3, {{"zone", ""}}), &zones);
  EXPECT_EQ(std::set({a, b, empty}).size(), 3u);
  EXPECT_EQ(Put(Labeled(4, {{"zone", "a"}}), &zones), a);
  EXPECT_EQ(zones.domain_end(), 3);
  EXPECT_THAT(zones.MachinesOf(a), ElementsAre(MachineId{1}, MachineId{4}));
  EXPECT_THAT(zones.MachinesOf(b), ElementsAre(MachineId{2}));
}

TEST(Topology, IsOneDomainOfTheWholeCluster) {
  Topology cluster("*");
  const DomainIndex all = Put(Labeled(1, {{"zone", "a"}}), &cluster);
  EXPECT_NE(all, kNoDomain);
  EXPECT_EQ(Put(Labeled(2, {}), &cluster), all);
  EXPECT_EQ(Put(Labeled(3, {{"*", "b"}}), &cluster), all);
  EXPECT_FALSE(cluster.is_by_machine());
  EXPECT_THAT(cluster.MachinesOf(all),
              ElementsAre(MachineId{1}, MachineId{2}, MachineId{3}));
}

TEST(Topology, HasNoDomainForMachinesWithoutTheLabel) {
  Topology zones("zone");
  EXPECT_EQ(Put(Labeled(1, {{"zones", "a"}}), &zones), kNoDomain);
  EXPECT_EQ(zones.DomainOf({7}), kNoDomain) << "never heard of";
  EXPECT_EQ(zones.domain_end(), 0);
}

TEST(Topology, WithoutAKeyMakesEachMachineADomain) {
  Topology machines("");
  std::set<DomainIndex> domains;
  for (const uint32_t id : {0u, 1u, 11u}) {
    domains.insert(Put(Labeled(id, {{"", "same"}}), &machines));
  }
  EXPECT_EQ(domains.size(), 3u);
  EXPECT_FALSE(domains.contains(kNoDomain));
  EXPECT_TRUE(machines.is_by_machine());
}

TEST(Topology, IsByMachineWhileNoTwoShareADomain) {
  Topology hosts("host");
  EXPECT_TRUE(hosts.is_by_machine());
  Put(Labeled(1, {{"host", "a"}}), &hosts);
  Put(Labeled(2, {{"host", "b"}}), &hosts);
  EXPECT_TRUE(hosts.is_by_machine());
  Put(Labeled(3, {{"host", "a"}}), &hosts);
  Put(Labeled(4, {{"host", "a"}}), &hosts);
  EXPECT_FALSE(hosts.is_by_machine());
  Put(Labeled(1, {}), &hosts);
  EXPECT_FALSE(hosts.is_by_machine());
  Put(Labeled(3, {{"host", "c"}}), &hosts);
  EXPECT_TRUE(hosts.is_by_machine());
}

TEST(Topology, GivesTheNumberOfADomainThatIsNoMoreToAnother) {
  Topology zones("zone");
  const DomainIndex a = Put(Labeled(1, {{"zone", "a"}}), &zones);
  Put(Labeled(2, {{"zone", "b"}}), &zones);
  Put(Labeled(1, {}), &zones);
  EXPECT_THAT(zones.MachinesOf(a), IsEmpty());
  EXPECT_EQ(Put(Labeled(3, {{"zone", "c"}}), &zones), a);
  EXPECT_NE(Put(Labeled(4, {{"zone", "a"}}), &zones), a);
  EXPECT_EQ(zones.domain_end(), 3);
}

}  // namespace
}  // namespace sluice
