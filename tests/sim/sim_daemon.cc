#include "sim/sim_daemon.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "cost/policy_set.h"
#include "persist/recovery.h"
#include "sim/leased_store.h"
#include "sim/stop_checks.h"
#include "solver/registry.h"
#include "util/state_invariants.h"

namespace sluice::sim {
namespace {

constexpr int64_t kRestartUs = 50000;
constexpr int64_t kPauseUs = 100;
constexpr int64_t kLeaseUs = 60000;

// The shipped one, which now and then finds nothing.
class SimSolver final : public Solver {
 public:
  SimSolver(int64_t solves_to_a_failure, const bool& may_fail, Rng* rng)
      : solves_to_a_failure_(solves_to_a_failure),
        may_fail_(may_fail),
        rng_(*rng) {}

  std::string_view name() const override { return "simulated"; }
  FlowSolution Solve(const FlowProblem& problem,
                     const SolveLimits& limits) override {
    if (Fails()) return Failure();
    return inner_->Solve(problem, limits);
  }
  void Resolve(const FlowProblem& problem, const SolveLimits& limits,
               FlowSolution* solution) override {
    if (Fails()) {
      *solution = Failure();
    } else {
      inner_->Resolve(problem, limits, solution);
    }
  }
  void SolveFrom(const FlowProblem& problem, const SolveLimits& limits,
                 FlowSolution* solution) override {
    if (Fails()) {
      *solution = Failure();
    } else {
      inner_->SolveFrom(problem, limits, solution);
    }
  }

 private:
  bool Fails() {
    return may_fail_ && solves_to_a_failure_ > 0 &&
           rng_.Chance(1, static_cast<uint64_t>(solves_to_a_failure_));
  }
  FlowSolution Failure() {
    FlowSolution solution;
    solution.outcome = rng_.Chance(1, 2) ? SolveOutcome::kCancelled
                                         : SolveOutcome::kBudgetSpent;
    return solution;
  }

  const int64_t solves_to_a_failure_;
  const bool& may_fail_;
  Rng& rng_;
  const std::unique_ptr<Solver> inner_ = MakeSolver("automatic");
};

// A life is short: so that tasks move, they are left where they are for shorter
// than a daemon leaves them, and moves cost next to nothing.
PreemptionOptions DrawPreemption(Rng* rng) {
  constexpr Preemption kModes[] = {Preemption::kOff, Preemption::kPriority,
                                   Preemption::kFull};
  PreemptionOptions options;
  options.mode = kModes[rng->Below(std::size(kModes))];
  if (rng->Chance(1, 2)) options.moves.cost = 1;
  if (rng->Chance(1, 2)) options.moves.percent_per_hour = 1000000;
  options.moves.min_run_ms = rng->Chance(1, 2) ? 0 : rng->Between(1, 1000);
  return options;
}

// In some lives, and for tasks that have not waited long.
ReservationOptions DrawReservations(Rng* rng) {
  if (!rng->Chance(1, 3)) return {};
  return {.after_ms = rng->Between(1, 2000),
          .machines_percent = rng->Between(0, 100)};
}

// Half of the time others than the shipped ones, so that a restart may bring
// others, too.
std::string DrawPolicies(Rng* rng) {
  if (rng->Chance(1, 2)) return kDefaultCostModels;
  constexpr std::string_view kOfLoad[] = {"bin_packing",    "cpu_memory",
                                          "load_spreading", "random:seed=7",
                                          "trivial",        "void"};
  constexpr std::string_view kOthers[] = {
      "avoid_pods",    "job_spread",      "network_aware",
      "node_affinity", "quincy",          "sjf",
      "taint",         "topology_spread", "whare_map:samples=1"};
  std::string names(kOfLoad[rng->Below(std::size(kOfLoad))]);
  for (const std::string_view other : kOthers) {
    if (rng->Chance(1, 2)) names += StrCat(",", other);
  }
  // Who interferes with whom is peers' business.
  if (rng->Chance(1, 2)) names += ",coco:samples=1,pod_affinity";
  return names;
}

}  // namespace

struct SimDaemon::Process {
  Process(const Faults& faults, const Workload& workload,
          const bool& solves_fail, Rng* rng, Timeline& timeline,
          SimStore& shared_store, uint64_t the_number)
      : number(the_number),
        store(shared_store, timeline, rng),
        improve_budget(DrawImproveBudget(rng)),
        preemption(DrawPreemption(rng)),
        scheduler({.improve_budget = improve_budget,
                   .requeues = workload.requeues,
                   .preemption = preemption,
                   .reservations = DrawReservations(rng)},
                  DrawPolicies(rng)),
        solver(faults.solves_to_a_failure, solves_fail, rng),
        loop({.state = scheduler.mutable_state(),
              .scheduler = scheduler.scheduler(),
              .store = store,
              .solver = solver,
              .clock = timeline,
              .metrics = metrics,
              .on_store_failure = [](const absl::Status&) {}},
             {}),
        stops(workload) {}

  const uint64_t number;
  LeasedStore store;
  const int64_t improve_budget;
  const PreemptionOptions preemption;
  Metrics metrics;
  TestScheduler scheduler;
  SimSolver solver;
  CoreLoop loop;
  StopChecks stops;
  int64_t wake_us = kNever;  // When it is to run.
  int64_t frozen_until_us = 0;
};

SimDaemon::SimDaemon(const Faults& faults, const Workload& workload,
                     Timeline* timeline, Rng* rng, RealCluster* cluster)
    : faults_(faults),
      workload_(workload),
      timeline_(*timeline),
      rng_(*rng),
      cluster_(*cluster),
      store_(faults.writes_to_a_failure, rng),
      solves_fail_(faults.solves_to_a_failure > 0) {
  Start();
}

SimDaemon::~SimDaemon() = default;

const ClusterState& SimDaemon::state() const {
  return process_->scheduler.state();
}

bool SimDaemon::MustStopFor(const RealCluster::Task& task) const {
  return process_->preemption.mode != Preemption::kOff &&
         !task.never_preempts &&
         process_->improve_budget == RoundOptions().improve_budget;
}

bool SimDaemon::IsReserved(std::string_view machine) const {
  const Machine* known = state().FindMachine(machine);
  return known != nullptr &&
         std::ranges::any_of(known->nominated, [this](TaskId task) {
           return state().nominations().IsReservation(task);
         });
}

bool SimDaemon::MayMove() const {
  return process_->preemption.mode == Preemption::kFull;
}

void SimDaemon::Start() {
  process_ = std::make_unique<Process>(faults_, workload_, solves_fail_, &rng_,
                                       timeline_, store_, ++process_count_);
  const absl::Status status =
      Recover(store_, &process_->scheduler.mutable_state());
  if (!status.ok()) cluster_.Fail(StrCat("recovery: ", status.ToString()));
  process_->stops.NoteRecovered(process_->scheduler.state());
  for (const Listener& listener : listeners_) {
    listener.recovered(process_->scheduler.state());
  }
  Wake(*process_, 0);
}

void SimDaemon::Kill(Loss loss) {
  if (process_ == nullptr) return;
  process_.reset();
  End(loss);
}

void SimDaemon::End(Loss loss) {
  store_.Reopen(loss);
  for (const Listener& listener : listeners_) listener.died();
  timeline_.After(rng_.Between(1, kRestartUs), [this] { Start(); });
}

void SimDaemon::Freeze() {
  if (process_ == nullptr) return;
  LetExpire();
  process_->frozen_until_us =
      timeline_.MonotonicUs() + rng_.Between(1, 4 * kLeaseUs);
}

void SimDaemon::CutOff() {
  if (process_ == nullptr) return;
  LetExpire();
  process_->store.CutOff();
}

void SimDaemon::LetExpire() {
  // The last message that kept it was sent a third of it ago at most, and came
  // later than that.
  const int64_t left_us = rng_.Between(kLeaseUs * 2 / 3, kLeaseUs);
  process_->store.LetExpire(timeline_.MonotonicUs() + left_us);
  // It may be mended in time.
  if (rng_.Chance(1, 3)) {
    timeline_.After(rng_.Between(1, left_us),
                    [this, number = process_->number] {
                      if (process_ == nullptr || process_->number != number)
                        return;
                      process_->frozen_until_us = 0;
                      if (process_->store.CheckHeld().ok())
                        process_->store.GoOn();
                    });
  }
  timeline_.After(left_us + rng_.Between(0, kLeaseUs / 3),
                  [this, number = process_->number] {
                    if (process_ != nullptr && process_->number == number &&
                        !process_->store.CheckHeld().ok()) {
                      TakeOver();
                    }
                  });
}

void SimDaemon::TakeOver() {
  ++overlap_count_;
  process_->store.Fence();
  former_.push_back(std::move(process_));
  End(Loss::kProcess);
}

SimDaemon::Process* SimDaemon::Find(uint64_t number) {
  if (process_ != nullptr && process_->number == number) return process_.get();
  for (const auto& former : former_) {
    if (former->number == number) return former.get();
  }
  return nullptr;
}

void SimDaemon::StopFailing() {
  store_.StopFailing();
  solves_fail_ = false;
}

void SimDaemon::Deliver(const std::function<void(CoreLoop&)>& message) {
  if (process_ == nullptr) return;
  message(process_->loop);
  Wake(*process_, rng_.Between(0, 200));
}

void SimDaemon::InProcess(const Process& process, int64_t delay_us,
                          std::function<void(Process&)> event) {
  timeline_.After(delay_us, [this, number = process.number,
                             event = std::move(event)] {
    Process* const found = Find(number);
    if (found == nullptr) return;
    const int64_t frozen_us = found->frozen_until_us - timeline_.MonotonicUs();
    if (frozen_us > 0) {
      InProcess(*found, frozen_us, event);
    } else {
      event(*found);
    }
  });
}

void SimDaemon::Wake(Process& process, int64_t delay_us) {
  const int64_t at_us = timeline_.MonotonicUs() + delay_us;
  if (at_us >= process.wake_us) return;
  process.wake_us = at_us;
  InProcess(process, delay_us, [this, at_us](Process& found) {
    if (found.wake_us == at_us) Run(found);
  });
}

void SimDaemon::Run(Process& process) {
  process.wake_us = kNever;
  const bool may_lead = process.store.CheckHeld().ok();
  const bool goes_on = process.loop.RunOnce();
  if (goes_on && !may_lead) {
    cluster_.Fail("a process goes on whose lease has ended");
  }
  if (&process != process_.get()) {
    std::erase_if(former_,
                  [&](const auto& one) { return one.get() == &process; });
    return;
  }
  if (!goes_on) return Kill(Loss::kProcess);
  const ClusterState& state = process.scheduler.state();
  std::string wrong = FindContradiction(state);
  if (wrong.empty()) {
    wrong =
        process.stops.Look(state, process.scheduler.scheduler().is_in_round(),
                           process.preemption.mode);
  }
  if (!wrong.empty()) cluster_.Fail(wrong);
  for (const Listener& listener : listeners_) {
    if (listener.stepped) listener.stepped(state);
  }
  if (process.scheduler.scheduler().is_in_round()) {
    InProcess(process, rng_.Between(1, faults_.solve_us),
              [this](Process& found) {
                if (found.loop.SolveOnce()) Wake(found, 0);
              });
    Wake(process, kPauseUs);  // It may have asked for a pause.
  }
  Wake(process,
       std::max<int64_t>(process.loop.DueUs() - timeline_.MonotonicUs(), 1));
}

}  // namespace sluice::sim
