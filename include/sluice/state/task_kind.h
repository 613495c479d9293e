// What a task is to its neighbors on a machine, and they to it: the animals of
// Xie and Loh ("Dynamic classification of program memory behaviors in CMPs",
// 2008), as the contract names them (TaskDescriptor.TaskType).
//
// Threads: values.

#ifndef SLUICE_STATE_TASK_KIND_H_
#define SLUICE_STATE_TASK_KIND_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

enum class TaskKind : uint8_t {
  kSheep = 0,   // Harmless and hardly sensitive; the default.
  kRabbit = 1,  // Harmless but sensitive.
  kDevil = 2,   // Harmful.
  kTurtle = 3,  // Needs next to nothing.
};
inline constexpr size_t kTaskKindCount = 4;

// How much a task of the first kind minds one of the second beside it, in
// weights of preferred anti-affinity: 0 to 100.
using Interference =
    std::array<std::array<int32_t, kTaskKindCount>, kTaskKindCount>;

// Derives the kind of a task that states none from the means of its kind of
// work per 1,000 instructions (state/cache_histories.h).  Checked in this
// order.
struct KindScheme {
  int64_t reports_min = 1;        // With fewer reports it is a sheep.
  int64_t devil_misses = 0;       // At least as many misses: a devil.
  int64_t rabbit_hits = 0;        // At least as many hits: a rabbit.
  int64_t turtle_references = 0;  // Fewer references: a turtle.
};

}  // namespace sluice

#endif  // SLUICE_STATE_TASK_KIND_H_
