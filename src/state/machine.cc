#include "sluice/state/machine.h"

#include <algorithm>
#include <utility>

#include "state/dominant_share.h"

namespace sluice {
namespace {

// Shares are compared in parts per million.
constexpr int64_t kShareParts = 1000000;

void AddPorts(const std::vector<HostPort>& ports, std::vector<HostPort>* to) {
  for (const HostPort& port : ports) {
    to->insert(std::ranges::upper_bound(*to, port), port);
  }
}

void RemovePorts(const std::vector<HostPort>& ports,
                 std::vector<HostPort>* from) {
  for (const HostPort& port : ports) {
    from->erase(std::ranges::lower_bound(*from, port));
  }
}

}  // namespace

const std::string* Machine::FindLabel(std::string_view key) const {
  return sluice::FindLabel(labels, key);
}

void Machine::AddLoad(const Resources& load,
                      const std::vector<HostPort>& host_ports) {
  used += load;
  AddPorts(host_ports, &used_host_ports);
}

void Machine::ReleasePorts(const std::vector<HostPort>& host_ports) {
  RemovePorts(host_ports, &used_host_ports);
}

void Machine::KeepPorts(const std::vector<HostPort>& host_ports) {
  AddPorts(host_ports, &kept_host_ports);
}

void Machine::ReleaseKeptPorts(const std::vector<HostPort>& host_ports) {
  RemovePorts(host_ports, &kept_host_ports);
}

int32_t Machine::RoomiestPu(const Resources& request) const {
  int32_t best = kNoPu;
  std::pair<int64_t, int64_t> best_load;
  for (size_t i = 0; i < pus.size(); ++i) {
    const ProcessingUnit& pu = pus[i];
    const std::pair load(
        DominantShare(pu.used + request, pu.capacity).In(kShareParts),
        pu.task_count);
    if (best == kNoPu || load < best_load) {
      best = static_cast<int32_t>(i);
      best_load = load;
    }
  }
  return best;
}

}  // namespace sluice
