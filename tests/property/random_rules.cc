#include "property/random_rules.h"

#include <map>
#include <set>

#include "base/strings.h"
#include "util/cluster_builder.h"

namespace sluice {
namespace {

std::string DrawKey(Rng* rng) { return StrCat("key-", rng->Below(3)); }

// Numbers, so that every operator may hold, and one that is none.
std::string DrawValue(Rng* rng) {
  return rng->Chance(1, 6) ? "x" : StrCat(rng->Below(4));
}

LabelRequirement DrawRequirement(Rng* rng) {
  const std::string key = DrawKey(rng);
  switch (rng->Below(8)) {
    case 0:
      return LabelNotIn(key, {DrawValue(rng), DrawValue(rng)});
    case 1:
      return LabelExists(key);
    case 2:
      return LabelDoesNotExist(key);
    case 3:
      return LabelAbove(key, rng->Between(-1, 3));
    case 4:
      return LabelBelow(key, rng->Between(0, 4));
    case 5:
      return rng->Chance(1, 4) ? LabelInvalid(key, "drawn so")
                               : LabelExists(key);
    default:
      return LabelIn(key, {DrawValue(rng), DrawValue(rng)});
  }
}

NodeTerm DrawTerm(const std::vector<std::string>& names, Rng* rng) {
  NodeTerm term;
  for (int64_t i = rng->Between(0, 2); i > 0; --i) {
    term.labels.push_back(DrawRequirement(rng));
  }
  if (!names.empty() && rng->Chance(1, 5)) {
    const std::string& name = names[rng->Below(names.size())];
    term.fields.push_back(rng->Chance(2, 3) ? NameIs(name) : NameIsNot(name));
  }
  return term;
}

Taint DrawTaint(Rng* rng) {
  constexpr TaintEffect kEffects[] = {
      TaintEffect::kUnknown, TaintEffect::kNoSchedule,
      TaintEffect::kPreferNoSchedule, TaintEffect::kNoExecute};
  return {StrCat("taint-", rng->Below(3)), StrCat(rng->Below(2)),
          kEffects[rng->Below(4)]};
}

Toleration DrawToleration(Rng* rng) {
  const Taint taint = DrawTaint(rng);
  Toleration toleration = Tolerates(taint);
  if (rng->Chance(1, 3)) toleration.effect.reset();
  if (rng->Chance(1, 3)) {
    toleration.op = TolerationOperator::kExists;
    toleration.value.clear();
    if (rng->Chance(1, 4)) toleration.key.clear();
  }
  if (rng->Chance(1, 12)) toleration.op = TolerationOperator::kUnknown;
  return toleration;
}

bool RequirementHolds(const LabelRequirement& requirement,
                      const std::map<std::string, std::string>& labels) {
  const auto it = labels.find(requirement.key);
  const bool exists = it != labels.end();
  const std::set<std::string> values(requirement.values.begin(),
                                     requirement.values.end());
  const auto compare = [&](auto holds) {
    return exists && it->second != "x" &&
           holds(std::stoi(it->second), std::stoi(requirement.values[0]));
  };
  switch (requirement.op) {
    case LabelOperator::kIn:
      return exists && values.contains(it->second);
    case LabelOperator::kNotIn:
      return !exists || !values.contains(it->second);
    case LabelOperator::kExists:
      return exists;
    case LabelOperator::kDoesNotExist:
      return !exists;
    case LabelOperator::kGreaterThan:
      return compare([](int label, int bound) { return label > bound; });
    case LabelOperator::kLessThan:
      return compare([](int label, int bound) { return label < bound; });
    case LabelOperator::kInvalid:
      return false;
  }
  return false;
}

bool TermHolds(const NodeTerm& term, const DescribedMachine& machine) {
  const std::map<std::string, std::string> labels(machine.labels.begin(),
                                                  machine.labels.end());
  int requirements = 0;
  for (const LabelRequirement& requirement : term.labels) {
    if (!RequirementHolds(requirement, labels)) return false;
    ++requirements;
  }
  for (const LabelRequirement& field : term.fields) {
    if (!RequirementHolds(field, {{"metadata.name", machine.name}})) {
      return false;
    }
    ++requirements;
  }
  return requirements > 0;
}

bool IsBorne(const Taint& taint, const Toleration& toleration) {
  if (toleration.op == TolerationOperator::kUnknown) return false;
  if (toleration.effect.has_value() && *toleration.effect != taint.effect) {
    return false;
  }
  if (toleration.op == TolerationOperator::kExists) {
    return toleration.key.empty() || toleration.key == taint.key;
  }
  return !toleration.key.empty() && toleration.key == taint.key &&
         toleration.value == taint.value;
}

}  // namespace

LabelPairs DrawLabels(Rng* rng) {
  std::map<std::string, std::string> labels;
  for (int64_t i = rng->Between(0, 3); i > 0; --i) {
    labels[DrawKey(rng)] = DrawValue(rng);
  }
  return LabelPairs(labels.begin(), labels.end());
}

std::vector<Taint> DrawTaints(Rng* rng) {
  std::vector<Taint> taints;
  while (rng->Chance(1, 4)) taints.push_back(DrawTaint(rng));
  return InOrder(std::move(taints));
}

PlacementRules DrawRules(const std::vector<std::string>& names, Rng* rng) {
  PlacementRules rules;
  while (rng->Chance(1, 5)) rules.selectors.push_back(DrawRequirement(rng));
  while (rng->Chance(1, 4)) rules.required.push_back(DrawTerm(names, rng));
  while (rng->Chance(1, 4)) {
    rules.preferred.push_back(
        {static_cast<int32_t>(rng->Between(1, 100)), DrawTerm(names, rng)});
  }
  while (rng->Chance(1, 3)) rules.tolerations.push_back(DrawToleration(rng));
  while (rng->Chance(1, 8)) {
    rules.host_ports.push_back(
        {rng->Chance(1, 2) ? "TCP" : "UDP",
         rng->Chance(1, 2) ? "0.0.0.0" : StrCat("10.0.0.", rng->Below(2)),
         static_cast<int32_t>(rng->Between(80, 81))});
  }
  return InOrder(std::move(rules));
}

bool ShouldAllow(const PlacementRules& rules, const DescribedMachine& machine) {
  const std::map<std::string, std::string> labels(machine.labels.begin(),
                                                  machine.labels.end());
  for (const LabelRequirement& requirement : rules.selectors) {
    if (!RequirementHolds(requirement, labels)) return false;
  }
  bool has_term = rules.required.empty();
  for (const NodeTerm& term : rules.required) {
    has_term = has_term || TermHolds(term, machine);
  }
  if (!has_term) return false;
  for (const Taint& taint : machine.taints) {
    if (taint.effect != TaintEffect::kNoSchedule &&
        taint.effect != TaintEffect::kNoExecute) {
      continue;
    }
    bool is_borne = false;
    for (const Toleration& toleration : rules.tolerations) {
      is_borne = is_borne || IsBorne(taint, toleration);
    }
    if (!is_borne) return false;
  }
  return true;
}

bool ShouldConflict(const HostPort& a, const HostPort& b) {
  if (a.port != b.port || a.protocol != b.protocol) return false;
  return a.address == b.address || a.address == "0.0.0.0" ||
         b.address == "0.0.0.0";
}

int64_t PreferredWeight(const PlacementRules& rules,
                        const DescribedMachine& machine) {
  int64_t weight = 0;
  for (const PreferredTerm& preferred : rules.preferred) {
    if (TermHolds(preferred.term, machine)) weight += preferred.weight;
  }
  return weight;
}

}  // namespace sluice
