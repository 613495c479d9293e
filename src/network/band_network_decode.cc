// Reads the solution of a network.

#include <glog/logging.h>

#include <algorithm>
#include <deque>
#include <map>
#include <ranges>
#include <span>
#include <utility>

#include "network/band_network.h"

namespace sluice {
namespace {

// Spreads the tasks of each job evenly, so that any consecutive tasks have few
// of one job.
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

std::vector<BandNetwork::Share> BandNetwork::SharesOf(
    const FlowSolution& solution) const {
  const auto flow = [&](ArcIndex arc) {
    return solution.flows[static_cast<size_t>(arc)];
  };
  std::vector<Share> shares;
  for (const auto& [class_index, group, arc] : placement_arcs_) {
    if (flow(arc) > 0) shares.push_back({class_index, group, flow(arc)});
  }
  if (hubs_.empty()) return shares;
  for (const Hub& hub : hubs_) {
    // Each class goes to all of the groups evenly, as far as they take more.
    std::deque<std::pair<size_t, FlowUnits>> open = hub.UnitsBy(solution);
    for (const auto& [class_index, arc] : hub.classes) {
      FlowUnits left = flow(arc);
      for (FlowUnits turns = 0, each = 1; left > 0; --turns) {
        CHECK(!open.empty()) << "a flow that is not conserved";
        if (turns == 0) {
          turns = std::ssize(open);
          each = std::max<FlowUnits>(left / turns, 1);
        }
        auto [group, room] = open.front();
        open.pop_front();
        const FlowUnits units = std::min({each, room, left});
        shares.push_back({class_index, group, units});
        left -= units;
        if (room > units) open.emplace_back(group, room - units);
      }
    }
  }
  std::ranges::stable_sort(shares, {}, [](const Share& share) {
    return std::pair(share.group, share.class_index);
  });
  return shares;
}

std::vector<std::vector<Newcomer>> BandNetwork::MixedTasks(
    std::span<const Share> shares) const {
  std::vector<FlowUnits> placed(tasks_.size(), 0);
  std::vector<int> groups(tasks_.size(), 0);
  for (const Share& share : shares) {
    placed[share.class_index] += share.units;
    ++groups[share.class_index];
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
    const Group& group = groups_[placement.group];
    of_node(problem_.arc(placement.arc).head) = {
        .kind = Kind::kMachines,
        .machine = machines_[group.first],
        // Machines that are only a choice are not counted.
        .machine_count =
            std::min(group.machines, static_cast<size_t>(supply_))};
  }
  for (const Hub& hub : hubs_) {
    NodeMeaning& meaning = of_node(hub.node);
    meaning.kind = Kind::kMachines;
    meaning.machine = machines_[groups_[hub.members.front()].first];
    for (const size_t group : hub.members) {
      meaning.machine_count =
          std::min(meaning.machine_count + groups_[group].machines,
                   static_cast<size_t>(supply_));
    }
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
  const std::vector<Share> shares = SharesOf(solution);
  std::vector<Proposal> proposals;
  std::vector<size_t> next(tasks_.size(), 0);
  std::vector<size_t> next_unit(groups_.size(), 0);
  std::vector<MachineId> all_machines = machines_;
  const std::vector<std::vector<Newcomer>> mixed =
      mixes_jobs ? MixedTasks(shares) : std::vector<std::vector<Newcomer>>();
  for (const Share& placement : shares) {
    const std::vector<Newcomer>& tasks =
        (mixes_jobs ? mixed : tasks_)[placement.class_index];
    const auto& [first, machine_count, tasks_in_a_row, is_open] =
        groups_[placement.group];
    const std::span<MachineId> machines =
        std::span(all_machines).subspan(first, machine_count);
    const auto in_a_row = static_cast<size_t>(tasks_in_a_row);
    for (FlowUnits left = placement.units; left > 0; --left) {
      size_t& index = next[placement.class_index];
      CHECK(index < tasks.size()) << "a flow that is not conserved";
      const auto [task, job] = tasks[index++];
      const size_t unit = next_unit[placement.group]++;
      const size_t turn = unit / in_a_row % machines.size();
      const bool is_first_turn = unit / in_a_row < machines.size();
      const bool is_free = unit % in_a_row == 0 && (is_first_turn || is_open);
      const size_t choices = is_free ? kSpareMachines : 1;
      const size_t chosen = choose(
          job,
          machines.subspan(turn, std::min(choices, machines.size() - turn)));
      std::swap(machines[turn], machines[turn + chosen]);
      proposals.push_back({placement.class_index, task, machines[turn]});
    }
  }
  return proposals;
}

}  // namespace sluice
