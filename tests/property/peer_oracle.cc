#include "property/peer_oracle.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/strings.h"

namespace sluice {
namespace {

using LabelMap = std::map<std::string, std::string>;

bool Holds(const LabelRequirement& requirement, const LabelMap& labels) {
  const auto it = labels.find(requirement.key);
  const bool exists = it != labels.end();
  const bool is_listed =
      exists && std::ranges::count(requirement.values, it->second) > 0;
  switch (requirement.op) {
    case LabelOperator::kIn:
      return is_listed;
    case LabelOperator::kNotIn:
      return !is_listed;
    case LabelOperator::kExists:
      return exists;
    case LabelOperator::kDoesNotExist:
      return !exists;
    case LabelOperator::kGreaterThan:  // Tasks' labels are not compared so.
    case LabelOperator::kLessThan:
    case LabelOperator::kInvalid:
      return false;
  }
  return false;
}

bool AllHold(const std::vector<LabelRequirement>& requirements,
             const LabelMap& labels) {
  return std::ranges::all_of(requirements, [&](const auto& requirement) {
    return Holds(requirement, labels);
  });
}

// `pattern` against `text`, the first `i` and `j` characters of them done.
bool GlobHolds(const std::string& pattern, const std::string& text,
               size_t i = 0, size_t j = 0) {
  if (i == pattern.size()) return j == text.size();
  if (pattern[i] == '*') {
    return GlobHolds(pattern, text, i + 1, j) ||
           (j < text.size() && GlobHolds(pattern, text, i, j + 1));
  }
  return j < text.size() && (pattern[i] == '?' || pattern[i] == text[j]) &&
         GlobHolds(pattern, text, i + 1, j + 1);
}

bool MeansNamespaceOf(const TaskSelector& selector, const PeerTask& task) {
  if (std::ranges::count(selector.namespaces, task.task_namespace) > 0) {
    return true;
  }
  if (!selector.namespace_labels.has_value()) return false;
  LabelMap labels(task.namespace_labels.begin(), task.namespace_labels.end());
  labels["kubernetes.io/metadata.name"] = task.task_namespace;
  return AllHold(*selector.namespace_labels, labels);
}

// The domain of a machine under a topology key, if it is in one.
std::optional<std::string> DomainOf(const PeerCluster& cluster,
                                    const std::string& machine,
                                    const std::string& topology_key) {
  if (topology_key.empty()) return machine;
  const LabelPairs& pairs = cluster.machines.at(machine).description.labels;
  const LabelMap labels(pairs.begin(), pairs.end());
  const auto it = labels.find(topology_key);
  if (it == labels.end()) return std::nullopt;
  return it->second;
}

bool ShareDomain(const PeerCluster& cluster, const std::string& a,
                 const std::string& b, const std::string& topology_key) {
  const auto domain = DomainOf(cluster, a, topology_key);
  return domain.has_value() && domain == DomainOf(cluster, b, topology_key);
}

bool MeetsAllAffinity(const PlacementRules& rules, const PeerTask& task) {
  return std::ranges::all_of(rules.affinity, [&](const PeerTerm& term) {
    return Means(term.tasks, task);
  });
}

std::string WhyAffinityForbids(const PeerCluster& cluster,
                               const PeerTask& newcomer,
                               const std::string& machine) {
  const std::vector<PeerTerm>& terms = newcomer.rules.affinity;
  for (const PeerTerm& term : terms) {
    if (!DomainOf(cluster, machine, term.topology_key).has_value()) {
      return StrCat("affinity: the machine has no ", term.topology_key);
    }
  }
  bool is_first = true;
  std::vector<bool> is_met(terms.size(), false);
  for (const auto& [uid, peer] : cluster.tasks) {
    if (peer.machine.empty() || !MeetsAllAffinity(newcomer.rules, peer)) {
      continue;
    }
    for (size_t i = 0; i < terms.size(); ++i) {
      const std::string& key = terms[i].topology_key;
      // A peer that is in no domain at all is nobody's neighbor.
      if (DomainOf(cluster, peer.machine, key).has_value()) is_first = false;
      if (ShareDomain(cluster, machine, peer.machine, key)) is_met[i] = true;
    }
  }
  if (is_first && MeetsAllAffinity(newcomer.rules, newcomer)) return "";
  if (std::ranges::count(is_met, false) > 0) return kNoSuchPeer;
  return "";
}

std::string WhyAntiAffinityForbids(const PeerCluster& cluster,
                                   const PeerTask& newcomer,
                                   const std::string& machine) {
  for (const auto& [uid, peer] : cluster.tasks) {
    if (peer.machine.empty()) continue;
    for (const PeerTerm& term : newcomer.rules.anti_affinity) {
      if (Means(term.tasks, peer) &&
          ShareDomain(cluster, machine, peer.machine, term.topology_key)) {
        return StrCat("anti-affinity: to task ", uid);
      }
    }
    for (const PeerTerm& term : peer.rules.anti_affinity) {
      if (Means(term.tasks, newcomer) &&
          ShareDomain(cluster, machine, peer.machine, term.topology_key)) {
        return StrCat("anti-affinity: of task ", uid);
      }
    }
  }
  return "";
}

// Whether the machine makes a domain of the constraint, and its tasks count.
bool IsCounted(const PeerCluster& cluster, const PlacementRules& rules,
               const SpreadConstraint& constraint, const std::string& uuid) {
  const PeerMachine& machine = cluster.machines.at(uuid);
  if (!machine.is_usable) return false;
  for (const SpreadConstraint& other : rules.spread) {
    if (other.is_required &&
        !DomainOf(cluster, uuid, other.term.topology_key).has_value()) {
      return false;
    }
  }
  DescribedMachine untainted = machine.description;
  untainted.taints.clear();
  if (constraint.honors_node_affinity && !ShouldAllow(rules, untainted)) {
    return false;
  }
  PlacementRules tolerations;
  tolerations.tolerations = rules.tolerations;
  return !constraint.honors_taints ||
         ShouldAllow(tolerations, machine.description);
}

std::string WhySpreadForbids(const PeerCluster& cluster,
                             const PeerTask& newcomer,
                             const std::string& machine) {
  for (const SpreadConstraint& constraint : newcomer.rules.spread) {
    if (!constraint.is_required) continue;
    const std::string& key = constraint.term.topology_key;
    const auto domain = DomainOf(cluster, machine, key);
    if (!domain.has_value()) {
      return StrCat("spread: the machine has no ", key);
    }
    std::map<std::string, int64_t> counts;  // By domain.
    for (const auto& [uuid, other] : cluster.machines) {
      if (!IsCounted(cluster, newcomer.rules, constraint, uuid)) continue;
      int64_t& count = counts[*DomainOf(cluster, uuid, key)];
      for (const auto& [uid, peer] : cluster.tasks) {
        count += peer.machine == uuid && !peer.is_terminating &&
                 Means(constraint.term.tasks, peer);
      }
    }
    int64_t least = 0;
    if (!counts.empty() && std::ssize(counts) >= constraint.min_domains) {
      least = std::ranges::min_element(counts, {}, [](const auto& entry) {
                return entry.second;
              })->second;
    }
    const int64_t self = Means(constraint.term.tasks, newcomer) ? 1 : 0;
    const int64_t skew = counts[*domain] + self - least;
    if (skew > constraint.max_skew) {
      return StrCat("spread: the skew over ", key, " would be ", skew);
    }
  }
  return "";
}

}  // namespace

bool Means(const TaskSelector& selector, const PeerTask& task) {
  const LabelMap labels(task.labels.begin(), task.labels.end());
  return selector.labels.has_value() && AllHold(*selector.labels, labels) &&
         MeansNamespaceOf(selector, task) &&
         (selector.job.empty() || GlobHolds(selector.job, task.job));
}

std::string WhyPeersForbid(const PeerCluster& cluster, const PeerTask& newcomer,
                           const std::string& machine) {
  for (const auto& why :
       {WhyAffinityForbids, WhyAntiAffinityForbids, WhySpreadForbids}) {
    std::string reason = why(cluster, newcomer, machine);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace sluice
