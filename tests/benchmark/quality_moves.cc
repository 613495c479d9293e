#include "benchmark/quality_moves.h"

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>

#include "base/strings.h"
#include "benchmark/quality_moves_mip.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// What the node_affinity policy charges for one weight.
constexpr Cost kCostPerWeight = 3000;
constexpr int64_t kRoundsMax = 40;
constexpr int kQuietRounds = 2;
// So long after another each round looks at what runs.
constexpr int64_t kStepMs = 61'000;

// What has come of a cluster.
struct MovesEnd {
  MovesLevels levels;
  int64_t stops = 0;
  int64_t moves = 0;
  Cost cost = 0;
  int64_t rounds = 0;
  double seconds = 0;  // Of the longest round.
  std::string broken;  // Why it may not be so.
};

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

PreemptionOptions OptionsOf(Preemption mode) {
  return {
      .mode = mode,
      .moves = {
          .percent_per_round = 100, .percent_per_hour = 100, .min_run_ms = 0}};
}

// A cluster and its client.  A successor stands for its predecessor.
class MovingCluster {
 public:
  MovingCluster(const MovesInput& input, Preemption mode)
      : input_(input), cluster_({.preemption = OptionsOf(mode)}) {
    for (const Command& machine : input.machines) Apply(machine);
    for (const MovesInput::Task& task : input.tasks) {
      if (!task.machine.empty()) Submit(task.uid, task);
    }
    cluster_.mutable_state().SyncPeers();
    for (const MovesInput::Task& task : input.tasks) {
      if (task.machine.empty()) continue;
      cluster_.mutable_state().Place(
          {task.uid}, cluster_.state().FindMachine(task.machine)->id, 0);
    }
    while (!cluster_.Deliver().deltas.empty()) {
    }
    for (const MovesInput::Task& task : input.tasks) {
      last_uid_ = std::max(last_uid_, task.uid);
      if (task.machine.empty()) Submit(task.uid, task);
    }
  }

  const TestScheduler& cluster() const { return cluster_; }

  MovesEnd Run() {
    // Each round searches differently and may find what the last one missed.
    for (int quiet = 0; quiet < kQuietRounds && end_.broken.empty();) {
      quiet = RunRound(kStepMs) == 0 ? quiet + 1 : 0;
      if (end_.rounds == kRoundsMax) Break("never settles");
    }
    if (end_.broken.empty() && RunRound(0) > 0) Break("goes on unchanged");
    Measure();
    return end_;
  }

 private:
  void Apply(const Command& command) {
    CHECK(cluster_.Apply(command, now_ms_) == Ack::kOk);
  }
  void Submit(uint64_t uid, const MovesInput::Task& task) {
    known_[uid] = &task;
    Apply(Submitted(uid, task.options, {.gang = task.gang}));
  }
  void Break(std::string why) {
    if (end_.broken.empty()) end_.broken = std::move(why);
  }

  bool Runs(uint64_t uid) const {
    return cluster_.TaskOf(uid).state == TaskState::kRunning;
  }

  // By job, of those with a budget: how many may be told to leave.
  std::map<std::string, int64_t> Allowances() const {
    std::map<std::string, int64_t> allowances;
    for (const auto& [uid, task] : known_) {
      const TaskOptions& options = task->options;
      if (!options.budget.has_value()) continue;
      allowances.try_emplace(options.job, -options.budget->amount);
      if (Runs(uid)) ++allowances[options.job];
    }
    return allowances;
  }

  // So much later.  Returns how many decisions it made, and carries them out.
  int64_t RunRound(int64_t step_ms) {
    std::map<std::string, int64_t> allowances = Allowances();
    now_ms_ += step_ms;
    const double start = Seconds();
    cluster_.Round(now_ms_);
    end_.seconds = std::max(end_.seconds, Seconds() - start);
    ++end_.rounds;
    std::vector<ScheduleReply::Entry> deltas;
    while (true) {
      const ScheduleReply reply = cluster_.Deliver();
      if (reply.deltas.empty()) break;
      deltas.insert(deltas.end(), reply.deltas.begin(), reply.deltas.end());
    }
    for (const ScheduleReply::Entry& entry : deltas) {
      if (entry.type == DeltaType::kPlace) continue;
      const uint64_t uid = entry.uid.value;
      const MovesInput::Task& task = *known_.at(uid);
      const auto allowed = allowances.find(task.options.job);
      if (allowed != allowances.end() && --allowed->second < 0) {
        Break(StrCat("exceeds the budget of ", task.options.job));
      }
      Apply(Removed(uid));
      known_.erase(uid);
      if (entry.type != DeltaType::kMigrate) continue;
      ++end_.moves;
      Submit(++last_uid_, task);
    }
    return std::ssize(deltas);
  }

  void Measure() {
    const ClusterState& state = cluster_.state();
    std::map<uint32_t, MovesLevel, std::greater<>> levels;
    for (const MovesInput::Task& task : input_.tasks) {
      levels.try_emplace(task.options.priority);
    }
    std::map<std::string, std::pair<int64_t, int64_t>> gangs;  // Least, and is.
    end_.cost = end_.moves * OptionsOf(Preemption::kFull).moves.cost;
    for (const auto& [uid, task] : known_) {
      MovesLevel& level = levels[task->options.priority];
      auto& [least, running] = gangs[task->options.job];
      least = static_cast<int64_t>(task->gang.minimum);
      if (!Runs(uid)) continue;
      ++running;
      ++(task->machine.empty() ? level.placed : level.kept);
      const Task& it = cluster_.TaskOf(uid);
      end_.cost += cluster_.policies().PreferenceCost(
          *it.class_key.rules, *state.FindMachine(it.machine));
    }
    for (const auto& [job, gang] : gangs) {
      const auto& [least, running] = gang;
      if (running > 0 && running < least) Break(StrCat("breaks ", job));
    }
    for (const auto& [id, machine] : state.machines()) {
      CHECK(machine->used.FitsIn(machine->allocatable)) << "overcommitted";
    }
    for (const auto& [priority, level] : levels) end_.levels.push_back(level);
  }

  const MovesInput& input_;
  TestScheduler cluster_;
  std::map<uint64_t, const MovesInput::Task*> known_;  // What has not ended.
  uint64_t last_uid_ = 0;
  int64_t now_ms_ = 0;
  MovesEnd end_;
};

MovesLevel Sum(const MovesLevels& levels) {
  MovesLevel sum;
  for (const MovesLevel& level : levels) {
    sum.kept += level.kept;
    sum.placed += level.placed;
  }
  return sum;
}

std::optional<MovesOptimum> FindBest(const MovingCluster& before,
                                     double mip_seconds) {
#ifdef SLUICE_HAVE_GLPK
  if (mip_seconds > 0) {
    return BestWithMoves(before.cluster().state(), before.cluster().policies(),
                         OptionsOf(Preemption::kFull).moves.cost, mip_seconds);
  }
#endif
  return std::nullopt;
}

// The first level on which the end has other than the best that was found; ""
// where there is none.  Ends the process where a MIP did not know what it says.
std::string FirstDifference(const MovesLevels& end, const MovesOptimum& best) {
  CHECK_EQ(end.size(), best.found.size());
  for (size_t i = 0; i < end.size(); ++i) {
    CHECK_LE(end[i].kept, best.bound[i].kept);
    const int64_t kept = best.found[i].kept - end[i].kept;
    if (kept != 0) return StrCat("stops ", kept, " more of level ", i + 1);
    CHECK_LE(end[i].placed, best.bound[i].placed);
    const int64_t placed = best.found[i].placed - end[i].placed;
    if (placed != 0) {
      return StrCat("places ", placed, " fewer of level ", i + 1);
    }
  }
  return "";
}

// "3 of 4, 7 of 9".
std::string PlacedText(const MovesEnd& end,
                       const std::optional<MovesOptimum>& best) {
  std::string text;
  for (size_t i = 0; i < end.levels.size(); ++i) {
    if (i > 0) text += " ";
    text += StrCat(end.levels[i].placed);
    if (best.has_value()) text += StrCat("/", best->found[i].placed);
  }
  return text;
}

std::string WhyFailed(const MovesInput& input, const MovesEnd& full,
                      const MovesEnd& priority,
                      const std::optional<MovesOptimum>& best) {
  if (!full.broken.empty()) return StrCat("FAILED: ", full.broken);
  if (full.levels < priority.levels) return "FAILED: less than by priority";
  if (!input.is_defragmentation) return "";
  int64_t waiting = 0;
  for (const MovesInput::Task& task : input.tasks) {
    if (task.machine.empty()) ++waiting;
  }
  if (Sum(full.levels).placed < waiting) return "FAILED: not all is placed";
  if (best.has_value() && Sum(best->found).placed == waiting &&
      5 * full.moves > 6 * best->moves) {
    return "FAILED: too many moves";
  }
  return "";
}

double Quantile(std::vector<double> values, size_t percent) {
  std::ranges::sort(values);
  return values[(values.size() - 1) * percent / 100];
}

}  // namespace

MovesComparison::MovesComparison(double mip_seconds)
    : mip_seconds_(mip_seconds),
      table_(/*is_csv=*/false, {{"input", -22},
                                {"run", 5},
                                {"wait", 5},
                                {"placed/most", 12},
                                {"by priority", 11},
                                {"stops", 5},
                                {"MIP", 4},
                                {"moves", 5},
                                {"MIP", 4},
                                {"cost above", 10},
                                {"settled", 7},
                                {"rounds", 6},
                                {"ms", 6},
                                {"verdict", 0}}) {}

MovesComparison::FamilySum& MovesComparison::SumOf(const MovesInput& input) {
  if (families_.empty() || families_.back().first != input.family) {
    families_.emplace_back(input.family, FamilySum());
  }
  return families_.back().second;
}

void MovesComparison::Add(const MovesInput& input) {
  int64_t running = 0;
  for (const MovesInput::Task& task : input.tasks) {
    if (!task.machine.empty()) ++running;
  }
  MovingCluster cluster(input, Preemption::kFull);
  const std::optional<MovesOptimum> best = FindBest(cluster, mip_seconds_);
  const MovesEnd full = cluster.Run();
  const MovesEnd priority = MovingCluster(input, Preemption::kPriority).Run();
  std::string verdict = WhyFailed(input, full, priority, best);
  if (!verdict.empty()) ++failed_count_;

  FamilySum& family = SumOf(input);
  ++family.cluster_count;
  const MovesLevel sum = Sum(full.levels);
  family.placed += sum.placed;
  family.placed_by_priority += Sum(priority.levels).placed;
  family.stops += running - sum.kept;
  family.rounds_max = std::max(family.rounds_max, full.rounds);
  family.seconds.push_back(full.seconds);
  std::string cost_above;
  if (best.has_value()) {
    const std::string difference = FirstDifference(full.levels, *best);
    if (verdict.empty()) verdict = difference;
    family.placed_by_mip += Sum(best->found).placed;
    family.stops_of_mip += running - Sum(best->found).kept;
    if (best->found == best->bound) ++family.settled_count;
    if (best->is_settled()) ++family.optimal_count;
    if (full.levels < best->found) {
      ++family.below_count;
    } else if (full.levels > best->found) {
      ++family.above_count;
    } else {
      CHECK_GE(full.cost, best->cost_bound) << input.name;
      cost_above = StrCat((full.cost - best->cost) / kCostPerWeight);
      family.cost_above += full.cost - best->cost;
      if (full.cost > best->cost) ++family.dearer_count;
      family.moves += full.moves;
      family.moves_of_mip += best->moves;
    }
  }
  const auto of_mip = [&](int64_t value) {
    return best.has_value() ? StrCat(value) : "";
  };
  table_.Print(
      {input.name, StrCat(running), StrCat(std::ssize(input.tasks) - running),
       PlacedText(full, best), PlacedText(priority, std::nullopt),
       StrCat(running - sum.kept),
       of_mip(best.has_value() ? running - Sum(best->found).kept : 0),
       StrCat(full.moves), of_mip(best.has_value() ? best->moves : 0),
       cost_above,
       !best.has_value()            ? ""
       : best->is_settled()         ? "all"
       : best->found == best->bound ? "levels"
                                    : "no",
       StrCat(full.rounds), Decimals(1000 * full.seconds, 1), verdict});
}

void MovesComparison::PrintFamilies() const {
  if (families_.empty()) return;
  std::printf("\n");
  const Table table(/*is_csv=*/false, {{"family", -22},
                                       {"clusters", 8},
                                       {"settled", 7},
                                       {"below", 5},
                                       {"above", 5},
                                       {"placed", 6},
                                       {"MIP", 5},
                                       {"by priority", 11},
                                       {"stops", 5},
                                       {"MIP", 5},
                                       {"moves", 5},
                                       {"MIP", 5},
                                       {"dearer", 6},
                                       {"by", 6},
                                       {"rounds", 6},
                                       {"ms p50", 7},
                                       {"ms max", 7}});
  for (const auto& [name, it] : families_) {
    table.Print({name, StrCat(it.cluster_count),
                 StrCat(it.settled_count, "/", it.optimal_count),
                 StrCat(it.below_count), StrCat(it.above_count),
                 StrCat(it.placed), StrCat(it.placed_by_mip),
                 StrCat(it.placed_by_priority), StrCat(it.stops),
                 StrCat(it.stops_of_mip), StrCat(it.moves),
                 StrCat(it.moves_of_mip), StrCat(it.dearer_count),
                 StrCat(it.cost_above / kCostPerWeight), StrCat(it.rounds_max),
                 Decimals(1000 * Quantile(it.seconds, 50), 1),
                 Decimals(1000 * Quantile(it.seconds, 100), 1)});
  }
}

bool MovesComparison::fails() const {
  if (failed_count_ > 0) return true;
  return std::ranges::any_of(families_, [](const auto& family) {
    const auto& [name, it] = family;
    return name.ends_with("small") &&
           100 * it.below_count > kBelowMaxPercent * it.cluster_count;
  });
}

}  // namespace sluice
