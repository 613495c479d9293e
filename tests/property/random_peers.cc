#include "property/random_peers.h"

#include <iterator>
#include <utility>
#include <vector>

#include "property/random_rules.h"

namespace sluice {
namespace {

LabelRequirement DrawRequirement(Rng* rng) {
  const auto draw_app = [&] { return StrCat("app-", rng->Below(3)); };
  switch (rng->Below(8)) {
    case 0:
      return LabelNotIn("app", {draw_app()});
    case 1:
      return LabelNotIn("tier", {"front"});
    case 2:
      return rng->Chance(1, 2) ? LabelExists("tier")
                               : LabelDoesNotExist("tier");
    case 3:
      return rng->Chance(1, 4) ? LabelInvalid("tier", "drawn so")
                               : LabelIn("tier", {"back", "front"});
    default:
      return LabelIn("app", {draw_app(), draw_app()});
  }
}

std::string DrawNamespace(Rng* rng) {
  return rng->Chance(2, 3) ? "red" : "blue";
}

std::vector<LabelRequirement> DrawNamespaceRequirements(Rng* rng) {
  switch (rng->Below(4)) {
    case 0:
      return {};
    case 1:
      return {LabelIn("kubernetes.io/metadata.name", {DrawNamespace(rng)})};
    case 2:
      return {LabelDoesNotExist("team")};
    default:
      return {LabelIn("team", {"one"})};
  }
}

}  // namespace

RandomPeers::RandomPeers(uint64_t seed) : rng_(seed) {}

std::string RandomPeers::DrawTopologyKey() {
  constexpr const char* kKeys[] = {"", "kubernetes.io/hostname", "zone", "zone",
                                   "rack"};
  return kKeys[rng_.Below(std::size(kKeys))];
}

TaskSelector RandomPeers::DrawSelector(const std::string& task_namespace,
                                       const LabelPairs& labels) {
  TaskSelector selector;
  std::vector<LabelRequirement> requirements;
  if (rng_.Chance(1, 2)) {  // The most usual: the task's own kind.
    requirements.push_back(LabelIn("app", {labels.front().second}));
  } else {
    while (rng_.Chance(2, 3)) requirements.push_back(DrawRequirement(&rng_));
    for (LabelRequirement& requirement : requirements) {
      requirement.values = InOrder(std::move(requirement.values));
    }
  }
  if (!rng_.Chance(1, 30)) selector.labels = InOrder(std::move(requirements));
  if (rng_.Chance(3, 4)) selector.namespaces = {task_namespace};
  if (rng_.Chance(1, 8)) selector.namespaces = {"blue", "red"};
  if (rng_.Chance(1, 6)) {
    selector.namespace_labels = DrawNamespaceRequirements(&rng_);
  }
  if (rng_.Chance(1, 8)) {
    constexpr const char* kPatterns[] = {"*",   "job-?",  "job-1",
                                         "*-2", "j*b-*0", "?"};
    selector.job = kPatterns[rng_.Below(std::size(kPatterns))];
  }
  return selector;
}

PlacementRules RandomPeers::DrawTerms(const std::string& task_namespace,
                                      const LabelPairs& labels) {
  const auto draw_term = [&]() -> PeerTerm {
    return {DrawSelector(task_namespace, labels), DrawTopologyKey()};
  };
  PlacementRules rules;
  if (has_rules_about_nodes_ && rng_.Chance(1, 2)) {
    rules = DrawRules({"m0", "m1"}, &rng_);
  }
  while (has_affinity_ && rng_.Chance(1, 4)) {
    rules.affinity.push_back(draw_term());
  }
  while (has_anti_affinity_ && rng_.Chance(1, 4)) {
    rules.anti_affinity.push_back(draw_term());
  }
  while (has_preferred_ && rng_.Chance(1, 4)) {
    const auto weight = static_cast<int32_t>(rng_.Between(1, 100));
    rules.preferred_peers.push_back(
        {rng_.Chance(1, 2) ? weight : -weight, draw_term()});
  }
  while (has_spread_ && rng_.Chance(1, 4)) {
    rules.spread.push_back(
        {.term = draw_term(),
         .max_skew = static_cast<int32_t>(rng_.Between(1, 2)),
         .is_required = rng_.Chance(4, 5),
         .min_domains =
             static_cast<int32_t>(rng_.Chance(1, 4) ? rng_.Between(2, 4) : 1),
         .honors_node_affinity = rng_.Chance(3, 4),
         .honors_taints = rng_.Chance(1, 4)});
  }
  return rules;
}

SubmitTask RandomPeers::DrawTask(uint64_t uid) {
  PeerOptions peers;
  peers.task_namespace = DrawNamespace(&rng_);
  if (rng_.Chance(1, 2)) {
    peers.namespace_labels = {{"team", rng_.Chance(1, 2) ? "one" : "two"}};
  }
  TaskOptions options;
  options.job = StrCat("job-", rng_.Below(4));
  options.cpu = is_tight_ ? rng_.Between(0, 4) * 100 : 0;
  options.priority = has_priorities_ ? static_cast<uint32_t>(rng_.Below(3)) : 0;
  options.labels = {{"app", StrCat("app-", rng_.Below(3))}};
  if (rng_.Chance(1, 2)) {
    options.labels.emplace_back("tier", rng_.Chance(1, 2) ? "front" : "back");
  }
  options.rules = DrawTerms(peers.task_namespace, options.labels);
  return Submitted(uid, options, peers);
}

MachineOptions RandomPeers::DrawMachine(const std::string& uuid) {
  MachineOptions options;
  options.cpu = rng_.Between(2, 10) * 100;
  options.pods = is_tight_ ? rng_.Between(1, 5) : 20;
  if (has_rules_about_nodes_) {
    options.labels = DrawLabels(&rng_);
    options.taints = DrawTaints(&rng_);
  }
  if (!rng_.Chance(1, 8)) {
    options.labels.emplace_back("kubernetes.io/hostname", "host-" + uuid);
  }
  if (!rng_.Chance(1, 6)) {
    options.labels.emplace_back("zone", StrCat("zone-", rng_.Below(3)));
  }
  if (!rng_.Chance(1, 4)) {
    options.labels.emplace_back("rack", StrCat("rack-", rng_.Below(4)));
  }
  return options;
}

}  // namespace sluice
