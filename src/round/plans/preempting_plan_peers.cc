// How a plan treats rules between tasks: which tasks must be gone, on any
// machine, before a newcomer may come.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "constraints/class_peers.h"
#include "round/plans/preempting_plan.h"

namespace sluice {
namespace {

// True if the tasks it must be near are there without the withdrawn ones, or
// come there, too.
bool HasCompany(const ClassKey& key, MachineId machine,
                std::span<const Task* const> withdrawn,
                const std::map<ClassKey, int64_t>& beside,
                const PeerTable& peers) {
  const auto has_some = [&](const CountedTerm* term) {
    const DomainIndex domain = term->topology->DomainOf(machine);
    if (domain == kNoDomain) return false;
    const auto is_meant = [term](const ClassKey& other) {
      return IsMeantBy(*term, other);
    };
    const int64_t fewer =
        std::ranges::count_if(withdrawn, [&](const Task* one) {
          return is_meant(one->class_key) &&
                 term->topology->DomainOf(one->machine) == domain;
        });
    return term->meant.At(domain) > fewer ||
           std::ranges::any_of(beside | std::views::keys, is_meant);
  };
  return std::ranges::all_of(peers.TermsOf(*key.rules).affinity, has_some);
}

}  // namespace

void PreemptingPlan::FindEvicted() {
  for (const auto& [id, machine] : context_.state.machines()) {
    // Tasks on a departed machine may never leave.
    if (machine->leaving_count == 0 || !machine->IsSound()) continue;
    for (const TaskId one : machine->tasks) {
      const Task* task = context_.state.FindTask(one);
      if (task->is_evicted && task->class_key.DependsOnPeers()) {
        evicted_.push_back(task);
      }
    }
  }
}

void PreemptingPlan::FindConflicts(const std::vector<Pattern>& solution) {
  packing_.VisitMachines(solution, [&](MachineId id, const Pattern& pattern) {
    for (const auto& [c, count] : pattern.tasks) {
      if (c >= packing_.classes.size()) break;
      const ClassKey& key = packing_.classes[c];
      if (IsKeptFromDomains(key, context_.state.peers())) {
        conflicts_.Add(key, id);
      }
    }
  });
}

void PreemptingPlan::FindConflicts() {
  conflicts_ = DomainConflicts(context_.state.peers());
  for (const auto& [id, awaited] : awaited_) {
    for (const Task* task : awaited.tasks) {
      if (IsKeptFromDomains(task->class_key, context_.state.peers())) {
        conflicts_.Add(task->class_key, id);
      }
    }
  }
}

void PreemptingPlan::WatchSpreads() {
  spreads_ = PlannedSpreads(context_.state, context_.constraints);
  for (const ClassKey& key : packing_.classes) {
    if (!IsLone(key)) spreads_.Watch(key);
  }
}

void PreemptingPlan::FindSpreads(const std::vector<Pattern>& solution) {
  WatchSpreads();
  if (spreads_.empty()) return;
  for (const Task* task : placed_peers_) spreads_.Withdraw(*task);
  packing_.VisitMachines(solution, [&](MachineId id, const Pattern& pattern) {
    for (const auto& [c, count] : pattern.tasks) {
      if (c >= packing_.classes.size()) break;
      spreads_.Come(packing_.classes[c], id, count);
    }
    for (const TaskId victim : VictimsOn(id, pattern)) {
      spreads_.Leave(*context_.state.FindTask(victim));
    }
  });
}

void PreemptingPlan::FindPlacedAtOnce(const MachinePatterns& patterns) {
  if (spreads_.empty()) return;
  for (const auto& [id, index] : patterns.of_machine) {
    for (const auto& [key, count] : patterns.patterns[index - 1]) {
      if (!spreads_.Watches(key)) continue;
      placed_at_once_.insert(placed_at_once_.end(), static_cast<size_t>(count),
                             {&key, id});
    }
  }
}

void PreemptingPlan::FindSpreads() {
  if (spreads_.empty()) return;
  spreads_.Reset();
  for (const auto& [key, id] : placed_at_once_) spreads_.Come(*key, id);
  for (const auto& [id, awaited] : awaited_) {
    for (const Task* task : awaited.tasks) {
      if (task->class_key.DependsOnPeers()) spreads_.Come(task->class_key, id);
    }
    for (const TaskId victim : awaited.victims) {
      if (!IsStillOn(id, victim)) continue;
      spreads_.Leave(*context_.state.FindTask(victim));
    }
  }
}

bool PreemptingPlan::DropBeyondSpreads() {
  if (spreads_.empty()) return false;
  std::vector<std::pair<const Task*, MachineId>> coming;
  for (const auto& [id, awaited] : awaited_) {
    for (const Task* task : awaited.tasks) {
      if (spreads_.Watches(task->class_key) && !IsLone(task->class_key)) {
        coming.emplace_back(task, id);
      }
    }
  }
  std::ranges::stable_sort(coming, {}, [](const auto& one) {
    return one.first->class_key.priority;
  });
  bool has_dropped = false;
  for (const auto& [task, id] : coming) {
    if (spreads_.Allow(task->class_key, id)) continue;
    spreads_.Come(task->class_key, id, -1);
    std::erase(awaited_.at(id).tasks, task);
    has_dropped = true;
  }
  return has_dropped;
}

std::optional<uint32_t> PreemptingPlan::HighestServedBy(TaskId victim) const {
  const Task& task = *context_.state.FindTask(victim);
  return std::max(conflicts_.HighestAgainst(task.class_key, task.machine),
                  spreads_.HighestAgainst(task));
}

bool PreemptingPlan::Serves(TaskId victim) const {
  if (conflicts_.empty() && spreads_.empty()) return false;
  return HighestServedBy(victim) >
         context_.state.FindTask(victim)->class_key.priority;
}

void PreemptingPlan::NoteSpared(TaskId victim) {
  if (!spreads_.empty()) spreads_.Leave(*context_.state.FindTask(victim), -1);
}

bool PreemptingPlan::IsForNothing(const Awaited& awaited) const {
  return awaited.tasks.empty() && awaited.arriving.empty() &&
         std::ranges::none_of(awaited.victims,
                              [this](TaskId one) { return Serves(one); });
}

bool PreemptingPlan::IsAllowedByPeers(const ClassKey& key,
                                      const Machine& machine,
                                      const std::vector<TaskId>& victims) {
  const ClusterState& state = context_.state;
  if (!key.DependsOnPeers()) return true;
  if (LooksFurther(key)) return IsAllowedAsAllLeave(key, machine, victims);
  bool is_any_apart = false;
  const auto has_domain = [&machine](const CountedTerm& term) {
    return term.topology->DomainOf(machine.id) != kNoDomain;
  };
  for (const TaskId id : machine.tasks) {
    const Task& task = *state.FindTask(id);
    if (!state.peers().KeepApart(key, task.class_key, has_domain)) continue;
    is_any_apart = true;
    if (!task.is_evicted && std::ranges::count(victims, id) == 0) return false;
  }
  // The packing has taken care of those it may not share a domain with.
  if (is_any_apart) return true;
  const ClassPeers peers(state, context_.constraints, key);
  return spreads_.Watches(key) ? peers.AllowsBesideSpread(machine)
                               : peers.Allows(machine);
}

bool PreemptingPlan::LooksFurther(const ClassKey& key) const {
  return IsLone(key) || (key.rules->affinity.empty() &&
                         IsKeptFromDomains(key, context_.state.peers()));
}

bool PreemptingPlan::IsInTheWay(TaskId victim) const {
  const MachineId machine = context_.state.FindTask(victim)->machine;
  const auto c = packing_.running.ClassOf(machine, victim);
  return c.has_value() && packing_.running.classes()[*c].is_in_the_way;
}

const ClassPeers& PreemptingPlan::PeersOf(const ClassKey& key) {
  const auto known = peers_of_.find(key);
  if (known != peers_of_.end()) return known->second;
  return peers_of_.try_emplace(key, context_.state, context_.constraints, key)
      .first->second;
}

bool PreemptingPlan::MustAwaitOthers(
    const ClassKey& key, const Machine& machine,
    const std::map<ClassKey, int64_t>& beside) {
  if (IsLone(key)) {
    const ClassPeers& peers = PeersOf(key);
    return !peers.Allows(machine) &&
           (taken_back_.empty() || !peers.AllowsWithout(machine, taken_back_));
  }
  // Room that it has at once is of no use without its company.
  if (!HasCompany(key, machine.id, placed_peers_, beside,
                  context_.state.peers())) {
    return true;
  }
  return LooksFurther(key) &&
         !PeersOf(key).AreApartWithout(machine, placed_peers_);
}

bool PreemptingPlan::NominateBeyondSpreads(MachinePatterns* patterns) {
  if (spreads_.empty()) return false;
  PlannedSpreads at_once = spreads_;
  at_once.Reset();
  std::vector<std::pair<ClassKey, MachineId>> coming;
  for (const auto& [id, index] : patterns->of_machine) {
    for (const auto& [key, count] : patterns->patterns[index - 1]) {
      if (!key.DependsOnPeers()) continue;
      at_once.Come(key, id, count);
      if (!at_once.Watches(key) || IsLone(key)) continue;
      coming.insert(coming.end(), static_cast<size_t>(count), {key, id});
    }
  }
  // The least urgent first.
  std::ranges::sort(coming, std::ranges::greater());
  std::map<MachineId, std::map<ClassKey, int64_t>> later;
  for (const auto& [key, id] : coming) {
    if (at_once.Allow(key, id)) continue;
    at_once.Come(key, id, -1);
    ++later[id][key];
  }
  for (const auto& [id, counts] : later) {
    uint32_t& index = patterns->of_machine.at(id);
    std::map<ClassKey, int64_t> left = patterns->patterns[index - 1];
    for (const auto& [key, count] : counts) {
      awaited_[id].nominees[key] += count;
      const auto it = left.find(key);
      it->second -= count;
      if (it->second == 0) left.erase(it);
    }
    patterns->patterns.push_back(std::move(left));
    index = static_cast<uint32_t>(patterns->patterns.size());
  }
  return !later.empty();
}

void PreemptingPlan::FindLeavers() {
  leavers_.clear();
  wide_leavers_.clear();
  // If so, nobody looks further than the machine.
  if (conflicts_.empty() && !packing_.lone.has_value()) return;
  leavers_ = evicted_;
  for (const auto& [id, awaited] : awaited_) {
    for (const TaskId victim : awaited.victims) {
      const Task* task = context_.state.FindTask(victim);
      if (task != nullptr && task->class_key.DependsOnPeers() &&
          IsStillOn(id, victim)) {
        leavers_.push_back(task);
      }
    }
  }
  std::ranges::copy_if(
      leavers_, std::back_inserter(wide_leavers_), [this](const Task* task) {
        return ConcernsDomains(task->class_key, context_.state.peers());
      });
}

bool PreemptingPlan::IsAllowedAsAllLeave(const ClassKey& key,
                                         const Machine& machine,
                                         const std::vector<TaskId>& victims) {
  // Elsewhere it matters which tasks are counted with it for a spread, and
  // which are kept out of its domains.
  std::vector<const Task*> leavers = IsLone(key) ? leavers_ : wide_leavers_;
  std::erase_if(leavers,
                [&](const Task* task) { return task->machine == machine.id; });
  for (const TaskId id : machine.tasks) {
    const Task* task = context_.state.FindTask(id);
    if (task->is_evicted || std::ranges::count(victims, id) > 0) {
      leavers.push_back(task);
    }
  }
  const ClassPeers& peers = PeersOf(key);
  return IsLone(key) ? peers.AllowsWithout(machine, leavers)
                     : peers.AreApartWithout(machine, leavers);
}

bool PreemptingPlan::IsLoneAllowedBeside(const std::set<TaskId>& staying) {
  if (!packing_.lone.has_value()) return true;
  const std::vector<const Task*> leavers = leavers_;
  std::erase_if(leavers_, [&staying](const Task* task) {
    return staying.contains(task->id);
  });
  const bool is_allowed = std::ranges::all_of(awaited_, [&](const auto& entry) {
    const auto& [id, awaited] = entry;
    const Machine* machine = context_.state.FindMachine(id);
    if (machine == nullptr ||
        std::ranges::none_of(awaited.tasks, [this](const Task* task) {
          return IsLone(task->class_key);
        })) {
      return true;
    }
    std::vector<TaskId> victims = awaited.victims;
    std::erase_if(victims, [&](TaskId one) { return staying.contains(one); });
    return IsAllowedAsAllLeave(*packing_.lone, *machine, victims);
  });
  if (!is_allowed) leavers_ = leavers;
  return is_allowed;
}

}  // namespace sluice
