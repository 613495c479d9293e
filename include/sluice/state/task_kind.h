// What a task is to those beside it on a machine, and they to it: the animals
// of Xie and Loh ("Dynamic classification of program memory behaviors in
// CMPs", 2008), as the contract names them (TaskDescriptor.TaskType).
//
// Threads: values.

#ifndef SLUICE_STATE_TASK_KIND_H_
#define SLUICE_STATE_TASK_KIND_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

enum class TaskKind : uint8_t {
  kSheep = 0,   // Harms nobody and hardly minds others; who does not say.
  kRabbit = 1,  // Harms nobody but suffers from others.
  kDevil = 2,   // Harms others.
  kTurtle = 3,  // Needs next to nothing.
};
inline constexpr size_t kTaskKindCount = 4;

// How much a task of the first kind minds one of the second beside it, in
// weights as of preferred anti-affinity: 0 to 100.
using Interference =
    std::array<std::array<int32_t, kTaskKindCount>, kTaskKindCount>;

// From which of its means for 1,000 instructions (state/cache_histories.h) the
// kind of a task follows that states none.  Asked in this order.
struct KindScheme {
  int64_t reports_min = 1;        // Of fewer nothing follows: a sheep.
  int64_t devil_misses = 0;       // As many misses, or more: a devil.
  int64_t rabbit_hits = 0;        // As many hits, or more: a rabbit.
  int64_t turtle_references = 0;  // Fewer references: a turtle.
};

}  // namespace sluice

#endif  // SLUICE_STATE_TASK_KIND_H_
