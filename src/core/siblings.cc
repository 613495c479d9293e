#include "core/siblings.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace sluice {

std::vector<size_t> Siblings::FindCrowded(
    std::span<const Placement> placements) {
  std::vector<size_t> crowded;
  std::vector<std::tuple<JobId, MachineId, size_t>> order;
  order.reserve(placements.size());
  for (size_t i = 0; i < placements.size(); ++i) {
    order.emplace_back(placements[i].task->job, placements[i].machine, i);
  }
  std::ranges::sort(order);
  for (auto begin = order.begin(), end = begin; begin != order.end();
       begin = end) {
    const JobId job = std::get<JobId>(*begin);
    end = std::find_if(begin, order.end(), [&](const auto& entry) {
      return std::get<JobId>(entry) != job;
    });
    const bool is_all = state_.FindJob(job)->running_count == end - begin;
    const bool has_pair =
        std::adjacent_find(begin, end, [](const auto& a, const auto& b) {
          return std::get<MachineId>(a) == std::get<MachineId>(b);
        }) != end;
    if (is_all && !has_pair) continue;
    if (is_all) {
      known_.insert(job);
      for (auto it = begin; it != end; ++it) {
        ++counts_[{job, std::get<MachineId>(*it)}];
      }
    }
    for (auto it = begin; it != end && looks_left_ > 0; ++it) {
      if (Count(job, std::get<MachineId>(*it)) > 1) {
        crowded.push_back(std::get<size_t>(*it));
      }
    }
  }
  return crowded;
}

int64_t Siblings::Count(JobId job, MachineId machine) {
  --looks_left_;
  const auto [it, is_new] = counts_.try_emplace({job, machine}, 0);
  if (is_new && !known_.contains(job)) {
    const Machine& host = *state_.FindMachine(machine);
    looks_left_ -= std::ssize(host.tasks);
    it->second = std::ranges::count_if(host.tasks, [&](TaskId id) {
      const Task& task = *state_.FindTask(id);
      return task.job == job && !task.is_evicted;
    });
  }
  return it->second;
}

void Siblings::Note(JobId job, MachineId machine, int64_t count) {
  const auto it = counts_.find({job, machine});
  if (it != counts_.end()) {
    it->second += count;
  } else if (known_.contains(job)) {
    counts_[{job, machine}] = count;
  }
}

}  // namespace sluice
