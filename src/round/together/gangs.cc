#include "round/together/gangs.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace sluice {

Gangs::Gangs(ClusterState* state, FreshEligibility* eligibility,
             uint64_t sequence_end, int64_t now_ms)
    : state_(state), eligibility_(eligibility), sequence_end_(sequence_end) {
  for (const auto& [key, tasks] : state_->pending()) {
    if (!key.gang.has_value()) continue;
    const int64_t timeout_ms = JobOf(key).gang.timeout_ms;
    const int64_t submitted_ms = tasks.begin()->second->submitted_ms;
    if (timeout_ms > 0 && now_ms - submitted_ms >= timeout_ms) {
      timed_out_.insert(*key.gang);
    }
  }
}

const Job& Gangs::JobOf(const ClassKey& key) const {
  return *state_->FindJob(*key.gang);
}

bool Gangs::IsClosed(const ClassKey& key) const {
  if (!key.gang.has_value()) return false;
  return !JobOf(key).HasStarted() && !timed_out_.contains(*key.gang);
}

bool Gangs::MayBeUndone(const ClassKey& key) const {
  return key.gang.has_value() && !JobOf(key).was_started &&
         !timed_out_.contains(*key.gang);
}

bool Gangs::IsHealing(const ClassKey& key) const {
  if (!key.gang.has_value()) return false;
  const Job& job = JobOf(key);
  return job.running_count > 0 &&
         job.running_count < MinimumOf(job, *key.rules);
}

int64_t Gangs::MinimumOf(const Job& job, const PlacementRules& rules) const {
  if (job.gang.minimum == Gang::kAllTasks) {
    return job.pending_count + job.running_count;
  }
  const int64_t minimum =
      job.gang.minimum == Gang::kEveryMachine
          ? CountMachines(rules)
          : static_cast<int64_t>(std::min<uint64_t>(
                job.gang.minimum, std::numeric_limits<int64_t>::max()));
  return std::max<int64_t>(minimum - job.completed_count, 0);
}

int64_t Gangs::CountMachines(const PlacementRules& rules) const {
  Eligibility& eligibility = eligibility_->Now();
  return std::ranges::count_if(state_->machines(), [&](const auto& entry) {
    return eligibility.Allows(rules, *entry.second);
  });
}

std::vector<Gangs::Waiting> Gangs::FindWaiting(uint32_t priority) const {
  struct Found {
    Waiting gang;
    int64_t in_time = 0;
    int64_t pending = 0;  // Of its tasks, those seen.
  };
  std::map<JobId, Found> gangs;
  const auto add = [&](const ClassKey& key, const auto& tasks, Found* found) {
    found->pending += std::ssize(tasks);
    const auto count =
        std::distance(tasks.begin(), tasks.lower_bound(sequence_end_));
    if (count == 0) return;
    Waiting& gang = found->gang;
    const int64_t submitted_ms = tasks.begin()->second->submitted_ms;
    gang.job = *key.gang;
    gang.submitted_ms = gang.classes.empty()
                            ? submitted_ms
                            : std::min(gang.submitted_ms, submitted_ms);
    gang.minimum = std::max(gang.minimum, MinimumFor(key));
    gang.classes.push_back(key);
    found->in_time += count;
  };
  const auto& pending = state_->pending();
  for (auto it = pending.lower_bound(ClassKey{priority, {}});
       it != pending.end() && it->first.priority == priority; ++it) {
    const auto& [key, tasks] = *it;
    if (IsClosed(key)) add(key, tasks, &gangs[*key.gang]);
  }
  // Gangs of several priorities are rare: only for these, all classes are gone
  // through, the most urgent first.
  std::map<JobId, Found> of_several;
  for (const auto& [job, found] : gangs) {
    if (found.pending < state_->FindJob(job)->pending_count) of_several[job];
  }
  if (!of_several.empty()) {
    for (const auto& [key, tasks] : pending) {
      if (!key.gang.has_value()) continue;
      const auto it = of_several.find(*key.gang);
      if (it != of_several.end()) add(key, tasks, &it->second);
    }
    for (auto& [job, found] : of_several) gangs[job] = std::move(found);
  }
  std::vector<Waiting> result;
  for (auto& [job, found] : gangs) {
    Waiting& gang = found.gang;
    if (!gang.classes.empty() && gang.classes.front().priority == priority &&
        found.in_time >= gang.minimum && gang.minimum > 0) {
      result.push_back(std::move(gang));
    }
  }
  std::ranges::stable_sort(result, {}, &Waiting::submitted_ms);
  return result;
}

bool Gangs::IsWhole(const Waiting& gang) const {
  const Job* job = state_->FindJob(gang.job);
  return job == nullptr || job->running_count >= gang.minimum;
}

void Gangs::WithdrawHalves() {
  // Usually there is none: looking through the shorter of the two lists is
  // enough.
  const auto& jobs = state_->jobs();
  if (state_->outbox().size() > jobs.size() &&
      std::ranges::none_of(jobs, [](const auto& entry) {
        const Job& job = *entry.second;
        return job.gang.minimum > 0 && !job.was_started &&
               job.running_count > 0;
      })) {
    return;
  }
  std::map<JobId, std::vector<TaskId>> untold;
  for (const auto& [sequence, delta] : state_->outbox()) {
    const Task* task = state_->FindTask(delta.task);
    if (task->class_key.gang.has_value() && state_->IsUntold(task->id)) {
      untold[*task->class_key.gang].push_back(task->id);
    }
  }
  for (const auto& [id, tasks] : untold) {
    const Job& job = *state_->FindJob(id);
    if (job.was_started) continue;
    // The machines have not been looked at yet: gangs that may not be whole are
    // decided on again.
    const bool may_be_whole =
        job.gang.minimum == Gang::kEveryMachine
            ? job.pending_count == 0
            : job.running_count >= MinimumOf(job, NoRules());
    if (std::ssize(tasks) < job.running_count || may_be_whole) continue;
    for (const TaskId task : tasks) state_->Withdraw(task);
  }
}

std::vector<PackingGang> PackingGangsOf(
    std::span<const ClassKey> classes,
    const std::map<JobId, int64_t>& minimums) {
  std::map<JobId, std::vector<size_t>> of_gang;
  for (size_t c = 0; c < classes.size(); ++c) {
    const std::optional<JobId>& gang = classes[c].gang;
    if (gang.has_value() && minimums.contains(*gang)) {
      of_gang[*gang].push_back(c);
    }
  }
  std::vector<PackingGang> gangs;
  for (const auto& [job, indices] : of_gang) {
    gangs.push_back({indices, minimums.at(job)});
  }
  return gangs;
}

}  // namespace sluice
