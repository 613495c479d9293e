#include "round/packing/shared_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {
namespace {

using ::testing::ElementsAre;

PlacementRules Listening(std::vector<HostPort> ports) {
  return {.host_ports = std::move(ports)};
}

// By class, what it asks for of each dimension that is added.
std::vector<std::vector<int64_t>> Added(
    const std::vector<PlacementRules>& rules) {
  std::vector<ClassKey> keys;
  for (const PlacementRules& one : rules) {
    keys.push_back({.request = {}, .rules = &one});
  }
  PackingProblem problem;
  problem.classes.resize(keys.size());
  const size_t count = AddSharedPorts(keys, &problem);
  std::vector<std::vector<int64_t>> requests;
  for (const PackingClass& one : problem.classes) {
    EXPECT_EQ(one.request.size(), count);
    requests.push_back(one.request);
  }
  return requests;
}

TEST(SharedPorts, AreADimensionOfThoseWhoListenOnThem) {
  EXPECT_THAT(
      Added({Listening({{.port = 80}}), Listening({{.port = 80}, {.port = 81}}),
             Listening({{.port = 82}})}),
      ElementsAre(ElementsAre(1), ElementsAre(1), ElementsAre(0)));
}

TEST(SharedPorts, AreSharedWithWhoListensOnAllAddresses) {
  EXPECT_THAT(
      Added({Listening({{.address = "10.0.0.1", .port = 80}}),
             Listening({{.address = "10.0.0.2", .port = 80}}),
             Listening({{.port = 80}})}),
      ElementsAre(ElementsAre(1, 0), ElementsAre(0, 1), ElementsAre(1, 1)));
}

TEST(SharedPorts, AreOnlySoMany) {
  PlacementRules many;
  for (int32_t port = 1; port <= 2 * static_cast<int32_t>(kSharedPortsMax);
       ++port) {
    many.host_ports.push_back({.port = port});
  }
  EXPECT_EQ(Added({many, many})[0].size(), kSharedPortsMax);
}

}  // namespace
}  // namespace sluice
