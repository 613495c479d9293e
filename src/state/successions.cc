#include "state/successions.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "state/cluster_state.h"

namespace sluice {
namespace {

bool IsOver(Succession* succession, int64_t now_ms, const ClusterState& state) {
  // If the clock was set back, the wait begins again.  Otherwise it would
  // become longer by that much.
  succession->since_ms = std::min(succession->since_ms, now_ms);
  if (succession->gone_ms > now_ms) succession->gone_ms = now_ms;
  const Task* task = state.FindTask(succession->predecessor);
  if (task == nullptr || task->sequence != succession->predecessor_sequence ||
      !task->IsLive()) {
    if (!succession->gone_ms.has_value()) succession->gone_ms = now_ms;
    return now_ms - *succession->gone_ms >= kSuccessorWaitMs;
  }
  // A predecessor that waits again was not stopped either.
  const bool is_leaving =
      task->state == TaskState::kRunning && task->is_evicted;
  return !is_leaving || now_ms - succession->since_ms >= kPredecessorWaitMs;
}

}  // namespace

const Succession* Successions::Find(uint64_t sequence) const {
  const auto it = all_.find(sequence);
  return it == all_.end() ? nullptr : &it->second;
}

std::optional<uint64_t> Successions::FindFor(const std::string& job_uuid,
                                             const ClassKey& key) const {
  const auto of_job = of_job_.find(job_uuid);
  if (of_job == of_job_.end()) return std::nullopt;
  std::optional<uint64_t> other;
  bool keeps_other_none = false;
  for (const auto& [keeps_none, sequence] : of_job->second) {
    const Succession& one = all_.at(sequence);
    if (one.priority != key.priority || one.request != key.request) continue;
    if (one.rules == key.rules) return sequence;
    if (!other.has_value() || (keeps_none && !keeps_other_none)) {
      other = sequence;
      keeps_other_none = keeps_none;
    }
  }
  return other;
}

Resources Successions::RequestsOn(const Machine& machine) const {
  Resources requests;
  for (const uint64_t sequence : machine.successions) {
    requests += all_.at(sequence).request;
  }
  return requests;
}

void Successions::Add(uint64_t sequence, Succession succession) {
  of_job_[succession.job_uuid].emplace(!succession.machine.has_value(),
                                       sequence);
  CHECK(all_.emplace(sequence, std::move(succession)).second);
}

void Successions::Drop(uint64_t sequence) {
  const auto it = all_.find(sequence);
  CHECK(it != all_.end());
  const auto of_job = of_job_.find(it->second.job_uuid);
  of_job->second.erase({!it->second.machine.has_value(), sequence});
  if (of_job->second.empty()) of_job_.erase(of_job);
  all_.erase(it);
}

std::vector<uint64_t> Successions::FindOver(int64_t now_ms,
                                            const ClusterState& state) {
  std::vector<uint64_t> over;
  for (auto& [sequence, one] : all_) {
    if (IsOver(&one, now_ms, state)) over.push_back(sequence);
  }
  return over;
}

}  // namespace sluice
