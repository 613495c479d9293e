// Machines and requests that a plug-in has to cope with: ordinary, empty, full,
// overcommitted and as large as amounts get.

#ifndef SLUICE_TESTS_CONTRACT_WORLDS_H_
#define SLUICE_TESTS_CONTRACT_WORLDS_H_

#include <array>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sluice/state/machine.h"
#include "sluice/state/task.h"

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
  }
  return machines;
}

inline std::vector<ClassKey> DrawClasses(uint64_t seed, int count) {
  Rng rng(seed);
  std::vector<ClassKey> classes(1);  // The first asks for nothing.
  for (int i = 1; i < count; ++i) {
    ClassKey& key = classes.emplace_back();
    key.priority = static_cast<uint32_t>(rng.Next());
    key.request = DrawAmounts(&rng);
  }
  return classes;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_CONTRACT_WORLDS_H_
