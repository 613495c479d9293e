// Machines and classes that a plug-in has to cope with: ordinary, empty, full,
// overcommitted and as large as amounts get; with labels, taints, ports and
// rules that sometimes meet and sometimes make no sense.

#ifndef SLUICE_TESTS_CONTRACT_WORLDS_H_
#define SLUICE_TESTS_CONTRACT_WORLDS_H_

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sluice/state/machine.h"
#include "sluice/state/task.h"
#include "util/drawn_rules.h"

namespace sluice {

inline constexpr ResourceIndex kWorldResourceCount = kBuiltinResourceCount + 2;

inline const std::string& WorldResourceName(ResourceIndex index) {
  static const std::array<std::string, kWorldResourceCount> names = {
      "cpu",  "memory",         "ephemeral-storage",
      "pods", "nvidia.com/gpu", "example.com/port"};
  return names.at(index);
}

// Amounts as a client may state them, each likely to be special.
inline Resources DrawAmounts(Rng* rng) {
  constexpr std::array kSpecial = {int64_t{0}, int64_t{1}, int64_t{1000},
                                   kAmountMax - 1, kAmountMax};
  Resources resources;
  for (ResourceIndex i = 0; i < kWorldResourceCount; ++i) {
    resources.Set(i, rng->Chance(1, 2)
                         ? rng->Between(0, 4000)
                         : kSpecial.at(rng->Below(kSpecial.size())));
  }
  return resources;
}

// A load: sums of what clients stated, which may have been cut off.
inline Resources DrawLoad(Rng* rng) {
  Resources load = DrawAmounts(rng);
  for (ResourceIndex i = 0; i < kWorldResourceCount; ++i) {
    if (rng->Chance(1, 8)) load.Set(i, -load[i]);
    if (rng->Chance(1, 16)) load.Set(i, kAmountSaturated);
    if (rng->Chance(1, 16)) load.Set(i, -kAmountSaturated);
  }
  return load;
}

// Of few keys and values, so that they meet.
inline std::string DrawKey(Rng* rng) {
  constexpr std::array kKeys = {"disk", "example.com/cpus", "zone"};
  return kKeys.at(rng->Below(kKeys.size()));
}
inline std::string DrawValue(Rng* rng) {
  constexpr std::array kValues = {"", "-1", "8", "ssd"};
  return kValues.at(rng->Below(kValues.size()));
}
inline std::string DrawName(Rng* rng) {
  return rng->Chance(1, 2) ? "n1" : "n2";
}
inline TaintEffect DrawEffect(Rng* rng) {
  return static_cast<TaintEffect>(rng->Below(4));
}
inline Taint DrawTaint(Rng* rng) {
  return {DrawKey(rng), DrawValue(rng), DrawEffect(rng)};
}
inline HostPort DrawPort(Rng* rng) {
  constexpr std::array kAddresses = {"0.0.0.0", "10.0.0.1", "::", "::1"};
  return {rng->Chance(3, 4) ? "TCP" : "UDP",
          kAddresses.at(rng->Below(kAddresses.size())),
          static_cast<int32_t>(rng->Between(1, 3))};
}
inline Owner DrawOwner(Rng* rng) {
  return {"ReplicaSet", rng->Chance(1, 2) ? "1" : "2"};
}

// At most `count_max` of what `draw` gives; ascending, none twice.
template <class Draw>
auto DrawSome(Rng* rng, uint64_t count_max, Draw draw) {
  std::vector<decltype(draw(rng))> items;
  for (uint64_t i = rng->Below(count_max + 1); i > 0; --i) {
    items.push_back(draw(rng));
  }
  std::ranges::sort(items);
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

inline LabelRequirement DrawRequirement(Rng* rng) {
  const auto op = static_cast<LabelOperator>(rng->Below(7));
  switch (op) {
    case LabelOperator::kIn:
    case LabelOperator::kNotIn:
      return {DrawKey(rng), op, DrawSome(rng, 3, DrawValue)};
    case LabelOperator::kExists:
    case LabelOperator::kDoesNotExist:
      return {DrawKey(rng), op, {}};
    case LabelOperator::kGreaterThan:
    case LabelOperator::kLessThan:
      return {DrawKey(rng), op, {rng->Chance(1, 2) ? "0" : "8"}};
    case LabelOperator::kInvalid:
      return {DrawKey(rng), op, {"what is wrong with it"}};
  }
  return {};
}

inline NodeTerm DrawTerm(Rng* rng) {
  NodeTerm term{DrawSome(rng, 3, DrawRequirement), {}};
  if (rng->Chance(1, 4)) {
    term.fields = {
        {"metadata.name",
         rng->Chance(1, 2) ? LabelOperator::kIn : LabelOperator::kNotIn,
         {DrawName(rng)}}};
  }
  return term;
}

inline PreferredTerm DrawPreferredTerm(Rng* rng) {
  return {static_cast<int32_t>(rng->Between(1, 100)), DrawTerm(rng)};
}

inline Toleration DrawToleration(Rng* rng) {
  Toleration toleration;
  if (rng->Chance(3, 4)) toleration.key = DrawKey(rng);
  toleration.op = static_cast<TolerationOperator>(rng->Below(3));
  if (rng->Chance(1, 2)) toleration.value = DrawValue(rng);
  if (rng->Chance(1, 2)) toleration.effect = DrawEffect(rng);
  if (rng->Chance(1, 4)) toleration.seconds = rng->Between(-1, 300);
  return toleration;
}

inline PlacementRules DrawRules(Rng* rng) {
  PlacementRules rules;
  rules.selectors = DrawSome(rng, 2, DrawRequirement);
  rules.required = DrawSome(rng, 3, DrawTerm);
  // More than weights are counted in full, now and then.
  rules.preferred =
      DrawSome(rng, rng->Chance(1, 4) ? 60 : 3, DrawPreferredTerm);
  rules.tolerations = DrawSome(rng, 4, DrawToleration);
  rules.host_ports = DrawSome(rng, 3, DrawPort);
  if (rng->Chance(1, 2)) rules.owner = DrawOwner(rng);
  DrawTaskRules(rng, &rules);
  return rules;
}

inline std::vector<Machine> DrawMachines(uint64_t seed, int count) {
  Rng rng(seed);
  std::vector<Machine> machines(1);  // The first states nothing.
  for (int i = 1; i < count; ++i) {
    Machine& machine = machines.emplace_back();
    machine.id = {static_cast<uint32_t>(i)};
    machine.allocatable = DrawAmounts(&rng);
    machine.capacity =
        rng.Chance(1, 4) ? DrawAmounts(&rng) : machine.allocatable;
    if (rng.Chance(3, 4)) machine.used = DrawLoad(&rng);
    if (rng.Chance(1, 8)) machine.used = machine.allocatable;
    machine.name = DrawName(&rng);
    for (const std::string& key : DrawSome(&rng, 4, DrawKey)) {
      machine.labels.emplace_back(key, DrawValue(&rng));
    }
    for (const Taint& taint : DrawSome(&rng, 12, DrawTaint)) {
      machine.taints.push_back({taint, 0});
    }
    machine.avoids = DrawSome(&rng, 2, DrawOwner);
    machine.used_host_ports = DrawSome(&rng, 3, DrawPort);
    if (rng.Chance(1, 2)) machine.net_rx = kBuiltinResourceCount;
    if (rng.Chance(1, 2)) machine.net_tx = kBuiltinResourceCount + 1;
    if (rng.Chance(1, 2)) {
      const Resources amounts = DrawAmounts(&rng);
      machine.usage.Add(
          {.net_rx_kb = amounts[kCpu], .net_tx_kb = amounts[kPods]}, 1);
    }
  }
  return machines;
}

// Classes, and the rules that they point to.
struct Classes {
  std::vector<PlacementRules> rules;
  std::vector<ClassKey> keys;
};

inline Classes DrawClasses(uint64_t seed, size_t count) {
  Rng rng(seed);
  Classes classes;
  classes.rules.resize(count);
  classes.keys.resize(count);  // The first asks for nothing.
  for (size_t i = 1; i < count; ++i) {
    ClassKey& key = classes.keys[i];
    key.priority = static_cast<uint32_t>(rng.Next());
    key.request = DrawAmounts(&rng);
    if (rng.Chance(3, 4)) classes.rules[i] = DrawRules(&rng);
    key.rules = &classes.rules[i];
  }
  return classes;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_CONTRACT_WORLDS_H_
