#include "sluice/state/machine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/int128.h"

namespace sluice {
namespace {

// The share of `capacity` that `load` takes of its scarcest resource, in ppm.
int64_t DominantShare(const Resources& load, const Resources& capacity) {
  Int128 share = 0;
  for (ResourceIndex i = 0; i < capacity.size(); ++i) {
    if (capacity[i] <= 0) continue;
    share =
        std::max(share, static_cast<Int128>(load[i]) * 1000000 / capacity[i]);
  }
  return static_cast<int64_t>(
      std::min<Int128>(share, std::numeric_limits<int64_t>::max()));
}

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
    const std::pair load(DominantShare(pu.used + request, pu.capacity),
                         pu.task_count);
    if (best == kNoPu || load < best_load) {
      best = static_cast<int32_t>(i);
      best_load = load;
    }
  }
  return best;
}

}  // namespace sluice
