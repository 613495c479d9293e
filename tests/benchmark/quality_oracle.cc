#include "benchmark/quality_oracle.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/strings.h"

namespace sluice {
namespace {

// Of each two tasks that share a zone, times the logarithm of the number of
// zones and two: what the topology_spread policy charges, in weights.
constexpr double kWeightOfShared = 20;

// How many tasks of a class run in each place.
struct Counts {
  std::map<std::string, int64_t> by_host;  // By uuid, where there is any.
  std::map<std::string, int64_t> by_zone;  // Of all zones that it selects.
};

bool HasTwo(const std::map<std::string, int64_t>& counts) {
  return std::ranges::any_of(counts,
                             [](const auto& it) { return it.second > 1; });
}

std::string WhyBroken(PeerRule rule, const Counts& own, const Counts& other) {
  const auto meets_other = [&](const auto& it) {
    return other.by_host.contains(it.first);
  };
  const auto count = [](const auto& it) { return it.second; };
  switch (rule) {
    case PeerRule::kApartByHost:
      return HasTwo(own.by_host) ? "two on one host" : "";
    case PeerRule::kApartByZone:
      return HasTwo(own.by_zone) ? "two in one zone" : "";
    case PeerRule::kSpreadByZone: {
      if (own.by_zone.empty()) return "";
      const auto [least, most] =
          std::ranges::minmax_element(own.by_zone, {}, count);
      return count(*most) - count(*least) > 1 ? "uneven over the zones" : "";
    }
    case PeerRule::kKeepsAway:
      return std::ranges::any_of(own.by_host, meets_other) ? "not kept away"
                                                           : "";
    case PeerRule::kFollows:
      return std::ranges::all_of(own.by_host, meets_other) ? "" : "alone";
    case PeerRule::kWishesSpread:
    case PeerRule::kWishesNear:
      return "";
  }
  return "no such rule";
}

// None of any class, in each zone that it selects.
std::vector<Counts> NoCounts(const QualityInput& input) {
  std::vector<Counts> counts(input.classes.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    for (const QualityMachine& machine : input.machines) {
      if (machine.has_ssd || !input.classes[i].needs_ssd) {
        counts[i].by_zone[machine.zone] = 0;
      }
    }
  }
  return counts;
}

}  // namespace

double CountMissedWishes(const QualityInput& input, const ClusterState& state) {
  std::map<std::string, std::string> zones;  // By uuid.
  for (const QualityMachine& it : input.machines) zones[it.uuid] = it.zone;
  std::vector<Counts> counts = NoCounts(input);
  std::vector<int64_t> placed(input.classes.size(), 0);
  for (size_t i = 0; i < input.classes_of_tasks.size(); ++i) {
    const size_t drawn = input.classes_of_tasks[i];
    const Task& task = *state.FindTask(TaskId(i + 1));
    if (task.state != TaskState::kRunning) continue;
    ++counts[drawn].by_zone[zones[state.FindMachine(task.machine)->uuid]];
    ++placed[drawn];
  }
  double missed = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const QualityClass& it = input.classes[i];
    const auto domains = static_cast<double>(counts[i].by_zone.size());
    for (const auto& [zone, count] : counts[i].by_zone) {
      if (it.rule == PeerRule::kWishesSpread) {
        missed += kWeightOfShared * std::log(domains + 2) *
                  static_cast<double>(count * (count - 1) / 2);
      } else if (it.rule == PeerRule::kWishesNear) {
        const auto there = counts[it.other].by_zone.find(zone);
        const int64_t near =
            there == counts[it.other].by_zone.end() ? 0 : there->second;
        missed += static_cast<double>(kWeightOfNear * count *
                                      (placed[it.other] - near));
      }
    }
  }
  return missed;
}

std::string WhyIllegal(const QualityInput& input, const ClusterState& state) {
  std::vector<Counts> counts = NoCounts(input);
  std::map<std::string, const QualityMachine*> machines;  // By uuid.
  for (const QualityMachine& it : input.machines) machines[it.uuid] = &it;
  // By job.  Who has completed has done its part.
  std::map<std::string, int64_t> run_of_gang;
  std::map<std::string, int64_t> completed_of_gang;
  for (size_t i = 0; i < input.classes_of_tasks.size(); ++i) {
    const size_t drawn = input.classes_of_tasks[i];
    const Task& task = *state.FindTask(TaskId(i + 1));
    if (task.state == TaskState::kCompleted) {
      ++completed_of_gang[state.FindJob(task.job)->uuid];
    }
    if (task.state != TaskState::kRunning) continue;
    const QualityMachine& machine =
        *machines.at(state.FindMachine(task.machine)->uuid);
    if (input.classes[drawn].needs_ssd && !machine.has_ssd) {
      return StrCat("class ", drawn, ": no ssd");
    }
    ++counts[drawn].by_host[machine.uuid];
    ++counts[drawn].by_zone[machine.zone];
    ++run_of_gang[state.FindJob(task.job)->uuid];
  }
  for (const Command& command : input.commands) {
    const auto* submit = std::get_if<SubmitTask>(&command);
    if (submit == nullptr) continue;
    const auto it = run_of_gang.find(submit->job_uuid);
    if (it != run_of_gang.end() &&
        it->second + completed_of_gang[it->first] <
            static_cast<int64_t>(submit->gang.minimum)) {
      return StrCat("gang ", submit->job_uuid, ": too few");
    }
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    const QualityClass& it = input.classes[i];
    if (!it.rule.has_value()) continue;
    const std::string why = WhyBroken(*it.rule, counts[i], counts[it.other]);
    if (!why.empty()) return StrCat("class ", i, ": ", why);
  }
  return "";
}

int64_t LeastKept(JobId job, const ClusterState& state) {
  const DisruptionBudget& budget = *state.FindJob(job)->budget;
  CHECK(budget.limit == DisruptionBudget::Limit::kMaxUnavailable &&
        budget.is_percent);
  int64_t expected = 0;
  int64_t available = 0;
  for (const auto& [id, task] : state.tasks()) {
    if (task->job != job) continue;
    ++expected;
    if (task->state == TaskState::kRunning) ++available;
  }
  const int64_t unavailable = (expected * budget.amount + 99) / 100;
  return std::min(available, expected - unavailable);
}

int64_t StopPrice(const Task& task) {
  constexpr int64_t kCost = 100;  // What a stop costs by default.
  CHECK_EQ(task.preemption_cost % kCost, 0);
  return 1 + task.preemption_cost / kCost;
}

}  // namespace sluice
