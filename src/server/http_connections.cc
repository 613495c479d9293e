#include "server/http_connections.h"

#include <algorithm>

#include "base/limits.h"

namespace sluice {

std::optional<int> HttpConnections::Add(int socket, std::string_view address) {
  const auto is_neighbor = [&](const Connection& connection) {
    return connection.address == address;
  };
  const auto neighbor_count = static_cast<size_t>(
      std::count_if(connections_.begin(), connections_.end(), is_neighbor));
  auto oldest = connections_.end();
  if (neighbor_count >= kHttpConnectionsPerAddressMax) {
    oldest =
        std::find_if(connections_.begin(), connections_.end(), is_neighbor);
  } else if (connections_.size() >= kHttpConnectionsMax) {
    oldest = connections_.begin();
  }
  std::optional<int> displaced;
  if (oldest != connections_.end()) {
    displaced = oldest->socket;
    connections_.erase(oldest);
  }
  connections_.push_back({socket, std::string(address)});
  return displaced;
}

void HttpConnections::Remove(int socket) {
  std::erase_if(connections_, [socket](const Connection& connection) {
    return connection.socket == socket;
  });
}

}  // namespace sluice
