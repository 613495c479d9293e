#include "server/http_connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/limits.h"
#include "base/strings.h"

namespace sluice {
namespace {

using testing::Eq;
using testing::Optional;

constexpr int kMax = static_cast<int>(kHttpConnectionsMax);
constexpr int kPerAddressMax = static_cast<int>(kHttpConnectionsPerAddressMax);

TEST(HttpConnections, DisplaceTheOldestOfACrowdedAddress) {
  HttpConnections connections;
  EXPECT_EQ(connections.Add(0, "quiet"), std::nullopt);
  for (int socket = 1; socket <= kPerAddressMax; ++socket) {
    EXPECT_EQ(connections.Add(socket, "crowded"), std::nullopt);
  }
  EXPECT_THAT(connections.Add(1001, "crowded"), Optional(Eq(1)));
  EXPECT_THAT(connections.Add(1002, "crowded"), Optional(Eq(2)));
  EXPECT_EQ(connections.Add(1003, "quiet"), std::nullopt);
}

TEST(HttpConnections, DisplaceTheOldestOfAllWhereAddressesAreMany) {
  HttpConnections connections;
  for (int socket = 0; socket < kMax; ++socket) {
    EXPECT_EQ(connections.Add(socket, StrCat("host-", socket)), std::nullopt);
  }
  EXPECT_THAT(connections.Add(1000, "another"), Optional(Eq(0)));
  EXPECT_EQ(connections.size(), kHttpConnectionsMax);
}

TEST(HttpConnections, HaveRoomAgainWhereOneEnded) {
  HttpConnections connections;
  for (int socket = 0; socket < kPerAddressMax; ++socket) {
    connections.Add(socket, "host");
  }
  connections.Remove(5);
  EXPECT_EQ(connections.Add(1000, "host"), std::nullopt);
}

// A displaced connection is forgotten before its end is noticed.
TEST(HttpConnections, RemoveWhatIsNotKnownAnyMore) {
  HttpConnections connections;
  for (int socket = 0; socket <= kPerAddressMax; ++socket) {
    connections.Add(socket, "host");
  }
  connections.Remove(0);
  EXPECT_EQ(connections.size(), kHttpConnectionsPerAddressMax);
}

}  // namespace
}  // namespace sluice
