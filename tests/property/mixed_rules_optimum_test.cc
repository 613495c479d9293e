// Groups of jobs, caps by zone, and alternatives, mixed, on tiny clusters: the
// round against the best of all legal assignments, found by trying every one.
// Tasks are stated as clients state them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "integration/messages.h"
#include "rpc/convert.h"
#include "util/cluster_builder.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

struct Machine {
  int64_t slots = 0;
  size_t zone = 0;
  bool has_ssd = false;
};

struct Job {
  int64_t at_most = 0;            // Of its tasks in each zone; 0: any number.
  std::optional<size_t> group;    // That it is of.
  bool has_alternatives = false;  // One of its tasks runs.
};

struct TaskPlan {
  size_t job = 0;
  int64_t slots = 1;
  int32_t wish = 0;  // The weight of a machine with an SSD.
};

struct Instance {
  std::vector<Machine> machines;
  std::vector<Job> jobs;
  std::vector<TaskPlan> tasks;
  std::vector<int64_t> minimums;  // Of the groups.
};

std::ostream& operator<<(std::ostream& out, const Instance& instance) {
  for (const Machine& machine : instance.machines) {
    out << machine.slots << " slots in zone " << machine.zone
        << (machine.has_ssd ? " with SSD; " : "; ");
  }
  for (const TaskPlan& task : instance.tasks) {
    const Job& job = instance.jobs[task.job];
    out << "\n  task of job " << task.job << ", " << task.slots
        << " slots, wish " << task.wish << ", at most " << job.at_most;
    if (job.group.has_value()) {
      out << ", group " << *job.group << " of at least "
          << instance.minimums[*job.group];
    }
    if (job.has_alternatives) out << ", alternative";
  }
  return out;
}

// Where each task is; nothing: it waits.
using Assignment = std::vector<std::optional<size_t>>;

struct Outcome {
  int64_t placed = 0;
  int64_t missed = 0;  // Weight of wishes.

  bool operator==(const Outcome&) const = default;
  bool IsBetterThan(const Outcome& other) const {
    return placed != other.placed ? placed > other.placed
                                  : missed < other.missed;
  }
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.placed << " placed, " << outcome.missed << " missed";
}

Outcome OutcomeOf(const Instance& instance, const Assignment& assignment) {
  Outcome outcome;
  for (size_t t = 0; t < assignment.size(); ++t) {
    if (!assignment[t].has_value()) continue;
    ++outcome.placed;
    if (!instance.machines[*assignment[t]].has_ssd) {
      outcome.missed += instance.tasks[t].wish;
    }
  }
  return outcome;
}

bool IsLegal(const Instance& instance, const Assignment& assignment) {
  std::vector<int64_t> used(instance.machines.size(), 0);
  std::map<std::pair<size_t, size_t>, int64_t> in_zone;
  std::vector<int64_t> of_job(instance.jobs.size(), 0);
  std::vector<int64_t> of_group(instance.minimums.size(), 0);
  for (size_t t = 0; t < assignment.size(); ++t) {
    if (!assignment[t].has_value()) continue;
    const TaskPlan& task = instance.tasks[t];
    used[*assignment[t]] += task.slots;
    ++in_zone[{task.job, instance.machines[*assignment[t]].zone}];
    ++of_job[task.job];
    const Job& job = instance.jobs[task.job];
    if (job.group.has_value()) ++of_group[*job.group];
  }
  for (size_t m = 0; m < used.size(); ++m) {
    if (used[m] > instance.machines[m].slots) return false;
  }
  for (const auto& [at, count] : in_zone) {
    const int64_t at_most = instance.jobs[at.first].at_most;
    if (at_most > 0 && count > at_most) return false;
  }
  for (size_t j = 0; j < of_job.size(); ++j) {
    if (instance.jobs[j].has_alternatives && of_job[j] > 1) return false;
  }
  for (size_t g = 0; g < of_group.size(); ++g) {
    if (of_group[g] > 0 && of_group[g] < instance.minimums[g]) return false;
  }
  return true;
}

Outcome Best(const Instance& instance) {
  Outcome best;
  Assignment assignment(instance.tasks.size());
  std::vector<int64_t> free;
  for (const Machine& machine : instance.machines) {
    free.push_back(machine.slots);
  }
  const std::function<void(size_t)> assign = [&](size_t t) {
    if (t == assignment.size()) {
      const Outcome outcome = OutcomeOf(instance, assignment);
      if (outcome.IsBetterThan(best) && IsLegal(instance, assignment)) {
        best = outcome;
      }
      return;
    }
    for (size_t m = 0; m < free.size(); ++m) {
      if (instance.tasks[t].slots > free[m]) continue;
      free[m] -= instance.tasks[t].slots;
      assignment[t] = m;
      assign(t + 1);
      free[m] += instance.tasks[t].slots;
    }
    assignment[t].reset();
    assign(t + 1);
  };
  assign(0);
  return best;
}

Instance Draw(uint64_t seed) {
  Rng rng(seed);
  Instance instance;
  for (int64_t i = rng.Between(2, 4); i > 0; --i) {
    instance.machines.push_back(
        {rng.Between(1, 4), rng.Below(2), rng.Chance(1, 3)});
  }
  const auto add_job = [&](Job job, int64_t tasks) {
    if (rng.Chance(1, 2)) job.at_most = rng.Between(1, 2);
    const int64_t slots = rng.Between(1, 3);
    const auto wish = static_cast<int32_t>(rng.Chance(1, 2) ? 10 : 0);
    for (int64_t i = 0; i < tasks; ++i) {
      // The tasks of a job are alike, but for alternatives.
      const bool differs = job.has_alternatives;
      instance.tasks.push_back(
          {instance.jobs.size(), differs ? rng.Between(1, 3) : slots,
           differs ? static_cast<int32_t>(rng.Below(2) * 10) : wish});
    }
    instance.jobs.push_back(job);
  };
  if (rng.Chance(3, 4)) {
    const size_t before = instance.tasks.size();
    for (int64_t i = 0; i < 2; ++i) {
      Job job;
      job.group = instance.minimums.size();
      add_job(job, rng.Between(1, 2));
    }
    const auto size = static_cast<int64_t>(instance.tasks.size() - before);
    instance.minimums.push_back(rng.Between(2, size));
  }
  if (rng.Chance(3, 4)) {
    Job job;
    job.has_alternatives = true;
    add_job(job, 2);
  }
  add_job({}, rng.Between(1, 2));
  return instance;
}

firmament::TaskDescription MessageFor(const Instance& instance, size_t t) {
  const TaskPlan& plan = instance.tasks[t];
  const Job& job = instance.jobs[plan.job];
  TaskFields fields = {.cpu = static_cast<float>(100 * plan.slots),
                       .job = StrCat("job-", plan.job)};
  if (plan.wish > 0) {
    fields.preferred = {{plan.wish, TermMessage({{"disk", "In", {"ssd"}}})}};
  }
  if (job.group.has_value()) {
    fields.gang_minimum = static_cast<uint64_t>(instance.minimums[*job.group]);
  }
  firmament::TaskDescription message = TaskMessage(t + 1, fields);
  firmament::TaskDescriptor* task = message.mutable_task_descriptor();
  if (job.group.has_value()) {
    message.mutable_job_descriptor()->set_gang_group(
        StrCat("group-", *job.group));
  }
  if (job.at_most > 0) {
    firmament::DomainMaximum* maximum = task->add_domain_maximums();
    maximum->set_topologykey("zone");
    maximum->set_atmost(static_cast<int32_t>(job.at_most));
  }
  if (job.has_alternatives) {
    task->mutable_rules()->add_alternatives()->set_name("way");
  }
  return message;
}

// What a round makes of it.
Assignment RunRound(const Instance& instance) {
  TestScheduler cluster(RoundOptions(), "node_affinity");
  for (size_t m = 0; m < instance.machines.size(); ++m) {
    const Machine& machine = instance.machines[m];
    LabelPairs labels = {{"zone", StrCat(machine.zone)}};
    if (machine.has_ssd) labels.insert(labels.begin(), {"disk", "ssd"});
    cluster.Apply(
        Added(StrCat("m", m), {.cpu = 100 * machine.slots, .labels = labels}));
  }
  for (size_t t = 0; t < instance.tasks.size(); ++t) {
    Faults faults;
    cluster.Apply(*ToSubmitTask(MessageFor(instance, t), {}, &faults));
    EXPECT_TRUE(faults.empty()) << faults.Text();
  }
  cluster.Round();
  EXPECT_EQ(FindContradiction(cluster.state()), "");
  Assignment assignment;
  for (size_t t = 0; t < instance.tasks.size(); ++t) {
    const std::string machine = cluster.MachineOf(t + 1);
    assignment.push_back(machine.empty()
                             ? std::nullopt
                             : std::optional(std::stoul(machine.substr(1))));
  }
  return assignment;
}

TEST(MixedRulesOptimum, PlacesTheMostTasksAndMissesTheLeastWishes) {
  const uint64_t seeds = SeedCount(3000);
  uint64_t short_of_tasks = 0;
  uint64_t short_of_wishes = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const Instance instance = Draw(seed);
    const Assignment assignment = RunRound(instance);
    ASSERT_TRUE(IsLegal(instance, assignment))
        << "seed " << seed << ": " << instance;
    const Outcome round = OutcomeOf(instance, assignment);
    const Outcome best = Best(instance);
    if (round == best) continue;
    if (round.placed < best.placed) {
      ++short_of_tasks;
    } else {
      ++short_of_wishes;
    }
    EXPECT_EQ(round, best) << "seed " << seed << ": " << instance;
  }
  RecordProperty("short_of_tasks", static_cast<int>(short_of_tasks));
  RecordProperty("short_of_wishes", static_cast<int>(short_of_wishes));
}

}  // namespace
}  // namespace sluice
