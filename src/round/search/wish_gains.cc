#include "round/search/wish_gains.h"

#include <algorithm>

#include "constraints/class_peers.h"

namespace sluice {
namespace {

// What a task with these terms is worth, by this term, to the tasks that it
// selects.
int64_t GivenBy(const PeerTerms& terms, const CountedTerm& term) {
  int64_t given = 0;
  for (const auto& [of, weight] : terms.given) {
    if (of == &term) given += weight;
  }
  return given;
}

}  // namespace

int64_t WishGains::ChangeIn(const CountedTerm& term, MachineId machine,
                            std::span<const Step> steps, auto count) const {
  const Topology& topology = *term.topology;
  const DomainIndex domain = topology.DomainOf(machine);
  int64_t change = 0;
  if (domain == kNoDomain) return change;
  for (const Step& step : steps) {
    if (topology.DomainOf(step.from) == domain) change -= count(*step.key);
    if (step.to.has_value() && topology.DomainOf(*step.to) == domain) {
      change += count(*step.key);
    }
  }
  return change;
}

int64_t WishGains::WorthOn(MachineId machine, const ClassKey& key,
                           std::span<const Step> steps) const {
  const PeerTable& peers = state_.peers();
  int64_t worth = 0;
  for (const auto& [term, weight] : peers.TermsOf(*key.rules).preferred) {
    const int64_t meant =
        term->meant.At(term->topology->DomainOf(machine)) +
        ChangeIn(*term, machine, steps, [&](const ClassKey& of) -> int64_t {
          return IsMeantBy(*term, of) ? 1 : 0;
        });
    worth += weight * meant;
  }
  for (const uint32_t selector : *key.meant_by) {
    for (const CountedTerm* term : peers.TermsAbout(selector)) {
      if (term->worth.counts().empty()) continue;
      worth += term->worth.At(term->topology->DomainOf(machine)) +
               ChangeIn(*term, machine, steps, [&](const ClassKey& of) {
                 return GivenBy(peers.TermsOf(*of.rules), *term);
               });
    }
  }
  return worth;
}

int64_t WishGains::Move(const Task& task, MachineId to) {
  const ClassKey& key = task.class_key;
  if (!key.DependsOnPeers()) return 0;
  ClassPeers peers(state_, constraints_, key, &task);
  for (const Step& step : steps_) {
    peers.Note(*step.key, step.from, -1);
    peers.Note(*step.key, *step.to, 1);
  }
  // It does not count itself.
  steps_.push_back({&key, task.machine, std::nullopt});
  const int64_t before = WorthOn(task.machine, key, steps_);
  const int64_t after = WorthOn(to, key, steps_);
  steps_.back().to = to;
  const int64_t range =
      std::max(peers.worth_max() - peers.worth_min(), std::abs(after - before));
  const auto cost_on = [&](MachineId machine, int64_t worth) {
    return policies_.PeerCost(
        {std::max(before, after) - worth, range, peers.CrowdingOn(machine)});
  };
  return cost_on(task.machine, before) - cost_on(to, after);
}

}  // namespace sluice
