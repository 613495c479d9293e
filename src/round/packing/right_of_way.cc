#include "round/packing/right_of_way.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "packing/pattern_rules.h"
#include "round/context/placements.h"

namespace sluice {
namespace {

// True if no task depends on this one to be where it is.  Tasks that avoid this
// one do not count.
bool IsFreeToLeave(const Task& task, const PeerTable& peers) {
  const ClassKey& key = task.class_key;
  if (key.gang.has_value()) return false;
  if (!key.DependsOnPeers()) return true;
  const auto& apart = peers.TermsOf(*key.rules).anti_affinity;
  return std::ranges::all_of(*key.meant_by, [&](uint32_t selector) {
    return std::ranges::all_of(
        peers.TermsAbout(selector), [&](const CountedTerm* term) {
          return std::ranges::find(apart, term) != apart.end();
        });
  });
}

// True if a task of the class may be where it is because of one that these
// selectors select.
bool MayStandFor(const SelectorSet& meant_by, const ClassKey& key,
                 const PeerTable& peers) {
  const PeerTerms& terms = peers.TermsOf(*key.rules);
  const auto means = [&](const CountedTerm* term) {
    return std::ranges::binary_search(meant_by, term->selector);
  };
  if (std::ranges::any_of(terms.affinity, means)) return true;
  for (size_t i = 0; i < terms.spread.size(); ++i) {
    if (key.rules->spread[i].is_required && means(terms.spread[i])) return true;
  }
  return false;
}

// A machine with tasks that the plan leaves there.
struct Contended {
  std::vector<const Task*> staying;
  Resources free;  // Without these, and what is placed anew.
  const std::map<ClassKey, int64_t>* planned = nullptr;
};

using Machines = std::map<MachineId, Contended>;

Machines FindContended(const RoundPacking& packing,
                       const MachinePatterns& patterns, RoundContext* context) {
  const ClusterState& state = context->state;
  const absl::flat_hash_set<TaskId> anew(packing.placed.begin(),
                                         packing.placed.end());
  Machines machines;
  for (const auto& [task, id] : context->FreshPlacements()) {
    if (!anew.contains(task->id)) machines[id].staying.push_back(task);
  }
  for (auto& [id, contended] : machines) {
    const Machine& machine = *state.FindMachine(id);
    contended.free = machine.Free();
    for (const TaskId task : machine.tasks) {
      if (!anew.contains(task)) continue;
      contended.free += state.FindTask(task)->class_key.request;
    }
    const auto it = patterns.of_machine.find(id);
    if (it != patterns.of_machine.end()) {
      contended.planned = &patterns.patterns[it->second - 1];
    }
  }
  return machines;
}

// True if the less urgent tasks that stay keep a task of the class out: beside
// the planned tasks that are at least as urgent it fits only without them.
bool IsInTheWay(const ClassKey& key, const Contended& contended) {
  Resources free = contended.free;
  if (contended.planned != nullptr) {
    for (const auto& [other, count] : *contended.planned) {
      if (other.priority < key.priority) continue;
      free.AddScaled(other.request, -count);
    }
  }
  if (key.request.FitsIn(free)) return false;
  for (const Task* task : contended.staying) {
    if (task->class_key.priority >= key.priority) continue;
    free += task->class_key.request;
  }
  return key.request.FitsIn(free);
}

// The classes without terms of which the plan leaves tasks waiting, in
// descending priority.
std::vector<ClassKey> FindWaiting(const RoundPacking& packing,
                                  const MachinePatterns& patterns) {
  std::map<ClassKey, int64_t> planned;
  for (const auto& [machine, index] : patterns.of_machine) {
    for (const auto& [key, count] : patterns.patterns[index - 1]) {
      planned[key] += count;
    }
  }
  std::vector<ClassKey> waiting;
  for (size_t c = 0; c < packing.classes.size(); ++c) {
    const ClassKey& key = packing.classes[c];
    if (!key.IsBound() && planned[key] < packing.problem.classes[c].count()) {
      waiting.push_back(key);
    }
  }
  return waiting;
}

}  // namespace

std::optional<std::vector<TaskId>> FindWhoGivesWay(
    const RoundPacking& packing, const MachinePatterns& patterns,
    RoundContext* context) {
  std::vector<TaskId> leaving;
  if (!packing.leaves_out) return leaving;
  Machines machines = FindContended(packing, patterns, context);
  const ClusterState& state = context->state;
  const std::vector<ClassKey> waiting = FindWaiting(packing, patterns);
  const auto is_below_plan = [&](const Task* task) {
    return (!waiting.empty() &&
            task->class_key.priority < waiting.front().priority) ||
           (packing.levels.has_value() &&
            !packing.levels->LevelOf(task->class_key.priority).has_value());
  };
  for (auto& [id, contended] : machines) {
    std::erase_if(contended.staying, [&](const Task* task) {
      if (!is_below_plan(task)) return true;
      if (!IsFreeToLeave(*task, state.peers())) return false;
      leaving.push_back(task->id);
      contended.free += task->class_key.request;
      return true;
    });
  }
  std::erase_if(machines,
                [](const auto& entry) { return entry.second.staying.empty(); });
  if (machines.empty()) return leaving;
  Eligibility& eligibility = context->eligibility();
  for (const ClassKey& key : waiting) {
    const std::vector<bool> allowed = eligibility.MaskFor(*key.rules);
    context->budget.Note(std::ssize(machines));
    for (const auto& [id, contended] : machines) {
      const KindId kind = eligibility.KindOf(*state.FindMachine(id));
      if (allowed[static_cast<size_t>(kind)] && IsInTheWay(key, contended)) {
        return std::nullopt;
      }
    }
  }
  return leaving;
}

absl::btree_map<TaskId, Cost> FindWhoMayYield(
    std::span<const TaskId> placed_anew, RoundContext* context) {
  const PeerTable& peers = context->state.peers();
  const absl::flat_hash_set<TaskId> moved(placed_anew.begin(),
                                          placed_anew.end());
  std::vector<const Task*> yielding;
  std::set<ClassKey> classes;  // Of these.
  std::set<ClassKey> others;   // Of those that stay, to be looked at.
  for (const Placement& one : context->FreshPlacements()) {
    const ClassKey& key = one.task->class_key;
    if (!key.DependsOnPeers() && !key.rules->never_preempts) continue;
    if (key.gang.has_value() || moved.contains(one.task->id)) {
      others.insert(key);
      continue;
    }
    yielding.push_back(one.task);
    classes.insert(key);
  }
  while (!others.empty() && !classes.empty()) {
    const ClassKey stays = others.extract(others.begin()).value();
    std::erase_if(classes, [&](const ClassKey& key) {
      if (!MayStandFor(*key.meant_by, stays, peers)) return false;
      others.insert(key);
      return true;
    });
  }
  absl::btree_map<TaskId, Cost> costs;
  for (const Task* task : yielding) {
    if (!classes.contains(task->class_key)) continue;
    costs[task->id] = context->UrgencyOf(*task);
  }
  return costs;
}

void TakeBackWhoYields(std::span<const Pattern> solution,
                       const ClusterState& state, RoundPacking* packing) {
  if (packing->untold.empty()) return;
  std::set<TaskId> taken;
  packing->VisitMachines(solution, [&](MachineId id, const Pattern& pattern) {
    for (size_t i = 0; i < packing->running_classes.size(); ++i) {
      const size_t of_class = packing->running_classes[i];
      if (!packing->running.classes()[of_class].is_untold) continue;
      const std::vector<TaskId> tasks = packing->running.TasksOn(id, of_class);
      const int64_t staying = CountOf(packing->classes.size() + i, pattern);
      for (int64_t k = staying; k < std::ssize(tasks); ++k) {
        taken.insert(tasks[static_cast<size_t>(k)]);
      }
    }
  });
  std::vector<TaskId> left(taken.begin(), taken.end());
  absl::flat_hash_set<const SelectorSet*> seen;
  while (!left.empty()) {
    const Task* task = state.FindTask(left.back());
    left.pop_back();
    if (task == nullptr) continue;
    packing->running.TakeBack(*task);
    if (!seen.insert(task->class_key.meant_by).second) continue;
    for (const auto& [id, cost] : packing->untold) {
      const Task* other = state.FindTask(id);
      if (other != nullptr && !taken.contains(id) &&
          MayStandFor(*task->class_key.meant_by, other->class_key,
                      state.peers())) {
        taken.insert(id);
        left.push_back(id);
      }
    }
  }
  packing->placed.insert(packing->placed.end(), taken.begin(), taken.end());
}

}  // namespace sluice
