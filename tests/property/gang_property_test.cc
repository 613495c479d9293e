// Random lives of tiny clusters with gangs: none is ever half placed, none that
// would fit waits, none waits for ever, and nothing is stopped for another.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "property/gang_shapes.h"
#include "property/replay_model.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int kRoundsMax = 20;

// A scheduler beside a model of it that knows gangs.
class GangWorld {
 public:
  // Without the improver gangs may wait that would fit.
  explicit GangWorld(bool improves = true)
      : improves_(improves),
        cluster_(improves ? RoundOptions()
                          : RoundOptions{.improve_budget = 0}) {}

  void Apply(const Command& command) {
    if (const auto* completes = std::get_if<CompleteTask>(&command)) {
      const std::string& job = JobOf(completes->uid.value);
      ++completed_[job];
      started_.insert(job);
    }
    model_.Apply(command);
    cluster_.Apply(command, now_ms_);
  }
  void AddMachine(const MachineOptions& options) {
    const std::string uuid = StrCat("m", model_.cluster().machines.size());
    MachineOptions labeled = options;
    labeled.labels.emplace_back("kubernetes.io/hostname", uuid);
    Apply(Added(uuid, labeled));
  }
  uint64_t Submit(const TaskOptions& options, const Gang& gang) {
    gangs_[options.job] = gang;
    Apply(Submitted(++last_uid_, options, {.gang = gang}));
    return last_uid_;
  }
  void AdvanceTime(int64_t ms) { now_ms_ += ms; }

  // A round and its reply.  Returns what was wrong, or "".
  std::string Round() {
    cluster_.Round(now_ms_);
    const std::string contradiction = FindContradiction(cluster_.state());
    if (!contradiction.empty()) return contradiction;
    const ScheduleReply reply = cluster_.Deliver();
    last_placed_ = reply.deltas.size();
    for (const ScheduleReply::Entry& entry : reply.deltas) {
      if (entry.type != DeltaType::kPlace) {
        return StrCat("task ", entry.uid.value, " is stopped");
      }
    }
    const std::string error = model_.Replay(reply);
    if (!error.empty()) return error;
    // A gang that started was whole once: it may have lost members, and may get
    // them again one by one.
    for (const auto& [job, running] : RunningOfJobs()) {
      if (started_.insert(job).second && running < MinimumOf(job)) {
        return StrCat(job, " is started with ", running, " tasks");
      }
    }
    return "";
  }

  // Rounds until nothing is placed.  Returns what was wrong, or "".
  std::string PlaceAllThatFit() {
    for (int round = 0; round < kRoundsMax; ++round) {
      const std::string error = Round();
      if (!error.empty()) return error;
      if (last_placed_ == 0) return FindStranded();
    }
    return "rounds go on placing tasks";
  }

  // Whether so many waiting tasks of the job could be placed together, beside
  // what runs.
  bool CanPlace(const std::string& job, uint64_t count) {
    return CanPlace(WaitingOf(job), count);
  }
  // How many tasks a gang lacks to be whole; of no gang, 0.
  uint64_t LackOf(const std::string& job) const {
    const uint64_t minimum = MinimumOf(job);
    const uint64_t running = RunningOf(job) + CompletedOf(job);
    return minimum > running ? minimum - running : 0;
  }
  uint64_t RunningOf(const std::string& job) const {
    const std::map<std::string, uint64_t> running = RunningOfJobs();
    return running.contains(job) ? running.at(job) : 0;
  }
  // Jobs that lost members, so that too few run.
  std::vector<std::string> BrokenGangs() const {
    std::vector<std::string> broken;
    for (const auto& [job, running] : RunningOfJobs()) {
      if (LackOf(job) > 0) broken.push_back(job);
    }
    return broken;
  }
  std::vector<uint64_t> TasksOf(const std::string& job) const {
    std::vector<uint64_t> uids;
    for (const auto& [uid, task] : model_.cluster().tasks) {
      if (task.job == job) uids.push_back(uid);
    }
    return uids;
  }

  const ReplayModel& model() const { return model_; }
  size_t last_placed() const { return last_placed_; }

 private:
  std::map<std::string, uint64_t> RunningOfJobs() const {
    std::map<std::string, uint64_t> running;
    for (const auto& [uid, task] : model_.cluster().tasks) {
      if (!task.machine.empty()) ++running[task.job];
    }
    return running;
  }

  const std::string& JobOf(uint64_t uid) const {
    return model_.cluster().tasks.at(uid).job;
  }

  uint64_t CompletedOf(const std::string& job) const {
    const auto it = completed_.find(job);
    return it == completed_.end() ? 0 : it->second;
  }

  // Of all tasks there are what is left of them.
  uint64_t MinimumOf(const std::string& job) const {
    const uint64_t minimum = gangs_.at(job).minimum;
    return minimum == Gang::kAllTasks ? TasksOf(job).size() + CompletedOf(job)
                                      : minimum;
  }

  std::vector<uint64_t> WaitingOf(const std::string& job) const {
    std::vector<uint64_t> uids = TasksOf(job);
    std::erase_if(uids, [&](uint64_t uid) { return !model_.IsWaiting(uid); });
    return uids;
  }

  // Tries them in every order on every machine: what is legal depends on what
  // came before.  Of tasks alike only the first is tried next.
  bool CanPlace(std::vector<uint64_t> waiting, uint64_t count) {
    if (count == 0) return true;
    if (waiting.size() < count) return false;
    std::set<std::pair<Resources, PlacementRules>> tried;
    for (size_t i = 0; i < waiting.size(); ++i) {
      const uint64_t uid = waiting[i];
      const ClassKey& key = cluster_.TaskOf(uid).class_key;
      if (!tried.emplace(key.request, *key.rules).second) continue;
      std::vector<uint64_t> others = waiting;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      for (const auto& [uuid, machine] : model_.cluster().machines) {
        if (!model_.WhyNot(uid, uuid).empty()) continue;
        model_.Place(uid, uuid);
        const bool can = CanPlace(others, count - 1);
        model_.Unplace(uid);
        if (can) return true;
      }
    }
    return false;
  }

  // A gang or task that waits though it would fit, or "".
  std::string FindStranded() {
    if (!improves_) return "";
    for (const auto& [job, gang] : gangs_) {
      const uint64_t count =
          started_.contains(job) ? 1 : std::max<uint64_t>(LackOf(job), 1);
      if (CanPlace(job, count)) {
        return StrCat(count, " tasks of ", job, " wait, but would fit");
      }
    }
    return "";
  }

  const bool improves_;
  TestScheduler cluster_;
  ReplayModel model_;
  std::map<std::string, Gang> gangs_;  // Without a minimum for other jobs.
  std::set<std::string> started_;
  std::map<std::string, uint64_t> completed_;
  uint64_t last_uid_ = 0;
  int64_t now_ms_ = 0;
  size_t last_placed_ = 0;
};

// A job that is submitted bit by bit.
struct JobPlan {
  TaskOptions options;
  Gang gang;
  int64_t unsubmitted = 0;
};

JobPlan DrawJob(int number, bool has_shapes, Rng* rng) {
  JobPlan job;
  job.options.job = StrCat("job-", number);
  job.options.cpu = rng->Between(1, 2) * 100;
  job.options.labels = {{"app", job.options.job}};
  if (has_shapes) {
    job.options.rules = RulesFor(DrawShape(rng), job.options.job);
    // Some jobs also look at another, which may come later.
    const PeerTerm other = {App(StrCat("job-", rng->Between(0, number + 1))),
                            rng->Chance(1, 2) ? "" : "zone"};
    if (rng->Chance(1, 8)) job.options.rules.affinity.push_back(other);
    if (rng->Chance(1, 6)) job.options.rules.anti_affinity.push_back(other);
  }
  job.unsubmitted = rng->Between(1, 4);
  if (rng->Chance(1, 4)) {
    job.gang.minimum = Gang::kAllTasks;
  } else if (rng->Chance(3, 4)) {
    job.gang.minimum = static_cast<uint64_t>(rng->Between(1, job.unsubmitted));
  }
  return job;
}

// ---------------------------------------------------------------------------
// Whatever happens

struct LifeOptions {
  bool has_shapes = false;
  bool has_mixed_sizes = false;  // Within one gang.
  bool improves = true;
};

class Life {
 public:
  Life(uint64_t seed, const LifeOptions& options)
      : rng_(seed),
        options_(options),
        has_priorities_(rng_.Chance(1, 3)),
        trickles_(rng_.Chance(1, 2)),
        world_(options.improves) {}

  // Returns what was wrong, or "".
  std::string Go() {
    for (int64_t i = rng_.Between(1, 4); i > 0; --i) {
      world_.AddMachine(DrawMachine());
    }
    for (int step = 0; step < 10; ++step) {
      world_.AdvanceTime(rng_.Between(0, 5000));
      for (int64_t i = rng_.Between(1, 4); i > 0; --i) DoCommand();
      const std::string error = world_.PlaceAllThatFit();
      if (!error.empty()) return StrCat("step ", step, ": ", error);
    }
    return Drain();
  }

 private:
  MachineOptions DrawMachine() {
    return {.cpu = rng_.Between(1, 4) * 100,
            .labels = {{"zone", StrCat(rng_.Below(3))}}};
  }

  void DoCommand() {
    switch (rng_.Below(8)) {
      case 0:
        return EndTasks();
      case 1:
        return ChangeMachine();
      case 2:
      case 3:
        if (jobs_.empty()) return;
        return SubmitOf(&jobs_[rng_.Below(jobs_.size())]);
      default:
        jobs_.push_back(DrawJob(static_cast<int>(jobs_.size()),
                                options_.has_shapes, &rng_));
        if (has_priorities_) {
          jobs_.back().options.priority = static_cast<uint32_t>(rng_.Below(2));
        }
        SubmitOf(&jobs_.back());
    }
  }

  void SubmitOf(JobPlan* job) {
    int64_t count = trickles_ ? rng_.Between(0, 2) : job->unsubmitted;
    count = std::min(count, job->unsubmitted);
    for (; count > 0; --count, --job->unsubmitted) {
      TaskOptions options = job->options;
      if (options_.has_mixed_sizes) options.cpu = rng_.Between(1, 3) * 100;
      world_.Submit(options, job->gang);
    }
  }

  // Some of a job's, or all of them.
  void EndTasks() {
    if (jobs_.empty()) return;
    const std::string& job = jobs_[rng_.Below(jobs_.size())].options.job;
    const bool ends_all = rng_.Chance(1, 2);
    for (const uint64_t uid : world_.TasksOf(job)) {
      if (!ends_all && rng_.Chance(1, 2)) continue;
      if (world_.model().IsWaiting(uid)) {
        if (ends_all) continue;
        world_.Apply(Removed(uid));
      } else if (rng_.Chance(1, 2)) {
        world_.Apply(Completed(uid));
      } else {
        world_.Apply(Failed(uid));
      }
    }
  }

  void ChangeMachine() {
    const auto& machines = world_.model().cluster().machines;
    const std::string uuid = StrCat("m", rng_.Below(machines.size()));
    if (!machines.at(uuid).is_usable) {
      world_.Apply(Added(uuid, DrawMachine()));
    } else if (rng_.Chance(1, 2) && machines.size() < 4) {
      world_.AddMachine(DrawMachine());
    } else {
      world_.Apply(Removed(uuid));
    }
  }

  // What runs ends, until what waits fits not even the empty cluster.
  std::string Drain() {
    while (true) {
      const std::vector<uint64_t> running = world_.model().Running();
      if (running.empty()) return "";
      for (const uint64_t uid : running) world_.Apply(Completed(uid));
      const std::string error = world_.PlaceAllThatFit();
      if (!error.empty()) return StrCat("at the end: ", error);
    }
  }

  Rng rng_;
  const LifeOptions options_;
  const bool has_priorities_;
  const bool trickles_;  // Jobs are submitted bit by bit.
  GangWorld world_;
  std::vector<JobPlan> jobs_;
};

void Live(uint64_t first_seed, uint64_t count, const LifeOptions& options) {
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    ASSERT_EQ(Life(seed, options).Go(), "") << "seed " << seed;
  }
}

TEST(GangProperty, AreWholeOrWaitForWhatDoesNotFit) {
  Live(1, SeedCount(1000), {});
}

TEST(GangProperty, AreWholeOrWaitWithoutTheImprover) {
  Live(1, SeedCount(500),
       {.has_shapes = true, .has_mixed_sizes = true, .improves = false});
}

TEST(GangProperty, AreWholeOrWaitForWhatDoesNotFitWithTermsAboutEachOther) {
  Live(100001, SeedCount(1000), {.has_shapes = true});
}

TEST(GangProperty, AreWholeOrWaitForWhatDoesNotFitOfMixedSizes) {
  Live(200001, SeedCount(500), {.has_mixed_sizes = true});
}

// ---------------------------------------------------------------------------
// Healing

// Gangs that lose members and get new ones, on a cluster that is too small for
// all of them.  Returns what was wrong, or "".
std::string HealBeforeOthersStart(uint64_t seed, int* healed) {
  Rng rng(seed);
  GangWorld world;
  for (int64_t i = rng.Between(1, 4); i > 0; --i) {
    world.AddMachine({.cpu = rng.Between(1, 3) * 100});
  }
  std::vector<JobPlan> jobs;
  for (int number = 0; number < 5; ++number) {
    const int64_t tasks = rng.Between(2, 4);
    JobPlan& job = jobs.emplace_back();
    job.options = {.cpu = 100, .job = StrCat("job-", number)};
    job.gang.minimum = static_cast<uint64_t>(tasks);
    for (int64_t i = tasks; i > 0; --i) world.Submit(job.options, job.gang);
  }
  for (int step = 0; step < 10; ++step) {
    world.AdvanceTime(1000);
    for (const uint64_t uid : world.model().Running()) {
      if (!rng.Chance(1, 4)) continue;
      const std::string name = world.model().cluster().tasks.at(uid).job;
      world.Apply(Failed(uid));
      const JobPlan& job = *std::ranges::find(
          jobs, name, [](const JobPlan& plan) { return plan.options.job; });
      world.Submit(job.options, job.gang);
    }
    std::vector<std::string> healable;
    for (const std::string& job : world.BrokenGangs()) {
      if (world.CanPlace(job, world.LackOf(job))) healable.push_back(job);
    }
    const std::string error = world.Round();
    if (!error.empty()) return error;
    const auto whole = std::ranges::count_if(
        healable, [&](const auto& job) { return world.LackOf(job) == 0; });
    if (whole == 0 && !healable.empty()) {
      return StrCat("step ", step, ": ", healable.front(), " is not healed");
    }
    *healed += static_cast<int>(whole);
  }
  return "";
}

TEST(GangProperty, AreHealedBeforeOthersStart) {
  int healed = 0;
  for (uint64_t seed = 1; seed <= SeedCount(1000); ++seed) {
    ASSERT_EQ(HealBeforeOthersStart(seed, &healed), "") << "seed " << seed;
  }
  EXPECT_GT(healed, static_cast<int>(SeedCount(1000)))
      << "no gang is ever broken";
}

// ---------------------------------------------------------------------------
// Contention

// Gangs that exclude each other, for hundreds of rounds.
class Contest {
 public:
  Contest(uint64_t seed, bool are_sizes_equal)
      : rng_(seed), are_sizes_equal_(are_sizes_equal), size_(DrawSize()) {
    for (int i = 0; i < 3; ++i) world_.AddMachine({.cpu = 200});
  }

  // Returns what was wrong, or "".
  std::string Go() {
    constexpr int kRoundsWithArrivals = 200;
    for (int round = 0; round < kRoundsWithArrivals || !waiting_.empty();
         ++round) {
      if (round > 2 * kRoundsWithArrivals) return "the gangs never all ran";
      world_.AdvanceTime(60'000);
      EndWhatIsOver();
      if (round < kRoundsWithArrivals) {
        while (waiting_.size() < 4) SubmitGang();
      }
      const std::string error = world_.Round();
      if (!error.empty()) return StrCat("round ", round, ": ", error);
      const std::string wrong = TakeStarted();
      if (!wrong.empty()) return StrCat("round ", round, ": ", wrong);
    }
    return "";
  }

 private:
  // More than half of the six slots.
  int64_t DrawSize() { return rng_.Between(4, 6); }

  void SubmitGang() {
    world_.AdvanceTime(10'000);
    const std::string job = StrCat("gang-", next_gang_++);
    const int64_t size = are_sizes_equal_ ? size_ : DrawSize();
    const auto minimum =
        rng_.Chance(1, 2) ? Gang::kAllTasks : static_cast<uint64_t>(size);
    for (int64_t i = 0; i < size; ++i) {
      world_.Submit({.cpu = 100, .job = job}, {.minimum = minimum});
    }
    waiting_.push_back(job);
  }

  void EndWhatIsOver() {
    if (running_.empty() || --rounds_left_ > 0) return;
    for (const uint64_t uid : world_.TasksOf(running_)) {
      world_.Apply(Completed(uid));
      world_.Apply(Removed(uid));
    }
    running_.clear();
  }

  std::string TakeStarted() {
    if (!running_.empty()) return "";
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (world_.RunningOf(*it) == 0) continue;
      if (are_sizes_equal_ && it != waiting_.begin()) {
        return StrCat(*it, " overtakes ", waiting_.front());
      }
      running_ = *it;
      rounds_left_ = rng_.Between(1, 3);
      waiting_.erase(it);
      return "";
    }
    return waiting_.empty() ? "" : "gangs wait beside an empty cluster";
  }

  Rng rng_;
  const bool are_sizes_equal_;
  const int64_t size_;
  GangWorld world_;
  std::deque<std::string> waiting_;  // The oldest first.
  std::string running_;              // The gang that runs, if one does.
  int64_t rounds_left_ = 0;          // For how long.
  int next_gang_ = 0;
};

TEST(GangProperty, OfOneSizeRunInTheOrderOfTheirAge) {
  for (uint64_t seed = 1; seed <= SeedCount(10); ++seed) {
    ASSERT_EQ(Contest(seed, /*are_sizes_equal=*/true).Go(), "")
        << "seed " << seed;
  }
}

TEST(GangProperty, ThatExcludeEachOtherAllRunInTheEnd) {
  for (uint64_t seed = 1; seed <= SeedCount(10); ++seed) {
    ASSERT_EQ(Contest(seed, /*are_sizes_equal=*/false).Go(), "")
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice
