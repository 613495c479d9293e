#include "round/plans/gang_displacement.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "round/plans/displacement.h"

namespace sluice {
namespace {

// A domain that tasks with affinity over its topology must share; without a
// topology they go anywhere.
struct Restriction {
  const Topology* topology = nullptr;
  DomainIndex domain = kNoDomain;
};

class Attempt {
 public:
  Attempt(const GangSubject& subject, std::span<const Task* const> tasks,
          const Restriction& restriction, Allowance* work)
      : state_(subject.state), restriction_(restriction) {
    for (const Task* task : tasks) {
      const ClassKey& key = task->class_key;
      if (searches_.contains(key)) continue;
      work->Spend(std::ssize(state_.tasks()));
      StoppableTasks& stoppable = stoppables_.emplace_back(
          state_, subject.gangs, subject.options, key.priority);
      searches_.try_emplace(
          key,
          DisplacementSearch::Subject{state_, subject.constraints,
                                      subject.eligibility, stoppable},
          key, work);
    }
  }

  // Nullopt if fewer than `minimum` can come.
  std::optional<GangDisplacement> Go(std::span<const Task* const> tasks,
                                     int64_t minimum, size_t first) {
    GangDisplacement all;
    int64_t left = std::ssize(tasks);
    std::set<ClassKey> in_vain;
    for (const Task* task : tasks) {
      if (std::ssize(all.coming) + left-- < minimum) return std::nullopt;
      const ClassKey& key = task->class_key;
      if (in_vain.contains(key)) continue;
      const std::optional<Displacement> found = Find(key, first);
      if (!found.has_value()) {
        in_vain.insert(key);
        continue;
      }
      Note(key, *found);
      all.coming.emplace_back(task, found->machine);
      all.victims.insert(all.victims.end(), found->victims.begin(),
                         found->victims.end());
      all.price.beyond_budgets += found->price.beyond_budgets;
      for (const auto& [priority, cost] : found->price.sums) {
        all.price.Add(priority, cost);
      }
    }
    if (std::ssize(all.coming) < minimum) return std::nullopt;
    return all;
  }

 private:
  std::optional<Displacement> Find(const ClassKey& key, size_t first) {
    const bool is_bound = restriction_.topology != nullptr &&
                          HasAffinityOver(key, *restriction_.topology);
    return searches_.at(key).FindCheapest(
        [&](MachineId machine) {
          return !is_bound || restriction_.topology->DomainOf(machine) ==
                                  restriction_.domain;
        },
        first);
  }

  bool HasAffinityOver(const ClassKey& key, const Topology& topology) const {
    return std::ranges::any_of(
        state_.peers().TermsOf(*key.rules).affinity,
        [&](const CountedTerm* term) { return term->topology == &topology; });
  }

  void Note(const ClassKey& key, const Displacement& found) {
    for (StoppableTasks& stoppable : stoppables_) {
      stoppable.Stop(found.victims);
    }
    for (auto& [of, search] : searches_) {
      for (const Task* task : found.victims) search.NoteStopped(*task);
      search.NoteComing(key, found.machine);
    }
  }

  const ClusterState& state_;
  const Restriction restriction_;
  std::list<StoppableTasks> stoppables_;  // By class.
  std::map<ClassKey, DisplacementSearch> searches_;
};

// No restriction, then each domain in which some of the tasks would be near
// others.
std::vector<Restriction> RestrictionsFor(std::span<const Task* const> tasks,
                                         const ClusterState& state) {
  std::vector<Restriction> all = {{}};
  std::vector<const Topology*> topologies;
  for (const Task* task : tasks) {
    for (const CountedTerm* term :
         state.peers().TermsOf(*task->class_key.rules).affinity) {
      if (std::ranges::count(topologies, term->topology) > 0) continue;
      topologies.push_back(term->topology);
      for (DomainIndex d = 0; d < term->topology->domain_end(); ++d) {
        if (!term->topology->MachinesOf(d).empty()) {
          all.push_back({term->topology, d});
        }
      }
    }
  }
  return all;
}

}  // namespace

std::optional<GangDisplacement> FindForGang(const GangSubject& subject,
                                            std::span<const Task* const> tasks,
                                            int64_t minimum, size_t first,
                                            Allowance* work) {
  std::optional<GangDisplacement> best;
  for (const Restriction& restriction : RestrictionsFor(tasks, subject.state)) {
    if (work->IsSpent()) break;
    std::optional<GangDisplacement> found =
        Attempt(subject, tasks, restriction, work).Go(tasks, minimum, first);
    if (!found.has_value()) continue;
    // All that come are more urgent than those that leave.
    const auto more = best.has_value()
                          ? std::ssize(found->coming) - std::ssize(best->coming)
                          : 1;
    if (more > 0 || (more == 0 && found->price < best->price)) {
      best = std::move(found);
    }
  }
  return best;
}

}  // namespace sluice
