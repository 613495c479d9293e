// Random lives of clusters in which what is urgent displaces what is not, and
// what runs moves.
//
// What is known of them without the scheduler: nobody is stopped for a task
// that is no more urgent, no gang goes on with too few tasks, nothing is placed
// into room that is not free yet, no disruption budget is exceeded, nobody
// moves of whom nobody would make a successor, nothing is stopped or moved on
// unchanged input, and in the end nothing waits that has room once all that is
// less urgent on some machine is gone, as far as budgets let it go.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int kTurnsMax = 16;
// With guests, of which those without a host have their turns for good.
constexpr int kTurnsOfGuestsMax = 32;
// Each zone takes one task of the first job, or any number of the second.
constexpr char kZoned[] = "zoned";
constexpr char kShy[] = "shy";
// Zones take the same of those with this label, or one more, as far as these
// have the rule.
constexpr char kSpread[] = "spread";
// A guest has to be in the zone of a host, and shares it with no pest.
constexpr char kHost[] = "host";
constexpr char kGuest[] = "guest";
constexpr char kPest[] = "pest";

class Life {
 public:
  Life(uint64_t seed, Preemption mode)
      : rng_(seed),
        mode_(mode),
        draws_shy_(rng_.Chance(1, 2)),
        draws_counted_(rng_.Chance(1, 3)),
        draws_guests_(rng_.Chance(1, 3)),
        are_pests_shy_(rng_.Chance(1, 2)),
        whole_machines_max_(rng_.Chance(1, 3) ? rng_.Between(2, 4) : 400),
        cluster_({.preemption = {
                      .mode = mode,
                      .moves = {.cost = 3000 * rng_.Between(1, 20),
                                .percent_per_round = 100,
                                .percent_per_hour = 100,
                                .min_run_ms = 0,
                                .whole_machines_max = whole_machines_max_}}}) {}

  void Run() {
    for (int64_t i = rng_.Between(1, 6); i > 0; --i) AddMachine();
    for (int64_t step = rng_.Between(5, 25); step > 0; --step) {
      for (int64_t i = rng_.Between(0, 8); i > 0; --i) Change();
      Schedule();
      if (testing::Test::HasFailure()) return;
    }
    Settle();
  }

 private:
  void AddMachine() {
    const std::string uuid = StrCat("m", next_machine_++);
    machines_.push_back(uuid);
    const std::string zone = StrCat("z", rng_.Below(3));
    cluster_.Apply(
        Added(uuid, {.cpu = rng_.Between(4, 20) * 100,
                     .memory = rng_.Between(4, 20) * 100,
                     .pods = rng_.Between(3, 30),
                     .labels = {{"disk", DrawDisk()}, {"zone", zone}}}));
    zone_of_[uuid] = zone;
  }

  std::string DrawDisk() { return rng_.Chance(1, 2) ? "ssd" : "hdd"; }

  void Submit(const TaskOptions& options, const PeerOptions& peers = {}) {
    live_.push_back(next_uid_);
    options_[next_uid_] = options;
    cluster_.Apply(Submitted(next_uid_++, options, peers));
  }

  void SubmitSome() {
    TaskOptions options{.cpu = rng_.Between(1, 9) * 100,
                        .memory = rng_.Between(0, 9) * 100,
                        .priority = static_cast<uint32_t>(rng_.Between(0, 4)),
                        .job = StrCat("job", next_uid_)};
    if (rng_.Chance(1, 8)) {
      const int64_t size = rng_.Between(2, 4);
      const auto minimum = static_cast<uint64_t>(rng_.Between(2, size));
      if (rng_.Chance(1, 3)) SpreadOut(&options);
      for (int64_t i = 0; i < size; ++i) {
        Submit(options, {.gang = {.minimum = minimum}});
      }
      return;
    }
    if (draws_guests_ && rng_.Chance(1, 2)) {
      HaveGuests(&options);
    } else if (rng_.Chance(1, 6)) {
      options.job = "apart";
      options.rules.anti_affinity = {{TasksOfJob("apart"), ""}};
    } else if (rng_.Chance(1, 6)) {
      options.job = draws_shy_ && rng_.Chance(1, 3) ? kShy : kZoned;
      options.rules.anti_affinity = {{TasksOfJob(kZoned), "zone"}};
    } else if (rng_.Chance(1, 4)) {
      SpreadOut(&options);
      if (draws_counted_ && rng_.Chance(1, 3)) options.rules.spread.clear();
    }
    if (rng_.Chance(1, 8)) options.rules.host_ports = {{.port = 80}};
    options.rules.never_preempts = rng_.Chance(1, 6);
    if (rng_.Chance(2, 3)) options.owner = {"ReplicaSet", options.job};
    if (rng_.Chance(1, 2)) {
      options.rules.preferred = {
          {.weight = static_cast<int32_t>(rng_.Between(1, 40)),
           .term = {.labels = {LabelIn("disk", {DrawDisk()})}}}};
    }
    if (rng_.Chance(1, 4)) {
      options.preemption_cost = static_cast<int32_t>(rng_.Between(0, 300));
    }
    if (options.rules.anti_affinity.empty() && options.labels.empty() &&
        !IsGuestOrSo(options) && rng_.Chance(1, 3)) {
      options.budget = DisruptionBudget{
          .limit = rng_.Chance(1, 2) ? DisruptionBudget::Limit::kMinAvailable
                                     : DisruptionBudget::Limit::kMaxUnavailable,
          .amount = rng_.Between(0, 3)};
    }
    for (int64_t i = rng_.Between(1, 5); i > 0; --i) Submit(options);
    if (!options.budget.has_value() || rng_.Chance(1, 2)) return;
    // Another class of the same job, which shares its budget.
    options.cpu = rng_.Between(1, 9) * 100;
    for (int64_t i = rng_.Between(1, 5); i > 0; --i) Submit(options);
  }

  static void SpreadOut(TaskOptions* options) {
    options->labels = {{"app", kSpread}};
    options->rules.spread = {Spread(App(kSpread), "zone")};
  }

  void HaveGuests(TaskOptions* options) {
    constexpr const char* kJobs[] = {kHost, kGuest, kPest};
    options->job = kJobs[rng_.Below(3)];
    // Most guests wait for pests, and few for room.
    if (options->job == kHost) options->priority += 2;
    if (options->job != kGuest) options->cpu = rng_.Between(1, 3) * 100;
    if (options->job == kGuest) {
      options->rules.affinity = {{TasksOfJob(kHost), "zone"}};
      if (!are_pests_shy_) {
        options->rules.anti_affinity = {{TasksOfJob(kPest), "zone"}};
      }
    } else if (options->job == kPest && are_pests_shy_) {
      options->rules.anti_affinity = {{TasksOfJob(kGuest), "zone"}};
    }
  }
  static bool IsGuestOrSo(const TaskOptions& options) {
    return options.job == kHost || options.job == kGuest ||
           options.job == kPest;
  }

  void Change() {
    const int64_t what = rng_.Between(0, 9);
    if (what < 5 || live_.empty()) {
      SubmitSome();
    } else if (what < 7) {
      Remove(rng_.Below(live_.size()));
    } else if (what < 9) {
      RemoveAVictim();
    } else if (rng_.Chance(1, 2) && machines_.size() > 1) {
      const size_t i = rng_.Below(machines_.size());
      cluster_.Apply(Removed(machines_[i]));
      machines_.erase(machines_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      AddMachine();
    }
  }

  void Remove(size_t index) {
    const uint64_t uid = live_[index];
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
    stopped_.erase(uid);
    // Most controllers make the successor of a task that moves while it leaves.
    const bool has_successor = moved_.erase(uid) > 0 && rng_.Chance(7, 8);
    const bool comes_before = rng_.Chance(2, 3);
    if (has_successor && comes_before) Submit(TaskOptions(options_.at(uid)));
    cluster_.Apply(Removed(uid));
    if (has_successor && !comes_before) Submit(TaskOptions(options_.at(uid)));
  }
  // Clients take their time to do so.
  void RemoveAVictim() {
    if (stopped_.empty()) return;
    const uint64_t uid = *stopped_.begin();
    Remove(static_cast<size_t>(std::ranges::find(live_, uid) - live_.begin()));
  }

  // Those that wait and may displace others.
  std::vector<TaskId> FindWaiting() const {
    std::vector<TaskId> waiting;
    for (const TaskId id : cluster_.state().unscheduled()) {
      const ClassKey& key = cluster_.state().FindTask(id)->class_key;
      if (!key.rules->never_preempts) waiting.push_back(id);
    }
    return waiting;
  }

  // The most urgent of these that has a place by now, or is to have one.
  uint32_t HighestServed(const std::vector<TaskId>& tasks) const {
    uint32_t highest = 0;
    for (const TaskId id : tasks) {
      const Task& task = *cluster_.state().FindTask(id);
      if (task.state == TaskState::kRunning ||
          cluster_.state().nominations().Contains(id)) {
        highest = std::max(highest, task.class_key.priority);
      }
    }
    return highest;
  }

  // By job, where a budget says so: all that runs is told between two rounds.
  std::map<JobId, int64_t> Allowances() const {
    std::map<JobId, int64_t> allowances;
    for (const auto& [id, job] : cluster_.state().jobs()) {
      if (!job->budget.has_value()) continue;
      int64_t live = 0;
      int64_t available = 0;
      for (const uint64_t uid : live_) {
        const Task& task = cluster_.TaskOf(uid);
        if (task.job != id) continue;
        ++live;
        if (task.state == TaskState::kRunning && !stopped_.contains(uid) &&
            cluster_.state().FindMachine(task.machine)->is_present) {
          ++available;
        }
      }
      const bool is_minimum =
          job->budget->limit == DisruptionBudget::Limit::kMinAvailable;
      const int64_t needed =
          is_minimum ? job->budget->amount : live - job->budget->amount;
      allowances[id] = available - std::max<int64_t>(needed, 0);
    }
    return allowances;
  }

  // Those that are not told to leave.
  std::vector<const Task*> RunningOf(JobId job) const {
    std::vector<const Task*> running;
    for (const auto& [id, task] : cluster_.state().tasks()) {
      if (task->job == job && task->state == TaskState::kRunning &&
          !task->is_evicted) {
        running.push_back(task.get());
      }
    }
    return running;
  }
  // Whether all of the gang may leave for a task of the priority.
  bool MayGangLeave(JobId gang, uint32_t priority) const {
    return std::ranges::all_of(RunningOf(gang), [&](const Task* task) {
      return task->class_key.priority < priority &&
             cluster_.state().FindMachine(task->machine)->IsUsable();
    });
  }

  const std::string& ZoneOf(const Task& task) const {
    return zone_of_.at(cluster_.state().FindMachine(task.machine)->uuid);
  }
  // By zone, how many run that the spread counts and that are not to leave; and
  // those that are to come, if so wanted.
  std::map<std::string, int64_t> SpreadCounts(bool with_nominated) const {
    std::map<std::string, int64_t> counts;
    for (const std::string& machine : machines_) counts[zone_of_.at(machine)];
    const auto add = [&](MachineId id) {
      const Machine& machine = *cluster_.state().FindMachine(id);
      const auto zone = counts.find(zone_of_.at(machine.uuid));
      if (zone != counts.end() && machine.is_present) ++zone->second;
    };
    const auto& nominated = cluster_.state().nominations().machines();
    for (const uint64_t uid : live_) {
      if (options_.at(uid).labels.empty()) continue;
      const Task& task = cluster_.TaskOf(uid);
      const auto there = nominated.find(task.id);
      if (task.state == TaskState::kRunning && !task.is_evicted) {
        add(task.machine);
      } else if (with_nominated && there != nominated.end()) {
        add(there->second);
      }
    }
    return counts;
  }
  static int64_t LeastOf(const std::map<std::string, int64_t>& counts) {
    int64_t least = counts.begin()->second;
    for (const auto& [zone, count] : counts) least = std::min(least, count);
    return least;
  }

  static bool IsEven(const std::map<std::string, int64_t>& counts) {
    return std::ranges::all_of(counts, [&](const auto& zone) {
      return zone.second <= LeastOf(counts) + 1;
    });
  }

  // Replays what one reply tells, in its order: each task that is spread goes
  // to a zone that has no more than one above the least as it comes.  `counts`:
  // as they were before.
  void CheckSpreads(const std::vector<ScheduleReply::Entry>& deltas,
                    std::map<std::string, int64_t> counts) const {
    for (const ScheduleReply::Entry& entry : deltas) {
      const Task& task = *cluster_.state().FindHolder(entry.uid);
      if (options_.at(entry.uid.value).labels.empty()) continue;
      int64_t& count = counts[ZoneOf(task)];
      if (entry.type != DeltaType::kPlace) {
        --count;
        continue;
      }
      ++count;
      if (task.class_key.rules->spread.empty()) continue;
      EXPECT_LE(count - LeastOf(counts), 1)
          << "the spread of task " << entry.uid.value;
    }
  }

  // Whether the spread lets one more in there, or would without one in the zone
  // that is less urgent.  Not where a zone holds too many, or others wait that
  // are spread, too: then a victim is one of the machine's own.
  bool MayJoin(const Machine& machine, const ClassKey& key) const {
    const std::map<std::string, int64_t> counts = SpreadCounts(true);
    const std::string& zone = zone_of_.at(machine.uuid);
    if (counts.at(zone) <= LeastOf(counts)) return true;
    if (!IsEven(counts)) return false;
    if (std::ranges::any_of(cluster_.state().pending(), [&](const auto& entry) {
          return !entry.first.rules->spread.empty() &&
                 entry.first.rules != key.rules;
        })) {
      return false;
    }
    return std::ranges::any_of(live_, [&](uint64_t uid) {
      const Task& task = cluster_.TaskOf(uid);
      return task.state == TaskState::kRunning &&
             !options_.at(uid).labels.empty() && ZoneOf(task) == zone &&
             !task.class_key.gang.has_value() &&
             task.class_key.priority < key.priority &&
             cluster_.state().FindMachine(task.machine)->IsUsable();
    });
  }

  // Returns how many were told to leave, and how many were placed.
  std::pair<int64_t, int64_t> Schedule() {
    const std::vector<TaskId> waiting = FindWaiting();
    std::map<JobId, int64_t> allowances = Allowances();
    const std::map<std::string, int64_t> counts = SpreadCounts(false);
    cluster_.Round(now_ms_ += kStepMs);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    const uint32_t highest = HighestServed(waiting);
    int64_t placed = 0;
    int64_t stopped = 0;
    std::set<JobId> gangs;  // Of which some are stopped.
    const ScheduleReply reply = cluster_.Deliver();
    CheckSpreads(reply.deltas, counts);
    for (const ScheduleReply::Entry& entry : reply.deltas) {
      const Task& task = *cluster_.state().FindHolder(entry.uid);
      if (entry.type == DeltaType::kPlace) {
        ++placed;
        continue;
      }
      ++stopped;
      EXPECT_TRUE(stopped_.insert(entry.uid.value).second) << "told twice";
      if (task.class_key.gang.has_value()) gangs.insert(task.job);
      if (entry.type == DeltaType::kMigrate) {
        EXPECT_FALSE(task.class_key.gang.has_value());
        EXPECT_EQ(mode_, Preemption::kFull);
        EXPECT_FALSE(task.owner.empty());
        EXPECT_FALSE(task.class_key.rules->HasPeerTerms());
        EXPECT_TRUE(task.class_key.rules->host_ports.empty());
        moved_.insert(entry.uid.value);
      } else {
        EXPECT_LT(task.class_key.priority, highest);
      }
      const auto allowed = allowances.find(task.job);
      if (allowed != allowances.end()) {
        EXPECT_GE(--allowed->second, 0) << "the budget of " << task.job.value;
      }
    }
    for (const JobId gang : gangs) {
      const auto left = RunningOf(gang);
      const auto minimum = cluster_.state().FindJob(gang)->gang.minimum;
      EXPECT_TRUE(left.empty() || left.size() >= minimum)
          << left.size() << " of gang " << gang.value << " go on";
    }
    for (const auto& [id, machine] : cluster_.state().machines()) {
      EXPECT_TRUE(machine->used.FitsIn(machine->allocatable))
          << machine->uuid << " is overcommitted";
      EXPECT_TRUE(!machine->KeepsRoom() || !machine->IsUsable() ||
                  cluster_.state().nominations().CanBeHeldBy(*machine))
          << machine->uuid << " keeps more room than it will have";
    }
    return {stopped, placed};
  }

  void Settle() {
    int quiet = 0;  // Rounds.
    for (int i = 0; i < 120; ++i) {
      while (!stopped_.empty()) RemoveAVictim();
      const auto [stopped, placed] = Schedule();
      if (testing::Test::HasFailure()) return;
      // What is placed may be moved, and room that is kept for a successor that
      // never comes is free in the end.
      const bool is_over =
          stopped == 0 &&
          (mode_ == Preemption::kPriority ||
           (placed == 0 &&
            cluster_.state().nominations().successions().all().empty()));
      // Each part of the machines has its turn, and so has each class of which
      // one task at a time takes part.
      quiet = is_over ? quiet + 1 : 0;
      if (quiet > (draws_guests_ ? kTurnsOfGuestsMax : kTurnsMax)) {
        const auto [more, _] = Schedule();
        EXPECT_EQ(more, 0) << "on unchanged input";
        EXPECT_EQ(FindDisplacing(), "");
        return;
      }
    }
    ADD_FAILURE() << "it never settles";
  }

  std::optional<JobId> JobOf(const std::string& name) const {
    for (const auto& [id, job] : cluster_.state().jobs()) {
      if (job->name == name) return id;
    }
    return std::nullopt;
  }

  // Whether all whom one of the job may not share the machine's zone with are
  // less urgent than that, and run where they may be stopped; and none has room
  // kept there.
  bool MayBeCleared(const Machine& machine, JobId job,
                    uint32_t priority) const {
    const ClusterState& state = cluster_.state();
    const auto is_there = [&](MachineId id) {
      return zone_of_.at(state.FindMachine(id)->uuid) ==
             zone_of_.at(machine.uuid);
    };
    const std::optional<JobId> zoned = JobOf(kZoned);
    const std::optional<JobId> shy = JobOf(kShy);
    return std::ranges::all_of(state.tasks(), [&](const auto& entry) {
      const Task& task = *entry.second;
      if (task.job != zoned && (task.job != shy || job == shy)) return true;
      const auto nominated = state.nominations().machines().find(task.id);
      if (nominated != state.nominations().machines().end()) {
        return !is_there(nominated->second);
      }
      return task.state != TaskState::kRunning || !is_there(task.machine) ||
             (task.class_key.priority < priority &&
              state.FindMachine(task.machine)->IsUsable());
    });
  }

  // Whether the machine's zone has a host that may not be stopped for a guest
  // of that priority, and pests that all may.
  bool MayHaveGuest(const Machine& machine, uint32_t priority) const {
    const ClusterState& state = cluster_.state();
    const auto is_there = [&](MachineId id) {
      return zone_of_.at(state.FindMachine(id)->uuid) ==
             zone_of_.at(machine.uuid);
    };
    bool has_host = false;
    for (const auto& [id, task] : state.tasks()) {
      const bool is_running = task->state == TaskState::kRunning;
      const bool is_usable =
          is_running && state.FindMachine(task->machine)->IsUsable();
      if (task->job == JobOf(kHost)) {
        has_host |= is_usable && !task->is_evicted && is_there(task->machine) &&
                    task->class_key.priority >= priority;
      }
      if (task->job != JobOf(kPest)) continue;
      const auto nominated = state.nominations().machines().find(id);
      if (nominated != state.nominations().machines().end() &&
          is_there(nominated->second)) {
        return false;
      }
      if (is_running && is_there(task->machine) &&
          (!is_usable || task->class_key.priority >= priority)) {
        return false;
      }
    }
    return has_host;
  }

  // A task that waits and has room on a machine without what is less urgent.
  std::string FindDisplacing() const {
    const ClusterState& state = cluster_.state();
    const std::map<JobId, int64_t> allowances = Allowances();
    for (const auto& [key, tasks] : state.pending()) {
      const JobId job = tasks.begin()->second->job;
      const bool is_zoned = job == JobOf(kZoned) || job == JobOf(kShy);
      const bool is_spread = !key.rules->spread.empty() && !draws_counted_ &&
                             !key.gang.has_value();
      const bool is_guest = job == JobOf(kGuest);
      if ((key.IsBound() && !is_zoned && !is_spread && !is_guest) ||
          key.rules->never_preempts) {
        continue;
      }
      for (const auto& [id, machine] : state.machines()) {
        if (!machine->IsUsable()) continue;
        if (is_zoned && !MayBeCleared(*machine, job, key.priority)) continue;
        if (is_spread && !MayJoin(*machine, key)) continue;
        if (is_guest && !MayHaveGuest(*machine, key.priority)) continue;
        Resources free = machine->Free();
        bool is_port_taken = false;
        std::map<JobId, int64_t> left = allowances;
        for (const TaskId id_of_task : machine->tasks) {
          const Task& task = *state.FindTask(id_of_task);
          const ClassKey& other = task.class_key;
          if (other.priority >= key.priority ||
              (other.gang.has_value() &&
               !MayGangLeave(*other.gang, key.priority))) {
            is_port_taken |= WantSamePort(*other.rules, *key.rules);
            continue;
          }
          // The tasks of a job are all alike.
          const auto allowed = left.find(task.job);
          if (allowed != left.end() && --allowed->second < 0) {
            is_port_taken |= WantSamePort(*other.rules, *key.rules);
            continue;
          }
          free += other.request;
        }
        if (key.request.FitsIn(free) && !is_port_taken) {
          return StrCat("task ", tasks.begin()->second->id.value,
                        " could displace others on ", machine->uuid);
        }
      }
    }
    return "";
  }

  // Long enough that each round looks at what runs.
  static constexpr int64_t kStepMs = 61'000;

  Rng rng_;
  const Preemption mode_;
  const bool draws_shy_;      // Then zoned tasks take part one by one,
  const bool draws_counted_;  // and then those that are spread.
  const bool draws_guests_;
  const bool are_pests_shy_;  // Of guests; else these are, of them.
  const int64_t whole_machines_max_;
  TestScheduler cluster_;
  std::vector<std::string> machines_;
  std::map<std::string, std::string> zone_of_;  // By uuid.
  std::vector<uint64_t> live_;
  std::map<uint64_t, TaskOptions> options_;
  std::set<uint64_t> stopped_;
  std::set<uint64_t> moved_;  // Of these.
  int64_t next_machine_ = 0;
  uint64_t next_uid_ = 1;
  int64_t now_ms_ = 0;
};

TEST(Preemption, DisplacesOnlyWhatIsLessUrgentAndComesToAnEnd) {
  for (uint64_t seed = 1; seed <= SeedCount(120); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Life(seed, Preemption::kPriority).Run();
    if (testing::Test::HasFailure()) break;
  }
}

TEST(Preemption, MovesWhatRunsAndComesToAnEnd) {
  for (uint64_t seed = 1; seed <= SeedCount(120); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Life(seed, Preemption::kFull).Run();
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace sluice
