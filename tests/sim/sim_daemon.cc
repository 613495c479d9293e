#include "sim/sim_daemon.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "cost/policy_set.h"
#include "persist/recovery.h"
#include "sim/stop_checks.h"
#include "solver/registry.h"
#include "util/state_invariants.h"

namespace sluice::sim {
namespace {

constexpr int64_t kRestartUs = 50000;
constexpr int64_t kPauseUs = 100;

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
          SimStore& store, uint64_t the_number)
      : number(the_number),
        improve_budget(DrawImproveBudget(rng)),
        preemption(DrawPreemption(rng)),
        scheduler({.improve_budget = improve_budget,
                   .requeues = workload.requeues,
                   .preemption = preemption,
                   .reservations = DrawReservations(rng)},
                  DrawPolicies(rng)),
        solver(faults.solves_to_a_failure, solves_fail, rng),
        loop({.scheduler = scheduler.scheduler(),
              .store = store,
              .solver = solver,
              .clock = timeline,
              .metrics = metrics,
              .on_store_failure = [](const absl::Status&) {}},
             {}),
        stops(workload) {}

  const uint64_t number;
  const int64_t improve_budget;
  const PreemptionOptions preemption;
  Metrics metrics;
  TestScheduler scheduler;
  SimSolver solver;
  CoreLoop loop;
  StopChecks stops;
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
  wake_us_ = kNever;
  const absl::Status status =
      Recover(store_, &process_->scheduler.mutable_state());
  if (!status.ok()) cluster_.Fail(StrCat("recovery: ", status.ToString()));
  process_->stops.NoteRecovered(process_->scheduler.state());
  for (const Listener& listener : listeners_) {
    listener.recovered(process_->scheduler.state());
  }
  Wake(0);
}

void SimDaemon::Kill(Loss loss) {
  if (process_ == nullptr) return;
  process_.reset();
  store_.Reopen(loss);
  for (const Listener& listener : listeners_) listener.died();
  timeline_.After(rng_.Between(1, kRestartUs), [this] { Start(); });
}

void SimDaemon::StopFailing() {
  store_.StopFailing();
  solves_fail_ = false;
}

void SimDaemon::Deliver(const std::function<void(CoreLoop&)>& message) {
  if (process_ == nullptr) return;
  message(process_->loop);
  Wake(rng_.Between(0, 200));
}

void SimDaemon::InProcess(int64_t delay_us, std::function<void()> event) {
  timeline_.After(delay_us,
                  [this, number = process_->number, event = std::move(event)] {
                    if (process_ != nullptr && process_->number == number)
                      event();
                  });
}

void SimDaemon::Wake(int64_t delay_us) {
  const int64_t at_us = timeline_.MonotonicUs() + delay_us;
  if (at_us >= wake_us_) return;
  wake_us_ = at_us;
  InProcess(delay_us, [this, at_us] {
    if (wake_us_ == at_us) Run();
  });
}

void SimDaemon::Run() {
  wake_us_ = kNever;
  if (!process_->loop.RunOnce()) return Kill(Loss::kProcess);
  const ClusterState& state = process_->scheduler.state();
  std::string wrong = FindContradiction(state);
  if (wrong.empty()) {
    wrong = process_->stops.Look(state,
                                 process_->scheduler.scheduler().is_in_round(),
                                 process_->preemption.mode);
  }
  if (!wrong.empty()) cluster_.Fail(wrong);
  for (const Listener& listener : listeners_) {
    if (listener.stepped) listener.stepped(state);
  }
  if (process_->scheduler.scheduler().is_in_round()) {
    InProcess(rng_.Between(1, faults_.solve_us), [this] {
      if (process_->loop.SolveOnce()) Wake(0);
    });
    Wake(kPauseUs);  // It may have asked for a pause.
  }
  Wake(std::max<int64_t>(process_->loop.DueUs() - timeline_.MonotonicUs(), 1));
}

}  // namespace sluice::sim
