#include "sluice/state/machine.h"

#include <algorithm>

namespace sluice {

const std::string* Machine::FindLabel(std::string_view key) const {
  return sluice::FindLabel(labels, key);
}

void Machine::AddLoad(const Resources& load,
                      const std::vector<HostPort>& host_ports) {
  used += load;
  for (const HostPort& port : host_ports) {
    used_host_ports.insert(std::ranges::upper_bound(used_host_ports, port),
                           port);
  }
}

void Machine::ReleasePorts(const std::vector<HostPort>& host_ports) {
  for (const HostPort& port : host_ports) {
    used_host_ports.erase(std::ranges::lower_bound(used_host_ports, port));
  }
}

}  // namespace sluice
