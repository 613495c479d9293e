#include "constraints/topology_spread.h"

#include <algorithm>
#include <optional>

namespace sluice {

TopologySpread::TopologySpread(const ClusterState& state,
                               const ConstraintSet& constraints,
                               const ClassKey& key, size_t index)
    : state_(&state),
      constraints_(&constraints),
      key_(key),
      constraint_(&key.rules->spread[index]) {
  const PeerTerms& terms = state.peers().TermsOf(*key.rules);
  topology_ = terms.spread[index]->topology;
  const CountedTerm& by_machine = *terms.spread_by_machine[index];
  selector_ = by_machine.selector;
  is_self_ = std::ranges::binary_search(*key.meant_by, selector_);
  counts_.assign(static_cast<size_t>(topology_->domain_end()), -1);
  // One machine that counts makes a domain; usually the first one does.
  for (DomainIndex domain = 0; domain < topology_->domain_end(); ++domain) {
    if (std::ranges::any_of(topology_->MachinesOf(domain),
                            [&](MachineId id) { return Counts(id); })) {
      counts_[static_cast<size_t>(domain)] = 0;
      ++domain_count_;
    }
  }
  for (const auto& [own, count] : by_machine.meant.counts()) {
    const auto& machines = by_machine.topology->MachinesOf(own);
    if (machines.empty() || !Counts(*machines.begin())) continue;
    counts_[static_cast<size_t>(topology_->DomainOf(*machines.begin()))] +=
        count - by_machine.leaving.At(own);
  }
  for (const auto& [own, count] : by_machine.expected.counts()) {
    const auto& machines = by_machine.topology->MachinesOf(own);
    if (machines.empty() || !Counts(*machines.begin())) continue;
    expected_.resize(counts_.size(), 0);
    const auto domain =
        static_cast<size_t>(topology_->DomainOf(*machines.begin()));
    counts_[domain] += count;
    expected_[domain] += count;
  }
  too_few_domains_ = domain_count_ < constraint_->min_domains;
}

bool TopologySpread::Counts(MachineId id) const {
  const Machine* machine = state_->FindMachine(id);
  // A maximum counts all tasks, wherever they run.
  if (constraint_->min_domains == SpreadConstraint::kFromEmpty) {
    return machine != nullptr && topology_->DomainOf(id) != kNoDomain;
  }
  // What runs on a draining machine counts until it has left.
  if (machine == nullptr || !machine->IsSound() || machine->is_stale) {
    return false;
  }
  if (topology_->DomainOf(id) == kNoDomain) return false;
  const PeerTerms& terms = state_->peers().TermsOf(*key_.rules);
  for (size_t i = 0; i < terms.spread.size(); ++i) {
    if (key_.rules->spread[i].is_required &&
        terms.spread[i]->topology->DomainOf(id) == kNoDomain) {
      return false;
    }
  }
  return (!constraint_->honors_node_affinity ||
          constraints_->AllowsAspect(MachineAspect::kLabels, key_, *machine)) &&
         (!constraint_->honors_taints ||
          constraints_->AllowsAspect(MachineAspect::kTaints, key_, *machine));
}

int64_t TopologySpread::CountAt(MachineId machine) const {
  const DomainIndex domain = topology_->DomainOf(machine);
  if (domain == kNoDomain) return 0;
  return std::max<int64_t>(counts_[static_cast<size_t>(domain)], 0);
}

int64_t TopologySpread::ExcessAt(MachineId machine) const {
  if (!is_minimum_exact_) FindMinimum();
  if (topology_->DomainOf(machine) == kNoDomain) {
    int64_t most = 0;
    for (const int64_t count : counts_) most = std::max(most, count);
    return most - minimum_ + 1;
  }
  return std::max<int64_t>(CountAt(machine) - minimum_, 0);
}

int64_t TopologySpread::RunningIn(size_t domain) const {
  return counts_[domain] - (expected_.empty() ? 0 : expected_[domain]);
}

void TopologySpread::FindMinimum() const {
  minimum_ = 0;
  bool is_first = true;
  for (size_t domain = 0; domain < counts_.size(); ++domain) {
    if (counts_[domain] < 0) continue;
    const int64_t running = RunningIn(domain);
    minimum_ = is_first ? running : std::min(minimum_, running);
    is_first = false;
  }
  is_minimum_exact_ = true;
}

bool TopologySpread::Allows(MachineId machine) const {
  if (topology_->DomainOf(machine) == kNoDomain) return false;
  const int64_t count = CountAt(machine) + (is_self_ ? 1 : 0);
  if (count - Minimum() <= constraint_->max_skew) return true;
  if (is_minimum_exact_) return false;
  FindMinimum();
  return count - Minimum() <= constraint_->max_skew;
}

bool TopologySpread::AllowsWithout(MachineId machine,
                                   std::span<const Task* const> leavers) const {
  // Tasks told to leave are not counted anyway.
  const int64_t fewer = std::ranges::count_if(leavers, [&](const Task* task) {
    return !task->is_evicted && Means(task->class_key);
  });
  if (fewer == 0 || !Counts(machine)) return Allows(machine);
  const auto domain = static_cast<size_t>(topology_->DomainOf(machine));
  const int64_t least =
      too_few_domains_ ? 0 : std::min(minimum(), RunningIn(domain) - fewer);
  return counts_[domain] - fewer + (is_self_ ? 1 : 0) - least <=
         constraint_->max_skew;
}

int64_t TopologySpread::LeaversNeeded(MachineId machine) const {
  const DomainIndex there = topology_->DomainOf(machine);
  if (there == kNoDomain) return 0;
  std::optional<int64_t> least;  // Elsewhere.
  for (size_t domain = 0; domain < counts_.size(); ++domain) {
    if (counts_[domain] < 0 || static_cast<DomainIndex>(domain) == there) {
      continue;
    }
    least = std::min(least.value_or(RunningIn(domain)), RunningIn(domain));
  }
  // A single domain is the emptiest, however few tasks it holds.
  if (!least.has_value() && !too_few_domains_) return 0;
  const int64_t minimum = too_few_domains_ ? 0 : *least;
  return std::max<int64_t>(
      CountAt(machine) + (is_self_ ? 1 : 0) - minimum - constraint_->max_skew,
      0);
}

bool TopologySpread::Holds() const {
  const int64_t most = minimum() + constraint_->max_skew;
  return std::ranges::none_of(counts_,
                              [most](int64_t count) { return count > most; });
}

int64_t TopologySpread::minimum() const {
  if (!is_minimum_exact_) FindMinimum();
  return Minimum();
}

int64_t TopologySpread::MinimumAsAllCome() const {
  if (too_few_domains_) return 0;
  std::optional<int64_t> least;
  for (const int64_t count : counts_) {
    if (count >= 0) least = std::min(least.value_or(count), count);
  }
  return least.value_or(0);
}

int64_t TopologySpread::LevelFor(int64_t count) const {
  int64_t level = minimum();
  if (too_few_domains_) return level;
  std::vector<int64_t> counts;
  for (size_t domain = 0; domain < counts_.size(); ++domain) {
    if (counts_[domain] >= 0) counts.push_back(RunningIn(domain));
  }
  std::ranges::sort(counts);
  // Like water: the lowest ones rise together until they meet the next.
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto rising = static_cast<int64_t>(i + 1);
    int64_t step = count / rising;
    if (i + 1 < counts.size()) step = std::min(step, counts[i + 1] - level);
    level += step;
    count -= step * rising;
    if (i + 1 < counts.size() && level < counts[i + 1]) break;
  }
  return level;
}

std::vector<int64_t> TopologySpread::RoomUpTo(int64_t level) const {
  std::vector<int64_t> room(counts_.size(), 0);
  for (size_t d = 0; d < counts_.size(); ++d) {
    if (counts_[d] < 0) continue;
    room[d] = std::max<int64_t>(level - counts_[d], 0);
  }
  return room;
}

bool TopologySpread::Means(const ClassKey& key) const {
  return std::ranges::binary_search(*key.meant_by, selector_);
}

void TopologySpread::ForgetExpected(const ClassKey& expected, MachineId machine,
                                    int64_t count) {
  if (!Means(expected) || !Counts(machine)) return;
  const auto domain = static_cast<size_t>(topology_->DomainOf(machine));
  counts_[domain] -= count;
  expected_[domain] -= count;
}

void TopologySpread::Note(const ClassKey& placed, MachineId machine,
                          int64_t count) {
  if (!Means(placed) || !Counts(machine)) return;
  const auto domain = static_cast<size_t>(topology_->DomainOf(machine));
  counts_[domain] += count;
  minimum_ = std::min(minimum_, RunningIn(domain));
  is_minimum_exact_ = false;
}

}  // namespace sluice
