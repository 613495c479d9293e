#include "network/band_network.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/int128.h"
#include "cost/waiting_cost.h"

namespace sluice {
namespace {

Resources MeanRequest(std::span<const BandClass> classes, FlowUnits tasks) {
  ResourceIndex size = 0;
  for (const BandClass& band_class : classes) {
    size = std::max(size, band_class.key.request.size());
  }
  Resources mean;
  for (ResourceIndex i = 0; i < size && tasks > 0; ++i) {
    Int128 sum = 0;
    for (const BandClass& band_class : classes) {
      sum += static_cast<Int128>(band_class.key.request[i]) *
             static_cast<int64_t>(band_class.tasks.size());
    }
    mean.Set(i, static_cast<int64_t>(sum / tasks));
  }
  return mean;
}

// `copies` units of each of these costs, as segments of equal ones, cheapest
// first and no more than `limit` units together.
std::vector<CostSegment> ToSegments(std::vector<FlowCost> costs,
                                    FlowUnits copies, FlowUnits limit) {
  std::ranges::sort(costs);
  std::vector<CostSegment> segments;
  for (const FlowCost cost : costs) {
    if (limit == 0) break;
    const FlowUnits width = std::min(copies, limit);
    limit -= width;
    if (!segments.empty() && segments.back().cost == cost) {
      segments.back().width += width;
    } else {
      segments.push_back({width, cost});
    }
  }
  return segments;
}

// What the k-th task to land on the machine costs, for each of its slots.
std::vector<FlowCost> LoadCosts(const Machine& machine,
                                const Resources& mean_request, FlowUnits slots,
                                const PolicySet& policies) {
  std::vector<FlowCost> costs(static_cast<size_t>(slots));
  Resources load = machine.used;
  for (FlowCost& cost : costs) {
    cost = LoadArcCost(policies, machine, load);
    load += mean_request;
  }
  return costs;
}

}  // namespace

FlowCost LoadArcCost(const PolicySet& policies, const Machine& machine,
                     const Resources& used) {
  const int64_t pods = std::max<int64_t>(machine.allocatable[kPods], 1);
  // One part for each task, or less where there is room for more.
  const FlowCost tasks = std::clamp<int64_t>(used[kPods], 0, pods) *
                         std::min<int64_t>(pods, kPartsPerPoint - 1) / pods;
  return policies.LoadCost(machine, used) * kPartsPerPoint + tasks;
}

BandNetwork::BandNetwork(std::span<const MachineGroup> groups,
                         const PolicySet& policies,
                         const ConstraintSet& constraints,
                         Eligibility* eligibility,
                         std::span<const BandClass> classes, int64_t now_ms) {
  for (const BandClass& band_class : classes) {
    const auto count = static_cast<FlowUnits>(band_class.tasks.size());
    problem_.AddNode(count);
    supply_ += count;
  }
  sink_ = problem_.AddNode(-supply_);
  mean_request_ = MeanRequest(classes, supply_);
  std::vector<std::vector<CostSegment>> ladders(groups.size());
  AddPlacementArcs(
      groups,
      FindCandidates(groups, policies, constraints,
                     FindInterests(classes, eligibility), classes, &ladders),
      ladders);
  AddWaitingArcs(classes, now_ms);
}

std::vector<std::vector<BandNetwork::Interest>> BandNetwork::FindInterests(
    std::span<const BandClass> classes, Eligibility* eligibility) {
  std::vector<std::vector<Interest>> interests(
      static_cast<size_t>(eligibility->kind_count()));
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].tasks.empty()) continue;
    for (const auto& [kind, preference] :
         eligibility->KindsFor(*classes[i].key.rules)) {
      interests[static_cast<size_t>(kind)].push_back({i, preference});
    }
  }
  return interests;
}

std::vector<std::vector<BandNetwork::Candidate>> BandNetwork::FindCandidates(
    std::span<const MachineGroup> groups, const PolicySet& policies,
    const ConstraintSet& constraints,
    const std::vector<std::vector<Interest>>& interests,
    std::span<const BandClass> classes,
    std::vector<std::vector<CostSegment>>* ladders) const {
  std::vector<Candidates> candidates(classes.size(), Candidates(supply_));
  std::vector<Interest> fitting;
  for (size_t g = 0; g < groups.size(); ++g) {
    const Machine& machine = groups[g].representative();
    fitting.clear();
    Resources largest;
    for (const Interest& interest :
         interests[static_cast<size_t>(groups[g].kind)]) {
      const ClassKey& key = classes[interest.class_index].key;
      if (!constraints.AllowsLoad(key, machine)) continue;
      fitting.push_back(interest);
      largest.MaxWith(key.request);
    }
    if (fitting.empty()) continue;
    const Resources free = machine.Free();
    const FlowUnits slots =
        std::max<FlowUnits>(largest.TimesIn(free, supply_), 1);
    std::vector<CostSegment>& ladder = (*ladders)[g];
    ladder = ToSegments(LoadCosts(machine, mean_request_, slots, policies),
                        groups[g].size(), supply_);
    const FlowCost mean_cost =
        LoadArcCost(policies, machine, machine.used + mean_request_);
    for (const auto& [i, preference] : fitting) {
      const ClassKey& key = classes[i].key;
      // What this class weighs more or less than the mean, which the ladder
      // charges for every unit.
      const FlowCost size_cost =
          LoadArcCost(policies, machine, machine.used + key.request) -
          mean_cost;
      const FlowCost cost = preference * kPartsPerPoint + size_cost;
      const auto tasks = std::ssize(classes[i].tasks);
      const FlowUnits fit = TimesIn(free, key, tasks);
      candidates[i].Offer(
          {.group = g,
           .capacity = std::min<FlowUnits>(fit * groups[g].size(), tasks),
           .cost = cost,
           .first_unit = cost + ladder.front().cost});
    }
  }
  std::vector<std::vector<Candidate>> cheapest;
  for (Candidates& of_class : candidates) {
    cheapest.push_back(of_class.Take(groups));
  }
  return cheapest;
}

void BandNetwork::Candidates::Offer(const Candidate& candidate) {
  // Groups come in order, so that of equal ones the earlier is kept.
  if (candidate.first_unit >= cost_end_) return;
  candidates_.push_back(candidate);
  if (std::ssize(candidates_) < 2 * count_max_) return;
  const auto end = candidates_.begin() + count_max_;
  std::ranges::nth_element(candidates_, end - 1, IsCheaper);
  candidates_.erase(end, candidates_.end());
  cost_end_ = candidates_.back().first_unit;
}

std::vector<BandNetwork::Candidate> BandNetwork::Candidates::Take(
    std::span<const MachineGroup> groups) {
  std::ranges::sort(candidates_, IsCheaper);
  FlowUnits machines = 0;
  auto end = candidates_.begin();
  for (; end != candidates_.end() && machines < count_max_; ++end) {
    machines += groups[end->group].size();
  }
  candidates_.erase(end, candidates_.end());
  return std::move(candidates_);
}

void BandNetwork::AddPlacementArcs(
    std::span<const MachineGroup> groups,
    const std::vector<std::vector<Candidate>>& candidates,
    const std::vector<std::vector<CostSegment>>& ladders) {
  struct ClassCandidate {
    size_t class_index;
    Candidate candidate;
  };
  std::vector<std::vector<ClassCandidate>> of_groups(groups.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (const Candidate& candidate : candidates[i]) {
      of_groups[candidate.group].push_back({i, candidate});
    }
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    if (of_groups[g].empty()) continue;
    const NodeIndex node = problem_.AddNode(0);
    for (const auto& [class_index, candidate] : of_groups[g]) {
      const ArcIndex arc =
          problem_.AddArc(static_cast<NodeIndex>(class_index), node,
                          candidate.capacity, candidate.cost);
      placement_arcs_.push_back({class_index, groups_.size(), arc});
    }
    problem_.AddConvexArc(node, sink_, ladders[g]);
    std::vector<MachineId>& ids = groups_.emplace_back();
    for (const Machine* machine : groups[g].machines) {
      // More than there are tasks are not needed either.
      if (std::ssize(ids) == supply_) break;
      ids.push_back(machine->id);
    }
  }
}

void BandNetwork::AddWaitingArcs(std::span<const BandClass> classes,
                                 int64_t now_ms) {
  std::map<JobId, std::vector<std::pair<size_t, std::vector<const Task*>>>>
      by_job;
  for (size_t i = 0; i < classes.size(); ++i) {
    for (const Task* task : classes[i].tasks) {
      auto& of_job = by_job[task->job];
      if (of_job.empty() || of_job.back().first != i) of_job.push_back({i, {}});
      of_job.back().second.push_back(task);
    }
  }
  waiting_arcs_.resize(classes.size());
  for (const auto& [job, of_classes] : by_job) {
    const NodeIndex unscheduled = problem_.AddNode(0);
    FlowUnits capacity = 0;
    for (const auto& [class_index, tasks] : of_classes) {
      std::vector<FlowCost> costs;
      WaitingArc waiting;
      for (const Task* task : tasks) {
        costs.push_back(
            (kPlacementCostMax + WaitingCost(now_ms - task->submitted_ms)) *
            kPartsPerPoint);
        waiting.tasks.push_back(task->id);
      }
      waiting.arc = problem_.AddConvexArc(
          static_cast<NodeIndex>(class_index), unscheduled,
          ToSegments(std::move(costs), 1, supply_));
      waiting_arcs_[class_index].push_back(std::move(waiting));
      capacity += static_cast<FlowUnits>(tasks.size());
    }
    problem_.AddArc(unscheduled, sink_, capacity, 0);
  }
}

std::vector<Proposal> BandNetwork::Decode(const FlowSolution& solution) const {
  const auto flow = [&](ArcIndex arc) {
    return solution.flows[static_cast<size_t>(arc)];
  };
  std::vector<std::vector<TaskId>> placed(waiting_arcs_.size());
  for (size_t i = 0; i < waiting_arcs_.size(); ++i) {
    for (const WaitingArc& waiting : waiting_arcs_[i]) {
      const size_t count =
          waiting.tasks.size() - static_cast<size_t>(flow(waiting.arc));
      placed[i].insert(placed[i].end(), waiting.tasks.begin(),
                       waiting.tasks.begin() + static_cast<int64_t>(count));
    }
  }
  std::vector<Proposal> proposals;
  std::vector<size_t> next(placed.size(), 0);
  std::vector<size_t> next_machine(groups_.size(), 0);
  for (const PlacementArc& placement : placement_arcs_) {
    std::vector<TaskId>& tasks = placed[placement.class_index];
    const std::vector<MachineId>& machines = groups_[placement.group];
    for (FlowUnits unit = flow(placement.arc); unit > 0; --unit) {
      size_t& index = next[placement.class_index];
      CHECK(index < tasks.size()) << "a flow that is not conserved";
      const size_t turn = next_machine[placement.group]++ % machines.size();
      proposals.push_back(
          {placement.class_index, tasks[index++], machines[turn]});
    }
  }
  return proposals;
}

}  // namespace sluice
