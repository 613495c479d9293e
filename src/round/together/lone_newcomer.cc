#include "round/together/lone_newcomer.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace sluice {
namespace {

// How many of each gang that may leave.
std::map<JobId, int64_t> CountByGang(const std::vector<const Task*>& tasks,
                                     const GangVictims& gangs) {
  std::map<JobId, int64_t> counts;
  for (const Task* task : tasks) {
    const std::optional<JobId>& gang = task->class_key.gang;
    if (!task->is_evicted && gang.has_value() && gangs.contains(*gang)) {
      ++counts[*gang];
    }
  }
  return counts;
}

// How many of its tasks may leave without the others.
int64_t SpareOf(const GangVictim& gang) {
  return std::ssize(gang.tasks) - gang.minimum;
}

// With all tasks of the gangs that cannot go on without these.
std::vector<const Task*> WithGangs(std::vector<const Task*> leaving,
                                   const GangVictims& gangs) {
  for (const auto& [id, count] : CountByGang(leaving, gangs)) {
    const GangVictim& gang = gangs.at(id);
    if (count <= SpareOf(gang)) continue;
    std::erase_if(leaving, [&gang](const Task* task) {
      return std::ranges::count(gang.tasks, task) > 0;
    });
    leaving.insert(leaving.end(), gang.tasks.begin(), gang.tasks.end());
  }
  return leaving;
}

// Keeps the last tasks of each gang, as many as it can spare.
std::vector<const Task*> WithoutWholeGangs(std::vector<const Task*> leaving,
                                           const GangVictims& gangs) {
  std::map<JobId, int64_t> counts = CountByGang(leaving, gangs);
  std::erase_if(leaving, [&](const Task* task) {
    const std::optional<JobId>& gang = task->class_key.gang;
    return !task->is_evicted && gang.has_value() && counts.contains(*gang) &&
           counts[*gang]-- > SpareOf(gangs.at(*gang));
  });
  return leaving;
}

std::vector<const Task*> Without(size_t index, std::vector<const Task*> tasks) {
  tasks.erase(std::next(tasks.begin(), static_cast<ptrdiff_t>(index)));
  return tasks;
}

}  // namespace

bool LoneNewcomer::Needs(const ClassKey& running) const {
  return std::ranges::any_of(
      state_.peers().TermsOf(*key_.rules).affinity,
      [&](const CountedTerm* term) { return IsMeantBy(*term, running); });
}

bool LoneNewcomer::IsKeptOutBy(const ClassKey& running,
                               const Topology& topology) const {
  return state_.peers().KeepApart(key_, running, [&](const CountedTerm& term) {
    return term.topology == &topology;
  });
}

bool LoneNewcomer::Concerns(const Task& task) const {
  const PeerTable& peers = state_.peers();
  return peers.KeepApart(key_, task.class_key) ||
         std::ranges::any_of(peers.TermsOf(*key_.rules).spread,
                             [&](const CountedTerm* term) {
                               return IsMeantBy(*term, task.class_key);
                             });
}

std::optional<std::vector<const Task*>> LoneNewcomer::FindInTheWay(
    const Machine& machine, std::span<const Task* const> leavers,
    const GangVictims& gangs) const {
  std::vector<const Task*> leaving;
  for (const Task* task : leavers) {
    if (Concerns(*task)) leaving.push_back(task);
  }
  const auto is_let_in = [&](const std::vector<const Task*>& without) {
    return peers_.AllowsWithout(machine, WithGangs(without, gangs));
  };
  // A gang's remaining tasks may lower an emptiest domain.
  if (!is_let_in(leaving)) leaving = WithoutWholeGangs(leaving, gangs);
  // One of those that it must be near stays: the first that may.
  for (size_t i = 0; i < leaving.size() && !is_let_in(leaving); ++i) {
    if (!Needs(leaving[i]->class_key)) continue;
    std::vector<const Task*> fewer = Without(i, leaving);
    if (is_let_in(fewer)) leaving = std::move(fewer);
  }
  if (!is_let_in(leaving)) return std::nullopt;
  for (size_t i = 0; i < leaving.size();) {
    std::vector<const Task*> fewer = Without(i, leaving);
    if (is_let_in(fewer)) {
      leaving = std::move(fewer);
    } else {
      ++i;
    }
  }
  return leaving;
}

}  // namespace sluice
