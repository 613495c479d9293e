// How the tasks of a job want to lie to each other.
//
// Threads: values.

#ifndef SLUICE_TESTS_PROPERTY_GANG_SHAPES_H_
#define SLUICE_TESTS_PROPERTY_GANG_SHAPES_H_

#include <string>

#include "base/rng.h"
#include "util/peer_builder.h"

namespace sluice {

enum class Shape {
  kAny,
  kOneAMachine,
  kOneAZone,
  kSameMachine,
  kSameZone,
  kEvenOverZones,
};
inline constexpr int kShapeCount = 6;

inline Shape DrawShape(Rng* rng) {
  // Every other is of no shape, so that jobs do not only meet themselves.
  if (rng->Chance(1, 2)) return Shape::kAny;
  return static_cast<Shape>(rng->Below(kShapeCount));
}

// The rules of tasks that have the label "app" with this value.
inline PlacementRules RulesFor(Shape shape, const std::string& app) {
  PlacementRules rules;
  switch (shape) {
    case Shape::kAny:
      break;
    case Shape::kOneAMachine:
      rules.anti_affinity = {{App(app), "kubernetes.io/hostname"}};
      break;
    case Shape::kOneAZone:
      rules.anti_affinity = {{App(app), "zone"}};
      break;
    case Shape::kSameMachine:
      rules.affinity = {{App(app), ""}};
      break;
    case Shape::kSameZone:
      rules.affinity = {{App(app), "zone"}};
      break;
    case Shape::kEvenOverZones:
      rules.spread = {Spread(App(app), "zone")};
      break;
  }
  return rules;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_PROPERTY_GANG_SHAPES_H_
