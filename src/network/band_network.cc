#include "network/band_network.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>

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

// Costs of single units as segments of equal ones, cheapest first.
std::vector<CostSegment> ToSegments(std::vector<FlowCost>* costs) {
  std::ranges::sort(*costs);
  std::vector<CostSegment> segments;
  for (const FlowCost cost : *costs) {
    if (!segments.empty() && segments.back().cost == cost) {
      ++segments.back().width;
    } else {
      segments.push_back({1, cost});
    }
  }
  return segments;
}

}  // namespace

BandNetwork::BandNetwork(const ClusterState& state, const PolicySet& policies,
                         const ConstraintSet& constraints,
                         std::span<const BandClass> classes, int64_t now_ms) {
  for (const BandClass& band_class : classes) {
    const auto count = static_cast<FlowUnits>(band_class.tasks.size());
    problem_.AddNode(count);
    supply_ += count;
  }
  sink_ = problem_.AddNode(-supply_);
  mean_request_ = MeanRequest(classes, supply_);
  for (const auto& [id, machine] : state.machines()) {
    if (machine->IsUsable()) {
      AddMachine(*machine, policies, constraints, classes);
    }
  }
  AddWaitingArcs(classes, now_ms);
}

void BandNetwork::AddMachine(const Machine& machine, const PolicySet& policies,
                             const ConstraintSet& constraints,
                             std::span<const BandClass> classes) {
  const Resources free = machine.Free();
  const size_t first_arc = placement_arcs_.size();
  NodeIndex node = 0;
  Resources largest;
  for (size_t i = 0; i < classes.size(); ++i) {
    const ClassKey& key = classes[i].key;
    if (classes[i].tasks.empty() || !constraints.Allows(key, machine)) continue;
    if (placement_arcs_.size() == first_arc) node = problem_.AddNode(0);
    largest.MaxWith(key.request);
    // What this class weighs more or less than the mean, which the load cost
    // below charges for every unit.
    const Cost size_cost =
        policies.LoadCost(machine, machine.used + key.request) -
        policies.LoadCost(machine, machine.used + mean_request_);
    const FlowUnits fit = key.request.TimesIn(
        free, static_cast<FlowUnits>(classes[i].tasks.size()));
    placement_arcs_.push_back(
        {i, machine.id,
         problem_.AddArc(static_cast<NodeIndex>(i), node, fit,
                         policies.PreferenceCost(key, machine) + size_cost)});
  }
  if (placement_arcs_.size() == first_arc) return;

  const FlowUnits slots =
      std::max<FlowUnits>(largest.TimesIn(free, supply_), 1);
  std::vector<FlowCost> costs(static_cast<size_t>(slots));
  Resources load = machine.used;
  for (FlowCost& cost : costs) {
    cost = policies.LoadCost(machine, load);
    load += mean_request_;
  }
  problem_.AddConvexArc(node, sink_, ToSegments(&costs));
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
        costs.push_back(WaitingCost(now_ms - task->submitted_ms));
        waiting.tasks.push_back(task->id);
      }
      waiting.arc = problem_.AddConvexArc(static_cast<NodeIndex>(class_index),
                                          unscheduled, ToSegments(&costs));
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
  for (const PlacementArc& placement : placement_arcs_) {
    std::vector<TaskId>& tasks = placed[placement.class_index];
    for (FlowUnits unit = flow(placement.arc); unit > 0; --unit) {
      size_t& index = next[placement.class_index];
      CHECK(index < tasks.size()) << "a flow that is not conserved";
      proposals.push_back(
          {placement.class_index, tasks[index++], placement.machine});
    }
  }
  return proposals;
}

}  // namespace sluice
