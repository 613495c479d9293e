#include "core/companions.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {
namespace {

// Of the machines of a place so many are tried for the first task.
constexpr size_t kTriesMax = 64;

class CircleSearch {
 public:
  CircleSearch(const ClassKey& key, RoundContext* context)
      : context_(*context), circle_{key} {}

  std::vector<ClassKey> Run() {
    if (!MustWait(circle_.front()) || !Extend()) circle_.clear();
    return std::move(circle_);
  }

 private:
  bool MustWait(const ClassKey& key) const {
    return ClassPeers(context_.state, context_.constraints, key).MustWait();
  }

  // Returns whether the circle is closed.
  bool Extend() {
    const ClassKey last = circle_.back();
    const CountedTerm& term =
        *context_.state.peers().TermsOf(*last.rules).affinity.front();
    context_.search_budget -= std::ssize(context_.state.pending());
    std::vector<ClassKey> candidates;
    for (const auto& [key, tasks] : context_.state.pending()) {
      if (!IsMeantBy(term, key) || context_.CountWaiting(key) == 0) continue;
      // By itself a task is no company.
      if (key == last) continue;
      if (key == circle_.front()) return true;
      if (!MustWait(key)) return false;
      if (std::ranges::count(circle_, key) == 0) candidates.push_back(key);
    }
    if (circle_.size() == kCompanionsMax) return false;
    std::ranges::stable_partition(candidates, [&](const ClassKey& key) {
      return key.gang.has_value() && key.gang == last.gang;
    });
    for (const ClassKey& key : candidates) {
      if (context_.search_budget <= 0) return false;
      circle_.push_back(key);
      if (Extend()) return true;
      circle_.pop_back();
    }
    return false;
  }

  RoundContext& context_;
  std::vector<ClassKey> circle_;
};

}  // namespace

std::vector<ClassKey> FindCircle(const ClassKey& key, RoundContext* context) {
  if (key.rules->affinity.empty() || context->search_budget <= 0) return {};
  return CircleSearch(key, context).Run();
}

CompanionPlaces::CompanionPlaces(std::vector<ClassKey> circle,
                                 RoundContext* context)
    : circle_(std::move(circle)), context_(*context) {
  for (const ClassKey& key : circle_) {
    const std::vector<const Task*> waiting = context_.WaitingTasks(key, 1);
    if (waiting.empty()) return;
    tasks_.push_back(waiting.front());
  }
  std::map<Domains, Place> by_domains;
  context_.search_budget -= std::ssize(context_.state.machines());
  for (const auto& [id, machine] : context_.state.machines()) {
    if (!MayBeOn(0, *machine)) continue;
    const Domains domains = DomainsOf(id);
    if (std::ranges::count(domains, kNoDomain) > 0) continue;
    Place& place = by_domains[domains];
    place.room += circle_.front().request.TimesIn(
        machine->Free(), context_.CountWaiting(circle_.front()));
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
      if (context_.search_budget <= 0) return false;
      if (PlaceFrom(0, *context_.state.FindMachine(id), transaction)) {
        return true;
      }
    }
  }
  return false;
}

bool CompanionPlaces::PlaceFrom(size_t index, const Machine& machine,
                                Transaction* transaction) {
  --context_.search_budget;
  if (!MayBeOn(index, machine)) return false;
  const size_t before = transaction->size();
  transaction->Place(*tasks_[index], machine.id);
  machines_.push_back(machine.id);
  const bool is_last = index + 1 == circle_.size();
  bool is_placed = false;
  if (is_last) {
    // The last one must be near the first.
    is_placed =
        std::ranges::count(NearTo(index, machine.id), machines_.front()) > 0;
  } else {
    for (const MachineId id : NearTo(index, machine.id)) {
      is_placed =
          PlaceFrom(index + 1, *context_.state.FindMachine(id), transaction);
      if (is_placed || context_.search_budget <= 0) break;
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
  context_.search_budget -= std::ssize(*fewest);
  return near;
}

bool CompanionPlaces::MayBeOn(size_t index, const Machine& machine) const {
  const ClassKey& key = circle_[index];
  return machine.IsUsable() && key.request.FitsIn(machine.Free()) &&
         context_.constraints.Allows(key, machine) &&
         ClassPeers(context_.state, context_.constraints, key)
             .AllowsBesideAffinity(machine);
}

std::span<CountedTerm* const> CompanionPlaces::TermsOf(size_t index) const {
  return context_.state.peers().TermsOf(*circle_[index].rules).affinity;
}

}  // namespace sluice
