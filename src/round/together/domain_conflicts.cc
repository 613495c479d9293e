#include "round/together/domain_conflicts.h"

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "state/topology.h"

namespace sluice {
namespace {

// A domain of one machine is handled with the machine.
bool IsWide(const CountedTerm& term) { return !term.topology->is_by_machine(); }

void VisitWide(const ClassKey& key, const PeerTable& peers,
               absl::FunctionRef<void(const CountedTerm&)> has,
               absl::FunctionRef<void(const CountedTerm&)> is_meant_by) {
  if (!key.DependsOnPeers()) return;
  for (const CountedTerm* term : peers.TermsOf(*key.rules).anti_affinity) {
    if (IsWide(*term)) has(*term);
  }
  for (const uint32_t selector : *key.meant_by) {
    for (const CountedTerm* term : peers.TermsAbout(selector)) {
      if (IsWide(*term)) is_meant_by(*term);
    }
  }
}

}  // namespace

bool IsKeptFromDomains(const ClassKey& key, const PeerTable& peers) {
  bool is_kept = false;
  VisitWide(
      key, peers, [&](const CountedTerm&) { is_kept = true; },
      [&](const CountedTerm& term) {
        is_kept = is_kept || term.keeping_away.total() > 0;
      });
  return is_kept;
}

bool ConcernsDomains(const ClassKey& key, const PeerTable& peers) {
  bool is_concerned = false;
  const auto note = [&](const CountedTerm&) { is_concerned = true; };
  VisitWide(key, peers, note, note);
  return is_concerned;
}

void DomainConflicts::Add(const ClassKey& key, MachineId machine) {
  const auto add = [&](const CountedTerm& term, Table* table) {
    const DomainIndex domain = term.topology->DomainOf(machine);
    if (domain == kNoDomain) return;
    uint32_t& highest = (*table)[{&term, domain}];
    highest = std::max(highest, key.priority);
  };
  VisitWide(
      key, *peers_, [&](const CountedTerm& term) { add(term, &having_); },
      [&](const CountedTerm& term) { add(term, &meant_); });
}

void DomainConflicts::AddSpread(const ClassKey& key, MachineId machine) {
  const PeerTerms& terms = peers_->TermsOf(*key.rules);
  for (size_t i = 0; i < terms.spread.size(); ++i) {
    if (!key.rules->spread[i].is_required) continue;
    const CountedTerm& term = *terms.spread[i];
    const DomainIndex domain = term.topology->DomainOf(machine);
    if (domain == kNoDomain) continue;
    uint32_t& highest = having_[{&term, domain}];
    highest = std::max(highest, key.priority);
  }
}

std::optional<uint32_t> DomainConflicts::HighestAgainst(
    const ClassKey& key, MachineId machine) const {
  std::optional<uint32_t> highest;
  if (empty()) return highest;
  const auto look = [&](const CountedTerm& term, const Table& table) {
    const auto it = table.find({&term, term.topology->DomainOf(machine)});
    if (it == table.end()) return;
    highest = std::max(highest.value_or(0), it->second);
  };
  VisitWide(
      key, *peers_, [&](const CountedTerm& term) { look(term, meant_); },
      [&](const CountedTerm& term) { look(term, having_); });
  return highest;
}

}  // namespace sluice
