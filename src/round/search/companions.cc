#include "round/search/companions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace sluice {
namespace {

constexpr size_t kClassesMax = 8;
constexpr size_t kCirclesMax = 8;
// The number of machines of a place to try for the first task.
constexpr size_t kTriesMax = 64;

class CircleSearch {
 public:
  CircleSearch(const ClassKey& key, CompanionsOf of, RoundContext* context)
      : context_(*context), of_(of), circle_{key} {}

  std::vector<std::vector<ClassKey>> Run() {
    if (!MayWait(circle_.front()) || !Extend()) found_.clear();
    return std::move(found_);
  }

 private:
  bool MayWait(const ClassKey& key) const {
    if (of_ == CompanionsOf::kNobody) {
      return ClassPeers(context_.state, context_.constraints, key).MustWait();
    }
    // A class of which a task runs must be near that, and begins no circle.
    const PeerTerms& terms = context_.state.peers().TermsOf(*key.rules);
    const std::vector<const Task*> waiting = context_.WaitingTasks(key, 1);
    return !terms.affinity.empty() &&
           !IsMeantBy(*terms.affinity.front(), key) && !waiting.empty() &&
           context_.state.FindJob(waiting.front()->job)->running_count == 0;
  }

  // Returns false if another task must come first.
  bool Extend() {
    const ClassKey last = circle_.back();
    const CountedTerm& term =
        *context_.state.peers().TermsOf(*last.rules).affinity.front();
    context_.budget.Spend(Effort::kCompanions,
                          std::ssize(context_.state.pending()));
    std::vector<ClassKey> candidates;
    for (const auto& [key, tasks] : context_.state.pending()) {
      // A task is no company to itself.
      if (!IsMeantBy(term, key) || key == last ||
          context_.CountWaiting(key) == 0) {
        continue;
      }
      if (key == circle_.front()) {
        if (found_.size() < kCirclesMax) found_.push_back(circle_);
      } else if (key.rules->affinity.empty() || !MayWait(key)) {
        if (of_ == CompanionsOf::kNobody) return false;
      } else if (std::ranges::count(circle_, key) == 0) {
        candidates.push_back(key);
      }
    }
    if (circle_.size() == kClassesMax) return true;
    std::ranges::stable_partition(candidates, [&](const ClassKey& key) {
      return key.gang.has_value() && key.gang == last.gang;
    });
    for (const ClassKey& key : candidates) {
      if (context_.budget.IsSpent(Effort::kCompanions) ||
          found_.size() == kCirclesMax) {
        break;
      }
      circle_.push_back(key);
      const bool may_go_on = Extend();
      circle_.pop_back();
      if (!may_go_on) return false;
    }
    return true;
  }

  RoundContext& context_;
  const CompanionsOf of_;
  std::vector<ClassKey> circle_;
  std::vector<std::vector<ClassKey>> found_;
};

}  // namespace

std::vector<std::vector<ClassKey>> FindCircles(const ClassKey& key,
                                               CompanionsOf of,
                                               RoundContext* context) {
  if (key.rules->affinity.empty() ||
      context->budget.IsSpent(Effort::kCompanions)) {
    return {};
  }
  return CircleSearch(key, of, context).Run();
}

CompanionPlaces::CompanionPlaces(std::vector<ClassKey> circle,
                                 RoundContext* context)
    : circle_(std::move(circle)), context_(*context) {
  for (const ClassKey& key : circle_) {
    tasks_.push_back(context_.WaitingTasks(key, 1).front());
  }
  std::vector<MachineId> all;
  for (const auto& [id, machine] : context_.state.machines()) all.push_back(id);
  std::map<Domains, Place> by_domains;
  const ClassKey& first = circle_.front();
  const int64_t waiting = context_.CountWaiting(first);
  for (const MachineId id : AllowedOf(all, 0)) {
    const Domains domains = DomainsOf(id);
    if (std::ranges::count(domains, kNoDomain) > 0) continue;
    Place& place = by_domains[domains];
    place.room +=
        first.request.TimesIn(context_.state.FindMachine(id)->Free(), waiting);
    if (place.machines.size() < kTriesMax) place.machines.push_back(id);
  }
  for (auto& [domains, place] : by_domains) places_.push_back(std::move(place));
  std::ranges::stable_sort(places_, {}, &Place::room);
}

bool CompanionPlaces::PlaceNext(Transaction* transaction) {
  while (!places_.empty()) {
    const Place place = std::move(places_.back());
    places_.pop_back();
    for (const MachineId id : place.machines) {
      if (context_.budget.IsSpent(Effort::kCompanions)) return false;
      if (PlaceFrom(0, id, transaction)) return true;
    }
  }
  return false;
}

bool CompanionPlaces::PlaceFrom(size_t index, MachineId machine,
                                Transaction* transaction) {
  const size_t before = transaction->size();
  transaction->Place(*tasks_[index], machine);
  machines_.push_back(machine);
  const std::vector<MachineId> near = NearTo(index, machine);
  bool is_placed = false;
  if (index + 1 == circle_.size()) {
    // The last one must be near the first.
    is_placed = std::ranges::count(near, machines_.front()) > 0;
  } else {
    for (const MachineId id : AllowedOf(near, index + 1)) {
      is_placed = PlaceFrom(index + 1, id, transaction);
      if (is_placed || context_.budget.IsSpent(Effort::kCompanions)) break;
    }
  }
  machines_.pop_back();
  if (!is_placed) transaction->RollBackTo(before);
  return is_placed;
}

CompanionPlaces::Domains CompanionPlaces::DomainsOf(MachineId machine) const {
  Domains domains;
  for (const size_t index : {size_t{0}, circle_.size() - 1}) {
    for (const CountedTerm* term : TermsOf(index)) {
      domains.push_back(term->topology->DomainOf(machine));
    }
  }
  return domains;
}

std::vector<MachineId> CompanionPlaces::NearTo(size_t index,
                                               MachineId machine) const {
  const std::span<CountedTerm* const> terms = TermsOf(index);
  const absl::btree_set<MachineId>* fewest = nullptr;
  for (const CountedTerm* term : terms) {
    const DomainIndex domain = term->topology->DomainOf(machine);
    if (domain == kNoDomain) return {};
    const auto& there = term->topology->MachinesOf(domain);
    if (fewest == nullptr || there.size() < fewest->size()) fewest = &there;
  }
  std::vector<MachineId> near;
  std::ranges::copy_if(*fewest, std::back_inserter(near), [&](MachineId other) {
    return std::ranges::all_of(terms, [&](const CountedTerm* term) {
      return term->topology->DomainOf(other) ==
             term->topology->DomainOf(machine);
    });
  });
  context_.budget.Spend(Effort::kCompanions, 1 + std::ssize(*fewest));
  return near;
}

std::vector<MachineId> CompanionPlaces::AllowedOf(
    std::span<const MachineId> machines, size_t index) const {
  const ClassKey& key = circle_[index];
  const ClassPeers peers(context_.state, context_.constraints, key);
  std::vector<MachineId> allowed;
  std::ranges::copy_if(
      machines, std::back_inserter(allowed), [&](MachineId id) {
        const Machine& machine = *context_.state.FindMachine(id);
        return machine.IsUsable() && key.request.FitsIn(machine.Free()) &&
               context_.constraints.Allows(key, machine) &&
               peers.AllowsBesideAffinity(machine);
      });
  context_.budget.Spend(Effort::kCompanions, std::ssize(machines));
  return allowed;
}

std::span<CountedTerm* const> CompanionPlaces::TermsOf(size_t index) const {
  return context_.state.peers().TermsOf(*circle_[index].rules).affinity;
}

}  // namespace sluice
