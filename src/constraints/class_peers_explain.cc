// The reasons that ClassPeers states.

#include <algorithm>

#include "base/strings.h"
#include "constraints/class_peers.h"
#include "constraints/named_task.h"
#include "constraints/peer_text.h"
#include "constraints/shown_text.h"
#include "sluice/state/topology_key.h"

namespace sluice {
namespace {

// "zone=a"; "it", the machine, if each machine is a domain.
std::string DomainText(const Topology& topology, const Machine& machine) {
  if (topology.key() == kEachMachine) return "it";
  if (topology.key() == kWholeCluster) return "the cluster";
  const std::string* value = machine.FindLabel(topology.key());
  return StrCat(ShownText(topology.key()), "=",
                value == nullptr ? "" : ShownText(*value));
}

std::string LacksLabel(const Topology& topology) {
  return StrCat("lacks the label ", ShownText(topology.key()));
}

}  // namespace

std::string ClassPeers::TextOf(const CountedTerm& term) const {
  return PeersText(state_.peers().SelectorsOf(term.selector),
                   term.topology->key());
}

template <class IsMeant>
std::string ClassPeers::TaskText(const Topology& topology, MachineId machine,
                                 IsMeant is_meant) const {
  for (const MachineId near : topology.MachinesOf(topology.DomainOf(machine))) {
    for (const TaskId id : state_.FindMachine(near)->tasks) {
      const Task& task = *state_.FindTask(id);
      if (!is_meant(task.class_key)) continue;
      return StrCat(": ", NamedTask(task));
    }
  }
  return "";
}

void ClassPeers::ExplainAffinity(const Machine& machine,
                                 std::vector<Reason>* reasons) const {
  for (const CountedTerm* term : terms_.affinity) {
    const DomainIndex domain = term->topology->DomainOf(machine.id);
    if (domain == kNoDomain) {
      reasons->push_back({"pod_affinity_label",
                          "node(s) didn't match pod affinity rules (missing "
                          "required label)",
                          LacksLabel(*term->topology)});
      return;
    }
    if (is_first_of_affinity_ || MeantIn(*term, domain) > 0) continue;
    if (IsFirstOnceAllLeave()) {
      reasons->push_back(
          {"pod_affinity_of_first",
           StrCat("node(s) didn't match pod affinity rules, as the last task "
                  "that they select has yet to leave (",
                  TextOf(*term), ")"),
           "waits to be the first of the tasks that this one has to be near: "
           "the last of them elsewhere was told to leave"});
      return;
    }
    reasons->push_back(
        {"pod_affinity",
         StrCat("node(s) didn't match pod affinity rules (", TextOf(*term),
                ")"),
         StrCat("lacks a running task that this one has to be near",
                MeantAnywhere(*term) > 0 ? std::string()
                : term->topology->key() == kEachMachine ||
                        term->topology->key() == kWholeCluster
                    ? ": none runs anywhere"
                    : StrCat(": none runs in any ",
                             ShownText(term->topology->key())))});
    return;
  }
}

void ClassPeers::ExplainSpread(const TopologySpread& spread,
                               const Machine& machine,
                               std::vector<Reason>* reasons) const {
  if (spread.topology().DomainOf(machine.id) == kNoDomain) {
    reasons->push_back(
        {"topology_spread_label",
         "node(s) didn't match pod topology spread constraints (missing "
         "required label)",
         LacksLabel(spread.topology())});
    return;
  }
  reasons->push_back(
      {"topology_spread",
       StrCat("node(s) didn't match pod topology spread constraints (",
              SpreadText(spread.constraint()), ")"),
       StrCat("would have ",
              spread.CountAt(machine.id) + (spread.is_self() ? 1 : 0),
              " of the tasks in ", DomainText(spread.topology(), machine),
              ", and the emptiest domain has ", spread.minimum())});
}

void ClassPeers::Explain(const Machine& machine, bool names_tasks,
                         std::vector<Reason>* reasons) const {
  ExplainAffinity(machine, reasons);
  if (const CountedTerm* term = OwnAntiAffinity(machine.id)) {
    const auto is_meant = [&](const ClassKey& key) {
      return IsMeantBy(*term, key);
    };
    reasons->push_back(
        {"pod_anti_affinity",
         StrCat("node(s) didn't match pod anti-affinity rules (", TextOf(*term),
                ")"),
         StrCat("a task that this one keeps away from ",
                MeantIn(*term, term->topology->DomainOf(machine.id)) > 0
                    ? "runs in "
                    : "is to come to ",
                DomainText(*term->topology, machine),
                names_tasks ? TaskText(*term->topology, machine.id, is_meant)
                            : std::string())});
  }
  if (const CountedTerm* term = AntiAffinityOfOthers(machine.id)) {
    const auto keeps_away = [&](const ClassKey& key) {
      const auto& terms = state_.peers().TermsOf(*key.rules).anti_affinity;
      return std::ranges::find(terms, term) != terms.end();
    };
    reasons->push_back(
        {"existing_pods_anti_affinity",
         StrCat("node(s) didn't satisfy existing pods' anti-affinity rules (",
                TextOf(*term), ")"),
         StrCat("a task that keeps away from this one runs in ",
                DomainText(*term->topology, machine),
                names_tasks ? TaskText(*term->topology, machine.id, keeps_away)
                            : std::string())});
  }
  for (const TopologySpread& spread : spreads_) {
    if (spread.constraint().is_required && !spread.Allows(machine.id)) {
      ExplainSpread(spread, machine, reasons);
    }
  }
}

}  // namespace sluice
