#include "round/plans/free_room.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "packing/pattern_rules.h"

namespace sluice {
namespace {

int64_t* FindCount(size_t of_class, Pattern* pattern) {
  const auto it = std::ranges::lower_bound(pattern->tasks, of_class, {},
                                           &std::pair<size_t, int64_t>::first);
  return it == pattern->tasks.end() || it->first != of_class ? nullptr
                                                             : &it->second;
}

void Change(size_t of_class, int64_t by, Pattern* pattern) {
  int64_t* count = FindCount(of_class, pattern);
  if (count != nullptr) {
    *count += by;
  } else {
    pattern->tasks.emplace_back(of_class, by);
    std::ranges::sort(pattern->tasks);
  }
  std::erase_if(pattern->tasks,
                [](const auto& entry) { return entry.second == 0; });
}

class Exchange {
 public:
  Exchange(const RoundPacking& packing, const ConstraintSet& constraints,
           Allowance* work)
      : packing_(packing), work_(*work) {
    for (const ClassKey& key : packing.classes) {
      may_go_.push_back(!key.gang.has_value() && !key.DependsOnPeers() &&
                        key.rules->host_ports.empty() &&
                        !constraints.AsksForMoreThanFit(key));
    }
  }

  void Add(const Pattern& pattern, Resources free_now) {
    Slot slot = {.pattern = pattern, .free = std::move(free_now)};
    slot.pattern.machines = 1;
    const size_t kind = packing_.problem.groups[pattern.group].kind;
    for (const auto& [c, count] : pattern.tasks) {
      if (c < packing_.classes.size()) {
        slot.request.AddScaled(packing_.classes[c].request, count);
      } else if (count > packing_.problem.RunningOn(c, kind)) {
        slot.is_changing = true;  // More are to come there.
      }
    }
    slot.waits = !slot.request.FitsIn(slot.free);
    slots_.push_back(std::move(slot));
  }

  bool Run() {
    bool has_changed = false;
    for (Slot& slot : slots_) {
      if (!slot.waits) continue;
      // The most urgent first.
      for (size_t c = 0; c < packing_.classes.size(); ++c) {
        while (slot.waits && FindCount(c, &slot.pattern) != nullptr &&
               may_go_[c] && MoveOne(c, &slot)) {
          has_changed = true;
        }
      }
    }
    return has_changed;
  }

  std::vector<Pattern> TakePatterns() {
    std::vector<Pattern> patterns;
    for (Slot& slot : slots_) patterns.push_back(std::move(slot.pattern));
    return patterns;
  }

 private:
  struct Slot {
    Pattern pattern;
    Resources free;          // Now.
    Resources request = {};  // Of the tasks placed there.
    bool waits = false;
    bool is_changing = false;
  };

  bool MoveOne(size_t urgent, Slot* from) {
    // The least urgent class that would have to wait.
    std::optional<size_t> waits;
    Slot* instead = nullptr;
    for (Slot& to : slots_) {
      if (&to == from || to.is_changing) continue;
      if (!work_.Spend(1)) break;
      const int64_t gained = Charge(urgent, *from);
      const int64_t paid = Charge(urgent, to);
      if (paid == kNotAllowed) continue;
      const ClassKey& key = packing_.classes[urgent];
      if (paid <= gained && (to.request + key.request).FitsIn(to.free)) {
        Carry(urgent, std::nullopt, from, &to);
        return true;
      }
      for (const auto& entry : to.pattern.tasks) {
        const size_t other = entry.first;
        if (other >= packing_.classes.size() || !may_go_[other] ||
            packing_.classes[other].priority >= key.priority) {
          continue;
        }
        const int64_t saved = gained + Charge(other, to);
        if (paid > saved ||
            !(to.request + key.request - packing_.classes[other].request)
                 .FitsIn(to.free)) {
          continue;
        }
        const int64_t other_paid = Charge(other, *from);
        if (other_paid != kNotAllowed && paid + other_paid <= saved &&
            MayTakePlace(other, urgent, *from)) {
          Carry(urgent, other, from, &to);
          Put(other, 1, from);
          return true;
        }
        if (!waits.has_value() || other > *waits) {
          waits = other;
          instead = &to;
        }
      }
    }
    if (!waits.has_value() || IsAnyStopped(*from)) return false;
    Carry(urgent, *waits, from, instead);
    return true;
  }

  int64_t Charge(size_t of_class, const Slot& slot) const {
    const PackingProblem& problem = packing_.problem;
    return problem.costs[problem.groups[slot.pattern.group].kind][of_class];
  }

  // True if the less urgent one fits there instead, once all that are to leave
  // have left, and is more urgent than any of these.
  bool MayTakePlace(size_t of_class, size_t instead_of,
                    const Slot& slot) const {
    const PackingProblem& problem = packing_.problem;
    const PackingGroup& group = problem.groups[slot.pattern.group];
    std::vector<int64_t> free = group.free;
    const auto take = [&](size_t c, int64_t count) {
      for (size_t d = 0; d < free.size(); ++d) {
        free[d] -= problem.classes[c].request[d] * count;
      }
    };
    for (const auto& [c, count] : slot.pattern.tasks) take(c, count);
    take(instead_of, -1);
    take(of_class, 1);
    if (std::ranges::any_of(free, [](int64_t amount) { return amount < 0; })) {
      return false;
    }
    for (size_t i = 0; i < packing_.running_classes.size(); ++i) {
      if (IsAnyStopped(i, slot) &&
          packing_.running.classes()[packing_.running_classes[i]]
                  .key.priority >= packing_.classes[of_class].priority) {
        return false;
      }
    }
    return true;
  }

  // True if the solution stops any of this class of running tasks, or any at
  // all.  Tasks told to leave earlier do not count.
  bool IsAnyStopped(size_t running, const Slot& slot) const {
    const size_t c = packing_.classes.size() + running;
    const size_t kind = packing_.problem.groups[slot.pattern.group].kind;
    return packing_.problem.RunningOn(c, kind) > CountOf(c, slot.pattern);
  }
  bool IsAnyStopped(const Slot& slot) const {
    for (size_t i = 0; i < packing_.running_classes.size(); ++i) {
      if (IsAnyStopped(i, slot)) return true;
    }
    return false;
  }

  // The urgent one goes to the other's place if there is one.
  void Carry(size_t urgent, std::optional<size_t> other, Slot* from, Slot* to) {
    Put(urgent, -1, from);
    if (other.has_value()) Put(*other, -1, to);
    Put(urgent, 1, to);
  }

  void Put(size_t of_class, int64_t count, Slot* slot) {
    Change(of_class, count, &slot->pattern);
    slot->request.AddScaled(packing_.classes[of_class].request, count);
    slot->waits = !slot->request.FitsIn(slot->free);
  }

  const RoundPacking& packing_;
  std::vector<bool> may_go_;  // By class.
  std::vector<Slot> slots_;
  Allowance& work_;  // Of pairs of machines and classes.
};

}  // namespace

void GiveFreeRoomToUrgent(const RoundPacking& packing,
                          const ClusterState& state,
                          const ConstraintSet& constraints,
                          absl::FunctionRef<Resources(const Machine&)> free_now,
                          Allowance* work, std::vector<Pattern>* solution) {
  Exchange exchange(packing, constraints, work);
  packing.VisitMachines(*solution, [&](MachineId id, const Pattern& pattern) {
    const Machine* machine = state.FindMachine(id);
    exchange.Add(pattern,
                 machine == nullptr ? Resources() : free_now(*machine));
  });
  if (exchange.Run()) *solution = exchange.TakePatterns();
}

}  // namespace sluice
