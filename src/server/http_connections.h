// The open connections of the HTTP server, and which of them is closed when
// there are too many.
//
// A new connection is always let in, and an old one is closed for it: the
// oldest of the same address if that address already has
// kHttpConnectionsPerAddressMax, or the oldest of all if there are
// kHttpConnectionsMax. Clients that fill the port push out their own
// connections.  A probe sends its request at once and is answered long before
// its connection is the oldest.
//
// Threads: none; confined to the thread of the HTTP server.

#ifndef SLUICE_SERVER_HTTP_CONNECTIONS_H_
#define SLUICE_SERVER_HTTP_CONNECTIONS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class HttpConnections {
 public:
  // Returns the socket to close for the new one, if any, and forgets it.
  std::optional<int> Add(int socket, std::string_view address);

  // Does nothing if `socket` is no longer known.
  void Remove(int socket);

  size_t size() const { return connections_.size(); }

 private:
  struct Connection {
    int socket;
    std::string address;
  };

  std::vector<Connection> connections_;  // Oldest first.
};

}  // namespace sluice

#endif  // SLUICE_SERVER_HTTP_CONNECTIONS_H_
