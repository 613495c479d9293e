#include "constraints/domain_shares.h"

#include <algorithm>
#include <span>

#include "base/strings.h"
#include "constraints/named_machine.h"
#include "constraints/peer_text.h"
#include "constraints/shown_text.h"

namespace sluice {
namespace {

// Null if the domain has no usable machine.
const Machine* FirstUsable(const ClusterState& state,
                           const absl::btree_set<MachineId>& machines) {
  for (const MachineId id : machines) {
    const Machine* machine = state.FindMachine(id);
    if (machine != nullptr && machine->IsUsable()) return machine;
  }
  return nullptr;
}

// "zone=a", or the name of the machine if each machine is a domain.
std::string DomainText(const Topology& topology, const Machine& machine) {
  if (topology.key().empty()) return ShownName(machine);
  const std::string* value = machine.FindLabel(topology.key());
  return StrCat(ShownText(topology.key()), "=",
                value == nullptr ? "" : ShownText(*value));
}

}  // namespace

DomainShares::DomainShares(const ClusterState& state, const ClassKey& key,
                           size_t index)
    : state_(state),
      minimum_(key.rules->minimums[index]),
      term_(*state.peers().TermsOf(*key.rules).minimums[index]) {}

int64_t DomainShares::Lacking() const {
  int64_t lacking = 0;
  for (DomainIndex domain = 0; domain < topology().domain_end(); ++domain) {
    if (FirstUsable(state_, topology().MachinesOf(domain)) == nullptr) continue;
    lacking += std::max<int64_t>(minimum_.at_least - CountIn(domain), 0);
  }
  return lacking;
}

std::vector<int64_t> DomainShares::Of(int64_t count, RoomOn room_on) const {
  const auto domains = static_cast<size_t>(topology().domain_end());
  std::vector<int64_t> needs(domains, 0);
  for (size_t d = 0; d < domains; ++d) {
    const auto domain = static_cast<DomainIndex>(d);
    const int64_t lacking = minimum_.at_least - CountIn(domain);
    for (const MachineId id : topology().MachinesOf(domain)) {
      if (needs[d] >= lacking) break;
      const Machine* machine = state_.FindMachine(id);
      if (machine == nullptr || !machine->IsUsable()) continue;
      needs[d] = std::min(lacking, needs[d] + room_on(*machine));
    }
  }
  // What each domain gets of its need if all rise to `level`.
  const auto up_to = [&](int64_t level, size_t d) {
    const int64_t have = CountIn(static_cast<DomainIndex>(d));
    return std::clamp<int64_t>(level - have, 0, needs[d]);
  };
  const auto sum = [&](int64_t level) {
    int64_t total = 0;
    for (size_t d = 0; d < domains; ++d) total += up_to(level, d);
    return total;
  };
  int64_t level = 0;
  for (int64_t end = int64_t{minimum_.at_least} + 1; end - level > 1;) {
    const int64_t middle = level + (end - level) / 2;
    (sum(middle) <= count ? level : end) = middle;
  }
  count -= sum(level);
  std::vector<int64_t> shares(domains, 0);
  for (size_t d = 0; d < domains; ++d) {
    shares[d] = up_to(level, d);
    if (count > 0 && up_to(level + 1, d) > shares[d]) {
      ++shares[d];
      --count;
    }
  }
  return shares;
}

std::string MinimumsText(const ClusterState& state, const ClassKey& key) {
  std::string text;
  for (size_t i = 0; i < key.rules->minimums.size(); ++i) {
    const DomainShares shares(state, key, i);
    const Topology& topology = shares.topology();
    std::vector<std::string> short_ones;
    for (DomainIndex domain = 0; domain < topology.domain_end(); ++domain) {
      const Machine* machine = FirstUsable(state, topology.MachinesOf(domain));
      if (machine == nullptr ||
          shares.CountIn(domain) >= shares.minimum().at_least) {
        continue;
      }
      short_ones.push_back(StrCat(DomainText(topology, *machine), " has ",
                                  shares.CountIn(domain)));
    }
    if (short_ones.empty()) continue;
    text +=
        StrCat("; too few of ", SelectorText(shares.minimum().term.tasks),
               ": of the ", shares.minimum().at_least, " that it should have, ",
               JoinShown(std::span<const std::string>(short_ones), ", ",
                         [](const std::string& one) { return one; }));
  }
  return text;
}

}  // namespace sluice
