// How a plan treats running gangs: they go on with their minimum, or leave as a
// whole.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "round/plans/preempting_plan.h"

namespace sluice {

std::map<ClassKey, int64_t> PreemptingPlan::NewcomersOf(
    const Pattern& pattern) const {
  std::map<ClassKey, int64_t> newcomers;
  for (const auto& [c, count] : pattern.tasks) {
    if (c >= packing_.classes.size()) continue;
    const ClassKey& key = packing_.classes[c];
    if (key.gang.has_value() && leaving_gangs_.contains(*key.gang)) continue;
    newcomers[key] = count;
  }
  return newcomers;
}

void PreemptingPlan::LeaveOutBrokenGangs(MachinePatterns* patterns) {
  struct Coming {
    int64_t tasks = 0;
    int64_t minimum = 0;
  };
  std::map<JobId, Coming> coming;
  const auto count = [&](const std::map<ClassKey, int64_t>& counts) {
    for (const auto& [key, tasks] : counts) {
      if (!context_.gangs.MayBeUndone(key)) continue;
      Coming& of = coming[*key.gang];
      of.tasks += tasks;
      of.minimum = std::max(of.minimum, context_.gangs.MinimumFor(key));
    }
  };
  for (const auto& [id, awaited] : awaited_) count(awaited.nominees);
  for (const auto& [id, index] : patterns->of_machine) {
    count(patterns->patterns[index - 1]);
  }
  std::erase_if(coming, [](const auto& entry) {
    return entry.second.tasks >= entry.second.minimum;
  });
  if (coming.empty()) return;
  const auto is_of_one = [&coming](const auto& entry) {
    const std::optional<JobId>& gang = entry.first.gang;
    return gang.has_value() && coming.contains(*gang);
  };
  for (auto& [id, awaited] : awaited_) {
    std::erase_if(awaited.nominees, is_of_one);
  }
  for (auto& holds : patterns->patterns) std::erase_if(holds, is_of_one);
}

void PreemptingPlan::StopForOthersOn(MachineId machine,
                                     std::vector<TaskId> tasks) {
  std::erase_if(tasks, [this](TaskId one) {
    if (GoesWithGang(one) || Serves(one)) return false;
    NoteSpared(one);
    return true;
  });
  if (!tasks.empty()) awaited_[machine].victims = std::move(tasks);
}

std::set<JobId> PreemptingPlan::FindLeavingGangs(
    const std::vector<Pattern>& solution) const {
  std::map<JobId, int64_t> staying;
  for (const size_t i : packing_.running_classes) {
    const std::optional<JobId>& gang = packing_.running.classes()[i].gang;
    if (gang.has_value()) staying[*gang];
  }
  if (staying.empty()) return {};
  for (const Pattern& pattern : solution) {
    for (const auto& [c, count] : pattern.tasks) {
      if (c < packing_.classes.size()) continue;
      const size_t i = packing_.running_classes[c - packing_.classes.size()];
      const std::optional<JobId>& gang = packing_.running.classes()[i].gang;
      if (gang.has_value()) staying[*gang] += count * pattern.machines;
    }
  }
  std::set<JobId> leaving;
  for (const auto& [gang, count] : staying) {
    if (count < packing_.running.MinimumOf(gang)) leaving.insert(gang);
  }
  return leaving;
}

std::optional<JobId> PreemptingPlan::GangOfVictim(TaskId victim) const {
  return packing_.running.GangOf(*context_.state.FindTask(victim));
}

bool PreemptingPlan::GoesWithGang(TaskId victim) const {
  const std::optional<JobId> gang = GangOfVictim(victim);
  return gang.has_value() && leaving_gangs_.contains(*gang);
}

bool PreemptingPlan::SpareTornGangs() {
  std::map<JobId, int64_t> stopped;
  for (const auto& [id, awaited] : awaited_) {
    for (const TaskId victim : awaited.victims) {
      const std::optional<JobId> gang = GangOfVictim(victim);
      if (gang.has_value()) ++stopped[*gang];
    }
  }
  leaving_gangs_.clear();
  std::set<JobId> torn;
  for (const auto& [gang, count] : stopped) {
    const int64_t running = context_.state.FindJob(gang)->running_count;
    if (running - count >= packing_.running.MinimumOf(gang)) continue;
    (count < running ? torn : leaving_gangs_).insert(gang);
  }
  if (torn.empty()) return false;
  for (auto& [id, awaited] : awaited_) {
    std::erase_if(awaited.victims, [&](TaskId victim) {
      const std::optional<JobId> gang = GangOfVictim(victim);
      if (!gang.has_value() || !torn.contains(*gang)) return false;
      NoteSpared(victim);
      return true;
    });
  }
  return true;
}

bool PreemptingPlan::SpareGangs(const std::map<MachineId, Served>& served) {
  bool has_spared = false;
  for (const JobId gang : leaving_gangs_) {
    std::set<TaskId> may_stay;
    int64_t needed = 0;
    for (const auto& [id, awaited] : awaited_) {
      const Machine* machine = context_.state.FindMachine(id);
      if (machine == nullptr || awaited.victims.empty()) continue;
      const uint32_t highest = served.at(id).priority.value_or(0);
      Slack slack = SlackOn(*machine, awaited);
      for (const TaskId victim : awaited.victims) {
        if (GangOfVictim(victim) != gang) continue;
        const ClassKey& key = context_.state.FindTask(victim)->class_key;
        if (Serves(victim)) {
          ++needed;
          continue;
        }
        if (slack.LetStay(key, key.priority < highest)) {
          may_stay.insert(victim);
          NoteSpared(victim);
        } else {
          ++needed;
        }
      }
    }
    const int64_t running = context_.state.FindJob(gang)->running_count;
    if (running - needed < packing_.running.MinimumOf(gang) ||
        !IsLoneAllowedBeside(may_stay)) {
      for (const TaskId one : may_stay) {
        spreads_.Leave(*context_.state.FindTask(one));
      }
      continue;
    }
    has_spared = true;
    for (auto& [id, awaited] : awaited_) {
      std::erase_if(awaited.victims,
                    [&](TaskId one) { return may_stay.contains(one); });
    }
  }
  return has_spared;
}

}  // namespace sluice
