#include "round/packing/shared_ports.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace sluice {

size_t AddSharedPorts(std::span<const ClassKey> keys, PackingProblem* problem) {
  std::map<std::pair<std::string, int32_t>,
           std::map<std::string, std::set<size_t>>>
      listeners;  // By address, then class.
  for (size_t c = 0; c < keys.size(); ++c) {
    for (const HostPort& port : keys[c].rules->host_ports) {
      listeners[{port.protocol, port.port}]
               [port.IsOnAllAddresses() ? "" : port.address]
                   .insert(c);
    }
  }
  size_t count = 0;
  for (auto& [port, by_address] : listeners) {
    const std::set<size_t> everywhere = by_address[""];
    if (by_address.size() > 1) by_address.erase("");
    for (auto& [address, classes] : by_address) {
      classes.insert(everywhere.begin(), everywhere.end());
      if (classes.size() < 2 || count == kSharedPortsMax) continue;
      ++count;
      for (size_t c = 0; c < keys.size(); ++c) {
        problem->classes[c].request.push_back(classes.contains(c));
      }
    }
  }
  return count;
}

}  // namespace sluice
