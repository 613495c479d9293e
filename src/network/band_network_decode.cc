// What is read from a network that was drawn.

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <span>
#include <utility>

#include "network/band_network.h"

namespace sluice {
namespace {

// Spreads the tasks of each job evenly over all of them, so that whoever takes
// some in a row gets few of any.
void MixJobs(std::span<Newcomer> tasks) {
  std::map<JobId, int64_t> sizes;
  for (const Newcomer& one : tasks) ++sizes[one.job];
  if (sizes.size() < 2) return;
  constexpr int64_t kWhole = 1 << 30;
  std::map<JobId, int64_t> counts;
  std::vector<std::pair<int64_t, Newcomer>> mixed;
  mixed.reserve(tasks.size());
  for (const Newcomer& one : tasks) {
    const int64_t before = counts[one.job]++;
    mixed.emplace_back((2 * before + 1) * kWhole / (2 * sizes[one.job]), one);
  }
  std::ranges::stable_sort(mixed, {}, &std::pair<int64_t, Newcomer>::first);
  std::ranges::copy(mixed | std::views::values, tasks.begin());
}

}  // namespace

std::vector<std::vector<Newcomer>> BandNetwork::MixedTasks(
    const FlowSolution& solution) const {
  std::vector<FlowUnits> placed(tasks_.size(), 0);
  std::vector<int> groups(tasks_.size(), 0);
  for (const PlacementArc& placement : placement_arcs_) {
    const FlowUnits flow = solution.flows[static_cast<size_t>(placement.arc)];
    placed[placement.class_index] += flow;
    groups[placement.class_index] += flow > 0 ? 1 : 0;
  }
  std::vector<std::vector<Newcomer>> tasks = tasks_;
  for (size_t c = 0; c < tasks.size(); ++c) {
    if (groups[c] < 2) continue;
    const auto count = static_cast<size_t>(
        std::min<FlowUnits>(placed[c], std::ssize(tasks[c])));
    MixJobs(std::span(tasks[c]).first(count));
  }
  return tasks;
}

std::vector<NodeMeaning> BandNetwork::Meanings() const {
  using Kind = NodeMeaning::Kind;
  std::vector<NodeMeaning> meanings(static_cast<size_t>(problem_.node_count()));
  const auto of_node = [&](NodeIndex node) -> NodeMeaning& {
    return meanings[static_cast<size_t>(node)];
  };
  for (size_t i = waiting_arcs_.size(); i < outlets_.size(); ++i) {
    of_node(outlets_[i].node) = {.kind = Kind::kDomain,
                                 .class_index = outlets_[i].class_index};
  }
  for (const PlacementArc& placement : placement_arcs_) {
    const std::vector<MachineId>& machines = groups_[placement.group].machines;
    of_node(problem_.arc(placement.arc).head) = {
        .kind = Kind::kMachines,
        .machine = machines.front(),
        // Those to choose from are none that it needs.
        .machine_count =
            std::min(machines.size(), static_cast<size_t>(supply_))};
  }
  for (const auto& [index, aggregate] : aggregate_nodes_) {
    of_node(aggregate.node) = {.kind = Kind::kAggregate,
                               .machine = aggregate.machine};
  }
  for (size_t i = 0; i < waiting_arcs_.size(); ++i) {
    meanings[i] = {.kind = Kind::kClass, .class_index = i};
    for (const WaitingArc& waiting : waiting_arcs_[i]) {
      of_node(problem_.arc(waiting.arc).head) = {.kind = Kind::kUnscheduled,
                                                 .job = waiting.job};
    }
  }
  of_node(sink_) = {.kind = Kind::kSink};
  return meanings;
}

std::vector<Proposal> BandNetwork::Decode(const FlowSolution& solution,
                                          Choose choose,
                                          bool mixes_jobs) const {
  const auto flow = [&](ArcIndex arc) {
    return solution.flows[static_cast<size_t>(arc)];
  };
  std::vector<Proposal> proposals;
  std::vector<size_t> next(tasks_.size(), 0);
  std::vector<size_t> next_unit(groups_.size(), 0);
  std::vector<Group> groups = groups_;
  const std::vector<std::vector<Newcomer>> mixed =
      mixes_jobs ? MixedTasks(solution) : std::vector<std::vector<Newcomer>>();
  for (const PlacementArc& placement : placement_arcs_) {
    const std::vector<Newcomer>& tasks =
        (mixes_jobs ? mixed : tasks_)[placement.class_index];
    auto& [machines, tasks_in_a_row, is_open] = groups[placement.group];
    const auto in_a_row = static_cast<size_t>(tasks_in_a_row);
    for (FlowUnits left = flow(placement.arc); left > 0; --left) {
      size_t& index = next[placement.class_index];
      CHECK(index < tasks.size()) << "a flow that is not conserved";
      const auto [task, job] = tasks[index++];
      const size_t unit = next_unit[placement.group]++;
      const size_t turn = unit / in_a_row % machines.size();
      const bool is_first_turn = unit / in_a_row < machines.size();
      const bool is_free = unit % in_a_row == 0 && (is_first_turn || is_open);
      const size_t choices = is_free ? kSpareMachines : 1;
      const size_t chosen =
          choose(job, std::span(machines).subspan(
                          turn, std::min(choices, machines.size() - turn)));
      std::swap(machines[turn], machines[turn + chosen]);
      proposals.push_back({placement.class_index, task, machines[turn]});
    }
  }
  return proposals;
}

}  // namespace sluice
