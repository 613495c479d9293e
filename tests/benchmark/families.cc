#include "benchmark/families.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice {
namespace {

constexpr FlowCost kPreferenceCostMax = 375;

FamilyNetwork MakeCluster(const FamilySize& size, LadderForm form) {
  FamilyNetwork network;
  network.form = form;
  for (int i = 0; i < size.machines; ++i) {
    network.machines.push_back(network.problem.AddNode(0));
  }
  network.sink = network.problem.AddNode(-size.tasks);
  return network;
}

// Slots for `tasks / load` tasks spread evenly, all free of cost.
void AddSlots(const FamilySize& size, double load, FamilyNetwork* network) {
  const auto slots = static_cast<int>(size.tasks / load);
  for (int i = 0; i < size.machines; ++i) {
    const int here =
        slots / size.machines + (i < slots % size.machines ? 1 : 0);
    network->problem.AddArc(network->machines[static_cast<size_t>(i)],
                            network->sink, here, 0);
  }
}

// Returns the first of the arcs that draw the ladder.
ArcIndex AddLadder(NodeIndex tail, NodeIndex head,
                   std::span<const CostSegment> segments,
                   FamilyNetwork* network) {
  FlowProblem& problem = network->problem;
  if (network->form == LadderForm::kConvex) {
    return problem.AddConvexArc(tail, head, segments);
  }
  const ArcIndex first = problem.arc_count();
  for (const auto& [width, cost] : segments) {
    problem.AddArc(tail, head, width, cost);
  }
  return first;
}

// From each class a ladder of four units to each of some random machines.
void AddClassLadders(const std::vector<NodeIndex>& classes, Rng* rng,
                     FamilyNetwork* network) {
  const size_t machines = network->machines.size();
  const size_t fan_out =
      std::min(machines, std::max<size_t>(50, 20 * machines / classes.size()));
  std::vector<FlowCost> own_cost(machines);
  for (FlowCost& cost : own_cost) cost = rng->Between(0, 250);
  std::vector<size_t> order(machines);
  for (size_t i = 0; i < machines; ++i) order[i] = i;
  for (const NodeIndex from : classes) {
    rng->Shuffle(order);
    for (size_t i = 0; i < fan_out; ++i) {
      FlowCost cost = own_cost[order[i]] + rng->Between(0, 750);
      std::vector<CostSegment> segments;
      for (int step = 0; step < 4; ++step) {
        segments.push_back({.width = 1, .cost = cost});
        cost += rng->Between(10, 50);
      }
      const ArcIndex first =
          AddLadder(from, network->machines[order[i]], segments, network);
      network->ladders.push_back({first, std::move(segments)});
    }
  }
}

// The node of one more task of `job`, with its arcs.
void AddTaskNode(int job_index, Rng* rng, FamilyNetwork* network,
                 FamilyNetwork::Task* task) {
  FlowProblem& problem = network->problem;
  const FamilyNetwork::Job& job = network->jobs[static_cast<size_t>(job_index)];
  task->job = job_index;
  task->node = problem.AddNode(1);
  task->arcs = {
      problem.AddArc(task->node, job.task_class, 1, 0),
      problem.AddArc(task->node, job.unscheduled, 1, job.waiting_cost)};
  for (int i = 0; i < network->preference_count; ++i) {
    const size_t machine = rng->Below(network->machines.size());
    task->arcs.push_back(problem.AddArc(task->node, network->machines[machine],
                                        1,
                                        rng->Between(0, kPreferenceCostMax)));
  }
}

// Makes the arcs of an unscheduled node as wide as its job.
void WidenUnscheduled(const FamilyNetwork::Job& job, FamilyNetwork* network) {
  network->problem.SetArc(job.to_sink, job.task_count, 0);
  if (network->has_task_nodes) return;
  network->problem.SetArc(job.from_class, job.task_count, job.waiting_cost);
}

// Nodes and arcs of `job`, whose class, cost and tasks are given, but for its
// tasks' own.
void AddJob(FamilyNetwork::Job job, FamilyNetwork* network) {
  FlowProblem& problem = network->problem;
  job.unscheduled = problem.AddNode(0);
  if (!network->has_task_nodes) {
    problem.SetSupply(job.task_class,
                      problem.supply(job.task_class) + job.task_count);
    job.from_class = problem.AddArc(job.task_class, job.unscheduled,
                                    job.task_count, job.waiting_cost);
  }
  job.to_sink =
      problem.AddArc(job.unscheduled, network->sink, job.task_count, 0);
  network->jobs.push_back(job);
}

std::vector<NodeIndex> AddClasses(int count, FlowProblem* problem) {
  std::vector<NodeIndex> classes;
  for (int i = 0; i < count; ++i) classes.push_back(problem->AddNode(0));
  return classes;
}

struct TaskShape {
  bool has_task_nodes = false;
  int class_count = 0;
  int preference_count = 0;
  double load = 1;
};

// Jobs of a hundred tasks, each of one class; a task may stay with its job's
// unscheduled node.
FamilyNetwork MakeTasks(const FamilySize& size, LadderForm form,
                        const TaskShape& shape, uint64_t seed) {
  Rng rng(seed);
  FamilyNetwork network = MakeCluster(size, form);
  network.has_task_nodes = shape.has_task_nodes;
  network.preference_count = shape.preference_count;
  AddSlots(size, shape.load, &network);
  const std::vector<NodeIndex> classes =
      AddClasses(shape.class_count, &network.problem);
  const int job_count = std::max(shape.class_count, size.tasks / 100);
  for (int i = 0; i < job_count; ++i) {
    AddJob({.task_class = classes[static_cast<size_t>(i % shape.class_count)],
            .waiting_cost = rng.Between(2500, 5000),
            .task_count = (size.tasks + i) / job_count},
           &network);
    for (int left = network.jobs.back().task_count; left > 0; --left) {
      FamilyNetwork::Task& task = network.tasks.emplace_back();
      task.job = i;
      if (shape.has_task_nodes) AddTaskNode(i, &rng, &network, &task);
    }
  }
  AddClassLadders(classes, &rng, &network);
  return network;
}

// What a round builds: plain arcs from each class to every machine (a
// preference and the task's own share), one load ladder a machine, waiting
// dearer than any placement.
FamilyNetwork MakeRound(const FamilySize& size, LadderForm form,
                        int class_count, double load, uint64_t seed) {
  Rng rng(seed);
  FamilyNetwork network = MakeCluster(size, form);
  const int slots = static_cast<int>(size.tasks / load) / size.machines;
  for (const NodeIndex machine : network.machines) {
    std::vector<CostSegment> ladder;
    const FlowCost step = rng.Between(5, 60);
    FlowCost cost = rng.Between(0, 500);
    const auto length = rng.Between(slots / 2, slots + slots / 2);
    for (int64_t i = 0; i < length; ++i) {
      ladder.push_back({.width = 1, .cost = cost});
      cost += step;
    }
    AddLadder(machine, network.sink, ladder, &network);
  }
  for (int i = 0; i < class_count; ++i) {
    const NodeIndex from = network.problem.AddNode(0);
    AddJob({.task_class = from,
            .waiting_cost = rng.Between(1000000, 5000000),
            .task_count = (size.tasks + i) / class_count},
           &network);
    for (int left = network.jobs.back().task_count; left > 0; --left) {
      network.tasks.emplace_back().job = i;
    }
    for (const NodeIndex machine : network.machines) {
      const CostSegment whole = {.width = rng.Between(1, slots),
                                 .cost = rng.Between(0, 1000)};
      const ArcIndex arc =
          network.problem.AddArc(from, machine, whole.width, whole.cost);
      network.ladders.push_back({arc, {whole}});
    }
  }
  return network;
}

// A tenth of the nodes sources, a tenth sinks; a dear ring keeps it feasible.
FamilyNetwork MakeRandom(int node_count, int degree, uint64_t seed) {
  Rng rng(seed);
  FamilyNetwork network;
  FlowProblem& problem = network.problem;
  for (int i = 0; i < node_count; ++i) problem.AddNode(0);
  const auto random_node = [&rng, node_count] {
    return static_cast<NodeIndex>(rng.Below(static_cast<uint64_t>(node_count)));
  };
  FlowUnits total = 0;
  for (int i = 0; i < node_count / 10; ++i) {
    const FlowUnits units = rng.Between(1, 1000);
    const NodeIndex from = random_node();
    const NodeIndex to = random_node();
    problem.SetSupply(from, problem.supply(from) + units);
    problem.SetSupply(to, problem.supply(to) - units);
    total += units;
  }
  for (int i = 0; i < node_count; ++i) {
    problem.AddArc(i, (i + 1) % node_count, total, 10000);
  }
  for (int i = 0; i < node_count * (degree - 1); ++i) {
    problem.AddArc(random_node(), random_node(), rng.Between(1, 1000),
                   rng.Between(0, 10000));
  }
  return network;
}

// The shapes of docs/quality.md; one seed a family.  Load is tasks over
// slots: 0.9 unless the name says more.  At 1.0 the last task has one slot left
// to find.
template <bool has_task_nodes, int class_count, int preference_count,
          int load_percent, uint64_t seed>
FamilyNetwork Make(const FamilySize& size, LadderForm form) {
  return MakeTasks(size, form,
                   {.has_task_nodes = has_task_nodes,
                    .class_count = class_count,
                    .preference_count = preference_count,
                    .load = load_percent / 100.0},
                   seed);
}

constexpr Family kFamilies[] = {
    {"A_prefs_c20", Make<true, 20, 3, 90, 3>},
    {"B_prefs_c200", Make<true, 200, 3, 90, 4>},
    {"B_prefs_c200_load1.0", Make<true, 200, 3, 100, 4>},
    {"C_prefs_c2000", Make<true, 2000, 3, 90, 9>},
    {"D_prefs_c200_load1.1", Make<true, 200, 3, 110, 5>},
    {"F_identical_c200", Make<true, 200, 0, 90, 6>},
    {"F_identical_c200_load1.0", Make<true, 200, 0, 100, 6>},
    {"G_identical_c200_load1.1", Make<true, 200, 0, 110, 7>},
    {"F'_grouped_c200", Make<false, 200, 0, 90, 6>},
    {"G'_grouped_c200_load1.1", Make<false, 200, 0, 110, 7>},
    {"round_c20",
     [](const FamilySize& size, LadderForm form) {
       return MakeRound(size, form, 20, 1.0, 1);
     }},
    {"round_c20_load1.3",
     [](const FamilySize& size, LadderForm form) {
       return MakeRound(size, form, 20, 1.3, 2);
     }},
    {"random_d16",
     [](const FamilySize& size, LadderForm) {
       return MakeRandom(size.machines / 2, 16, 8);
     }},
    {"random_d32",
     [](const FamilySize& size, LadderForm) {
       return MakeRandom(2 * size.machines, 32, 10);
     }},
};

void ReplaceTask(Rng* rng, FamilyNetwork* network) {
  FlowProblem& problem = network->problem;
  FamilyNetwork::Task& task = network->tasks[rng->Below(network->tasks.size())];
  FamilyNetwork::Job& old_job = network->jobs[static_cast<size_t>(task.job)];
  const auto job_index = static_cast<int>(rng->Below(network->jobs.size()));
  FamilyNetwork::Job& job = network->jobs[static_cast<size_t>(job_index)];
  if (network->has_task_nodes) {
    for (const ArcIndex arc : task.arcs) problem.RemoveArc(arc);
    problem.RemoveNode(task.node);
    AddTaskNode(job_index, rng, network, &task);
  } else {
    problem.SetSupply(old_job.task_class,
                      problem.supply(old_job.task_class) - 1);
    problem.SetSupply(job.task_class, problem.supply(job.task_class) + 1);
    task.job = job_index;
  }
  --old_job.task_count;
  ++job.task_count;
  WidenUnscheduled(old_job, network);
  WidenUnscheduled(job, network);
}

void RecostLadder(Rng* rng, FamilyNetwork* network) {
  auto& [first, segments] =
      network->ladders[rng->Below(network->ladders.size())];
  const int64_t permille = 1000 + rng->Between(-100, 100);
  for (CostSegment& segment : segments) {
    segment.cost = segment.cost * permille / 1000;
  }
  if (network->form == LadderForm::kConvex) {
    network->problem.SetConvexArc(first, segments);
    return;
  }
  ArcIndex arc = first;
  for (const auto& [width, cost] : segments) {
    network->problem.SetArc(arc++, width, cost);
  }
}

}  // namespace

std::span<const Family> Families() { return kFamilies; }

void ChangeFamilyNetwork(int tasks_per, int ladders_per, Rng* rng,
                         FamilyNetwork* network) {
  const auto share = [](size_t count, int per) {
    return std::max<size_t>(1, count / static_cast<size_t>(per));
  };
  for (size_t i = share(network->tasks.size(), tasks_per); i > 0; --i) {
    ReplaceTask(rng, network);
  }
  for (size_t i = share(network->ladders.size(), ladders_per); i > 0; --i) {
    RecostLadder(rng, network);
  }
}

}  // namespace sluice
