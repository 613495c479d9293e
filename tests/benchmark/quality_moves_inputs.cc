#include "benchmark/quality_moves_inputs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/rng.h"
#include "base/strings.h"

namespace sluice {
namespace {

constexpr int64_t kGib = (int64_t{1} << 30) * 1000;  // In millibytes.

// One of the values, all equally likely.
template <class T, size_t n>
const T& Pick(const std::array<T, n>& values, Rng* rng) {
  return values[rng->Below(n)];
}

// A machine and what is free of it.
struct Room {
  std::string uuid;
  int64_t cpu = 0;
  int64_t memory = 0;

  bool Holds(const TaskOptions& options) const {
    return options.cpu <= cpu && options.memory <= memory;
  }
  void Take(const TaskOptions& options) {
    cpu -= options.cpu;
    memory -= options.memory;
  }
};

class MovesCluster {
 public:
  MovesCluster(MovesSize size, uint64_t seed)
      : is_small_(size == MovesSize::kSmall), rng_(seed) {}

  MovesInput Make() && {
    DrawMachines();
    DrawJobs();
    for (Room& room : rooms_) {
      if (room.uuid.starts_with("old")) Fill(&room);
    }
    StateRunning();
    DrawBatch();
    return std::move(input_);
  }

 private:
  struct Job {
    TaskOptions options;
    std::vector<size_t> rooms;  // Of its tasks.
  };

  void DrawMachines() {
    const int64_t count = is_small_ ? rng_.Between(3, 6) : rng_.Between(12, 30);
    const int64_t new_count = is_small_ ? 1 : rng_.Between(1, count / 5);
    for (int64_t i = 0; i < count; ++i) {
      const bool is_new = i >= count - new_count;
      const int64_t cores = Pick(std::array{4, 8, 16}, &rng_);
      Room& room = rooms_.emplace_back();
      room.uuid = StrCat(is_new ? "new-" : "old-", i);
      room.cpu = cores * 1000;
      room.memory = cores * Pick(std::array{2, 4}, &rng_) * kGib;
      shapes_.push_back(room);
      input_.machines.emplace_back(
          Added(room.uuid,
                {.cpu = room.cpu,
                 .memory = room.memory,
                 .labels = {{"age", is_new ? "new" : "old"},
                            {"disk", Pick(std::array{"hdd", "ssd"}, &rng_)}}}));
    }
  }

  std::vector<PreferredTerm> DrawPreferred() {
    std::vector<PreferredTerm> terms;
    for (int64_t left = rng_.Between(0, 2); left > 0; --left) {
      const LabelRequirement label = rng_.Chance(1, 2)
                                         ? LabelIn("age", {"new"})
                                         : LabelIn("disk", {"ssd"});
      terms.push_back({.weight = Pick(std::array{5, 20, 50, 100}, &rng_),
                       .term = {.labels = {label}}});
    }
    return terms;
  }

  TaskOptions DrawSmallTask() {
    return {.cpu = Pick(std::array{500, 1000, 2000, 3000}, &rng_),
            .memory = Pick(std::array{1, 2, 4, 8}, &rng_) * kGib};
  }
  // This part of some machine, in per cent.
  TaskOptions DrawPartOfMachine(int64_t low, int64_t high) {
    const Room& shape = shapes_[rng_.Below(shapes_.size())];
    const int64_t percent = rng_.Between(low, high);
    return {
        .cpu = std::max<int64_t>(shape.cpu * percent / 100 / 500, 1) * 500,
        .memory =
            std::max<int64_t>(shape.memory * percent / 100 / kGib, 1) * kGib};
  }

  // Tasks without an owner prefer nothing: where those stay that nothing may
  // move is not what is compared.
  void DrawJobs() {
    const int64_t count = is_small_ ? rng_.Between(3, 6) : rng_.Between(6, 12);
    for (int64_t i = 0; i < count; ++i) {
      TaskOptions options = DrawSmallTask();
      options.job = StrCat("job-", i);
      options.priority = rng_.Chance(1, 4) ? 1 : 0;
      if (i == 0 || rng_.Chance(3, 4)) {
        options.owner = {"ReplicaSet", options.job};
        options.rules.preferred = DrawPreferred();
      }
      jobs_.push_back({.options = options, .rooms = {}});
    }
  }

  // Until little fits, and then a part goes again.
  void Fill(Room* room) {
    const auto index = static_cast<size_t>(room - rooms_.data());
    for (int misses = 0; misses < 5;) {
      Job& job = jobs_[rng_.Below(jobs_.size())];
      if (!room->Holds(job.options)) {
        ++misses;
        continue;
      }
      room->Take(job.options);
      job.rooms.push_back(index);
    }
    for (Job& job : jobs_) {
      std::erase_if(job.rooms, [&](size_t of_task) {
        if (of_task != index || !rng_.Chance(15, 100)) return false;
        room->cpu += job.options.cpu;
        room->memory += job.options.memory;
        return true;
      });
    }
  }

  void StateRunning() {
    for (Job& job : jobs_) {
      const int64_t count = std::ssize(job.rooms);
      if (rng_.Chance(1, 3)) {
        job.options.budget = DisruptionBudget{
            .limit = DisruptionBudget::Limit::kMinAvailable,
            .amount = std::max<int64_t>(count - rng_.Between(0, 3), 0)};
      }
      for (const size_t room : job.rooms) {
        auto& task = input_.tasks.emplace_back();
        task.uid = ++last_uid_;
        task.options = job.options;
        task.machine = rooms_[room].uuid;
      }
    }
  }

  void Submit(TaskOptions options, int64_t count, uint64_t minimum) {
    options.job = StrCat(minimum > 0 ? "gang-" : "batch-", last_uid_);
    options.priority = rng_.Chance(1, 2) ? 1 : 0;
    options.owner = {"Job", options.job};
    options.rules.preferred = DrawPreferred();
    for (int64_t i = 0; i < count; ++i) {
      input_.tasks.push_back({.uid = ++last_uid_,
                              .options = options,
                              .gang = {.minimum = minimum}});
      wanted_ += options.cpu;
    }
  }

  // Asks for about as much as is free.
  void DrawBatch() {
    int64_t free = 0;
    for (const Room& room : rooms_) free += room.cpu;
    const int64_t size = is_small_ ? rng_.Between(2, 3) : rng_.Between(3, 6);
    Submit(DrawPartOfMachine(20, 50), size, static_cast<uint64_t>(size));
    const int64_t most = free * rng_.Between(60, 130) / 100;
    while (wanted_ < most) {
      const bool is_large = rng_.Chance(1, 3);
      Submit(is_large ? DrawPartOfMachine(50, 100) : DrawSmallTask(),
             is_large ? 1 : rng_.Between(1, 3), 0);
    }
  }

  const bool is_small_;
  Rng rng_;
  std::vector<Room> rooms_;
  std::vector<Room> shapes_;  // The same, with nothing on them.
  std::vector<Job> jobs_;
  uint64_t last_uid_ = 0;
  int64_t wanted_ = 0;  // Of the batch.
  MovesInput input_;
};

constexpr int64_t kCores = 16;

// Of small clusters the room suffices for one machine.
std::vector<int64_t> DrawGangSizes(int64_t machine_count, Rng* rng) {
  if (machine_count < 100) return {1};
  std::vector<int64_t> sizes(static_cast<size_t>(rng->Between(2, 3)));
  for (int64_t& size : sizes) size = rng->Between(4, 8);
  return sizes;
}

}  // namespace

MovesInput MakeMovesInput(MovesSize size, uint64_t seed) {
  MovesInput input = MovesCluster(size, seed).Make();
  input.family = size == MovesSize::kSmall ? "moves small" : "moves middle";
  input.name = StrCat(input.family, " ", seed);
  return input;
}

MovesInput MakeDefragmentationInput(int64_t machine_count, uint64_t seed) {
  Rng rng(seed);
  MovesInput input;
  input.family = StrCat("defragmentation ", machine_count);
  input.name = StrCat(input.family, " ", seed);
  input.is_defragmentation = true;
  std::vector<int64_t> free(static_cast<size_t>(machine_count), kCores);
  for (int64_t i = 0; i < machine_count; ++i) {
    input.machines.emplace_back(
        Added(StrCat("machine-", i), {.cpu = kCores * 1000}));
  }
  uint64_t last_uid = 0;
  const int64_t used_max = machine_count * kCores * 85 / 100;
  for (int64_t used = 0; used < used_max;) {
    const size_t machine = rng.Below(free.size());
    const int64_t cores = Pick(std::array{1, 2, 4}, &rng);
    // The last ones are small enough to come to 85 % exactly.
    if (cores > std::min(free[machine], used_max - used)) continue;
    free[machine] -= cores;
    used += cores;
    const std::string job = StrCat("size-", cores);
    input.tasks.push_back({.uid = ++last_uid,
                           .options = {.cpu = cores * 1000,
                                       .job = job,
                                       .owner = {"ReplicaSet", job}},
                           .machine = StrCat("machine-", machine)});
  }
  for (const int64_t size : DrawGangSizes(machine_count, &rng)) {
    const std::string job = StrCat("gang-", last_uid);
    for (int64_t i = 0; i < size; ++i) {
      input.tasks.push_back({.uid = ++last_uid,
                             .options = {.cpu = kCores * 1000, .job = job},
                             .gang = {.minimum = static_cast<uint64_t>(size)}});
    }
  }
  return input;
}

}  // namespace sluice
