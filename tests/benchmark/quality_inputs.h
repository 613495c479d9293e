// The clusters on which quality_benchmark compares rounds with others.
//
// Sizes alone: classes whose requests differ 60-fold, and the openb trace.
// Sizes beside preferences: small, middle and large clusters of families, in
// which tasks have preferred node affinity, and some machines a taint that is
// better avoided.
//
// All tasks of an input come at once, and are equally urgent, where the family
// does not say otherwise.
//
// Determinism: an input follows from its seed.

#ifndef SLUICE_TESTS_BENCHMARK_QUALITY_INPUTS_H_
#define SLUICE_TESTS_BENCHMARK_QUALITY_INPUTS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "state/command.h"

namespace sluice {

// What a class requires, or wishes, of where other tasks are.
enum class PeerRule {
  kApartByHost,   // No two of its tasks are on one machine, ...
  kApartByZone,   // ... or in one zone.
  kSpreadByZone,  // Of the zones that it selects none has two more than
                  // another.
  kKeepsAway,     // None is where one of the other class is.
  kFollows,       // All are where one of the other class is.
  kWishesSpread,  // As few as can be are in a zone with others of the class.
  kWishesNear,    // As many as can be are in a zone with those of the other.
};
// For each task of the other class in its zone.
inline constexpr int32_t kWeightOfNear = 1;

// What was drawn, for who holds placements against it and knows nothing of how
// the scheduler understands rules.
struct QualityMachine {
  std::string uuid;
  std::string zone;
  bool has_ssd = false;
};
struct QualityClass {
  std::optional<PeerRule> rule = {};
  size_t other = 0;  // The index of the class that the rule is about.
  bool needs_ssd = false;
};

struct QualityInput {
  std::string name;
  std::string family;  // And its size; empty for what is of no family.
  std::vector<Command> commands;
  // What comes once a round has placed what can be placed of all that.
  std::vector<Command> newcomers = {};
  int64_t task_count = 0;
  // Of a family.
  std::vector<QualityMachine> machines = {};
  std::vector<QualityClass> classes = {};
  std::vector<size_t> classes_of_tasks = {};  // By uid - 1.
  // As its family: what is unmet are wishes.
  bool has_wishes = false;
  // Whether it is small enough for an exact method.
  bool has_optimum = false;
  // As that of its family.
  bool may_lose = false;
};

enum class ClusterSize { kSmall, kMiddle, kLarge };

// How much of a cluster there is; parts in per cent.
struct ClusterExtent {
  int64_t machines_min = 0;
  int64_t machines_max = 0;
  int64_t classes_min = 0;
  int64_t classes_max = 0;
  int64_t load_min = 50;
  int64_t load_max = 125;
  int64_t tasks_max = std::numeric_limits<int64_t>::max();
  // Where the family has machines partly used: so many of them, and so much.
  int64_t used_machines = 80;
  int64_t used_min = 0;
  int64_t used_max = 75;
};

// What a family has that the plain one has not.  All have machines of a few
// shapes, classes of mixed sizes, and preferences.
struct QualityFamily {
  const char* name = "";
  bool has_two_scarce_resources = false;  // One class wants this, one that.
  bool has_gpus = false;
  bool has_many_shapes = false;  // Of machines, and tasks as large as those.
  bool is_partly_used = false;   // So that hardly two machines are alike.
  bool has_gangs = false;
  bool has_selectors = false;  // Some classes need machines with an ssd.
  bool has_taints = false;     // That only some classes tolerate.
  // Of which each class has one or none.
  std::vector<PeerRule> peer_rules = {};
  bool has_chains = false;  // Those whom a class follows may follow others.
  // Some rules of these are wishes, and are then all that tasks prefer.
  bool has_wishes = false;
  // Of which each task, or gang, has one.
  uint64_t priority_count = 1;
  static constexpr uint64_t kOneForEachTask = 0;
  // Newcomers find the cluster full of tasks that may be stopped for them.
  // Their priorities are higher by one.
  bool has_newcomers = false;
  // Disruption budgets protect some of these tasks.
  bool has_budgets = false;
  // Stopping some of these costs twice as much as others, or three times.
  bool has_prices = false;
  // Rounds lose here as yet, which does not fail the benchmark.  Delete it once
  // they do not.
  bool may_lose = false;
};

const std::vector<QualityFamily>& QualityFamilies();

QualityInput MakeQualityInput(const QualityFamily& family, ClusterSize size,
                              uint64_t seed);
QualityInput MakeQualityInput(const QualityFamily& family,
                              const ClusterExtent& extent, uint64_t seed);

// Machines of three sizes and classes without preferences, some heavy on cpu
// and some on memory; as many tasks as make `load` of the scarcer resource.
QualityInput MakeSizesInput(uint64_t seed, int machine_count, int class_count,
                            double load);

// The machines and pods of the openb trace, the pods `copies` times over: as
// submitted they ask for less than the machines have.
QualityInput ReadOpenbInput(const std::string& nodes_path,
                            const std::string& pods_path, int copies);

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_QUALITY_INPUTS_H_
