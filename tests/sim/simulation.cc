#include "sim/simulation.h"

#include <functional>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "sim/contract_client.h"
#include "sim/feed_client.h"
#include "sim/operator.h"
#include "sim/real_cluster.h"
#include "sim/sim_daemon.h"
#include "sim/timeline.h"

namespace sluice::sim {
namespace {

// From the last fault on, all is said and placed in so long.
constexpr int64_t kCalmMs = 5000;
constexpr int kQuietChecks = 4;
// Room for a successor that does not come is kept for a minute, and after a
// clock was set back a task that failed may wait for five.
constexpr int64_t kCalmChecksMax = 100;
// Without a change a daemon looks for moves once in so long.
constexpr int64_t kMovelessMs = 70000;
constexpr int64_t kMovingPhasesMax = 10;

class Life {
 public:
  Life(uint64_t seed, const LifeShape& shape)
      : shape_(shape),
        rng_(seed),
        daemon_(shape.faults, shape.workload, &timeline_, &rng_, &cluster_) {
    if (shape.has_contract_client) {
      contract_ = std::make_unique<ContractClient>(
          shape.faults, shape.workload, &timeline_, &rng_, &daemon_, &cluster_,
          /*uses_uuids_again=*/!shape.has_feed_client);
    }
    if (shape.has_feed_client) {
      feed_ = std::make_unique<FeedClient>(
          shape.faults, shape.workload, &timeline_, &rng_, &daemon_, &cluster_);
    }
    operator_ = std::make_unique<Operator>(shape.faults, &timeline_, &rng_,
                                           &daemon_, &cluster_);
  }

  LifeReport Run() {
    const Faults& faults = shape_.faults;
    Every(shape_.acts_ms, [this] {
      if (contract_ != nullptr) contract_->Act();
    });
    Every(shape_.acts_ms, [this] {
      if (feed_ != nullptr) feed_->Act();
    });
    Every(shape_.drains_ms, [this] { operator_->Act(MachineUuids()); });
    Every(faults.kills_ms, [this] { daemon_.Kill(Loss::kProcess); });
    Every(faults.power_losses_ms, [this] { daemon_.Kill(Loss::kPower); });
    Every(faults.store_losses_ms, [this] {
      daemon_.Kill(Loss::kStore);
      feed_->NoteStoreLoss();
      operator_->NoteStoreLoss();
    });
    Every(faults.breaks_ms, [this] {
      if (contract_ != nullptr) contract_->Break();
    });
    Every(faults.breaks_ms, [this] {
      if (feed_ != nullptr) feed_->Break();
    });
    Every(faults.clock_jumps_ms,
          [this] { timeline_.JumpMs(rng_.Between(-100000000, 100000000)); });
    Every(faults.freezes_ms, [this] { daemon_.Freeze(); });
    Every(faults.partitions_ms, [this] { daemon_.CutOff(); });
    RunFor(shape_.length_ms);
    is_calm_ = true;
    daemon_.StopFailing();
    if (contract_ != nullptr) contract_->CalmDown();
    if (feed_ != nullptr) feed_->CalmDown();
    operator_->CalmDown();
    // Some rounds are about one class alone, or about those that stop nobody.
    int quiet = 0;
    for (int i = 0; i < kCalmChecksMax && quiet < kQuietChecks; ++i) {
      RunFor(kCalmMs);
      quiet = IsQuiet() ? quiet + 1 : 0;
    }
    if (IsAnswered() && daemon_.MayMove()) AwaitLastMove();
    if (cluster_.errors().empty()) CheckEnd();
    LifeReport report;
    report.errors = cluster_.errors();
    report.processes = daemon_.process_number();
    report.overlaps = daemon_.overlap_count();
    const auto count = [&report](const auto& client) {
      report.placements += client.placement_count();
      report.stops += client.stop_count();
      report.moves += client.move_count();
    };
    if (contract_ != nullptr) count(*contract_);
    if (feed_ != nullptr) count(*feed_);
    return report;
  }

 private:
  void Every(int64_t mean_ms, const std::function<void()>& event) {
    if (mean_ms == 0) return;
    timeline_.After(rng_.Between(1, 2000 * mean_ms), [this, mean_ms, event] {
      if (is_calm_) return;
      event();
      Every(mean_ms, event);
    });
  }
  std::vector<std::string> MachineUuids() const {
    std::vector<std::string> machines;
    const auto add = [&](const std::vector<std::string>& uuids) {
      machines.insert(machines.end(), uuids.begin(), uuids.end());
    };
    if (contract_ != nullptr) add(contract_->MachineUuids());
    if (feed_ != nullptr) add(feed_->MachineUuids());
    return machines;
  }
  void RunFor(int64_t ms) {
    bool is_over = false;
    timeline_.After(1000 * ms, [&is_over] { is_over = true; });
    while (!is_over && cluster_.errors().empty()) timeline_.Step();
  }
  int64_t CountMoves() const {
    return (contract_ == nullptr ? 0 : contract_->move_count()) +
           (feed_ == nullptr ? 0 : feed_->move_count());
  }
  // Nothing changes any more but by moves.
  void AwaitLastMove() {
    for (int i = 0; i < kMovingPhasesMax; ++i) {
      const int64_t count = CountMoves();
      RunFor(kMovelessMs);
      if (CountMoves() == count) return;
    }
    cluster_.Fail("moves do not end");
  }
  bool IsAnswered() const {
    return daemon_.is_up() && !operator_->is_waiting_for_answers() &&
           (contract_ == nullptr || !contract_->is_waiting_for_answers()) &&
           (feed_ == nullptr || !feed_->is_waiting_for_answers());
  }
  // Whether nobody leaves or waits for a time, and no room is kept from anybody
  // but by reservations: without a round it is not given up, and without
  // anybody who waits there may be none.
  bool IsSettled() const {
    const ClusterState& state = daemon_.state();
    const Nominations& nominations = state.nominations();
    return (contract_ == nullptr || !contract_->HasLeaving()) &&
           (feed_ == nullptr || !feed_->HasLeaving()) &&
           state.requeues().backoffs.empty() &&
           nominations.machines().size() == nominations.reservations().size() &&
           (state.pending_count() == 0 ||
            nominations.successions().all().empty());
  }
  bool IsQuiet() const { return IsAnswered() && IsSettled(); }
  void CheckEnd() {
    if (!IsAnswered()) return cluster_.Fail("somebody waits for an answer");
    if (!IsSettled()) return cluster_.Fail("stops and moves do not end");
    const std::vector<std::string> machines = MachineUuids();
    if (contract_ != nullptr) contract_->CheckEnd(machines);
    if (feed_ != nullptr) feed_->CheckEnd(machines);
    if (!daemon_.state().outbox().empty()) {
      cluster_.Fail("something is yet to be told");
    }
  }

  const LifeShape shape_;
  Timeline timeline_;
  Rng rng_;
  RealCluster cluster_;
  SimDaemon daemon_;
  std::unique_ptr<ContractClient> contract_;
  std::unique_ptr<FeedClient> feed_;
  std::unique_ptr<Operator> operator_;
  bool is_calm_ = false;  // Nothing happens any more but what must.
};

}  // namespace

LifeShape DrawShape(uint64_t seed) {
  Rng rng(~seed);
  LifeShape shape;
  const auto sometimes = [&rng](int64_t lo, int64_t hi) {
    return rng.Chance(1, 2) ? rng.Between(lo, hi) : 0;
  };
  shape.length_ms = rng.Between(500, 4000);
  shape.acts_ms = rng.Between(1, 20);
  const uint64_t clients = rng.Below(4);
  shape.has_contract_client = clients != 0;
  shape.has_feed_client = clients != 1;
  Faults& faults = shape.faults;
  faults.kills_ms = sometimes(100, 2000);
  faults.power_losses_ms = sometimes(100, 2000);
  faults.breaks_ms = sometimes(50, 2000);
  faults.clock_jumps_ms = sometimes(100, 2000);
  faults.writes_to_a_failure = sometimes(20, 500);
  faults.solves_to_a_failure = sometimes(2, 50);
  faults.message_us = rng.Chance(1, 2) ? 1000 : rng.Between(1, 100000);
  faults.solve_us = rng.Chance(1, 2) ? 1000 : rng.Between(1, 200000);
  faults.client_us = rng.Chance(1, 2) ? 1000 : rng.Between(1, 300000);
  // A client of the contract would not state everything anew.
  if (!shape.has_contract_client) {
    faults.store_losses_ms = sometimes(200, 2000);
  }
  shape.workload.priorities = rng.Between(1, 4);
  shape.workload.has_owners = rng.Chance(1, 2);
  if (rng.Chance(1, 3)) shape.workload.budget = rng.Between(0, 3);
  shape.workload.has_quarters = rng.Chance(1, 3);
  shape.drains_ms = sometimes(50, 1000);
  shape.workload.has_failures = rng.Chance(1, 2);
  if (rng.Chance(1, 2)) {
    shape.workload.failures_max = static_cast<int32_t>(rng.Between(0, 3));
  }
  shape.workload.requeues = {.from_failed_machines = rng.Chance(1, 2),
                             .evicted = rng.Chance(1, 2)};
  faults.freezes_ms = sometimes(100, 2000);
  faults.partitions_ms = sometimes(100, 2000);
  return shape;
}

LifeReport Live(uint64_t seed, const LifeShape& shape) {
  return Life(seed, shape).Run();
}

LifeShape Shrink(uint64_t seed, LifeShape shape) {
  // What was wrong, without the name of the task or machine.
  const auto find_fault = [seed](const LifeShape& one) -> std::string {
    const std::vector<std::string> errors = Live(seed, one).errors;
    if (errors.empty()) return "";
    return errors[0].substr(errors[0].rfind(' '));
  };
  const std::string fault = find_fault(shape);
  using Change = std::function<void(LifeShape*)>;
  const std::vector<Change> changes = {
      [](LifeShape* one) { one->faults.kills_ms = 0; },
      [](LifeShape* one) { one->faults.power_losses_ms = 0; },
      [](LifeShape* one) { one->faults.store_losses_ms = 0; },
      [](LifeShape* one) { one->faults.breaks_ms = 0; },
      [](LifeShape* one) { one->faults.clock_jumps_ms = 0; },
      [](LifeShape* one) { one->faults.freezes_ms = 0; },
      [](LifeShape* one) { one->faults.partitions_ms = 0; },
      [](LifeShape* one) { one->faults.writes_to_a_failure = 0; },
      [](LifeShape* one) { one->faults.solves_to_a_failure = 0; },
      [](LifeShape* one) { one->workload.priorities = 1; },
      [](LifeShape* one) { one->workload.has_owners = false; },
      [](LifeShape* one) { one->workload.budget.reset(); },
      [](LifeShape* one) { one->workload.has_failures = false; },
      [](LifeShape* one) { one->workload.failures_max.reset(); },
      [](LifeShape* one) { one->workload.requeues = {}; },
      [](LifeShape* one) { one->drains_ms = 0; },
      [](LifeShape* one) { one->has_contract_client = false; },
      [](LifeShape* one) {
        one->has_feed_client = false;
        one->faults.store_losses_ms = 0;
      },
      [](LifeShape* one) { one->faults.message_us = 1; },
      [](LifeShape* one) { one->faults.solve_us = 1; },
      [](LifeShape* one) { one->faults.client_us = 1; },
      [](LifeShape* one) { one->acts_ms *= 2; },
      [](LifeShape* one) { one->length_ms = one->length_ms * 3 / 4; },
      [](LifeShape* one) { one->length_ms = one->length_ms * 19 / 20; },
  };
  for (bool is_smaller = true; is_smaller;) {
    is_smaller = false;
    for (const Change& change : changes) {
      LifeShape smaller = shape;
      change(&smaller);
      if (ToText(smaller) == ToText(shape)) continue;
      if (find_fault(smaller) != fault) continue;
      shape = smaller;
      is_smaller = true;
    }
  }
  return shape;
}

std::string ToText(const LifeShape& shape) {
  const Faults& faults = shape.faults;
  return StrCat(
      "length_ms=", shape.length_ms, " acts_ms=", shape.acts_ms,
      " drains_ms=", shape.drains_ms, " contract=", shape.has_contract_client,
      " feed=", shape.has_feed_client,
      " priorities=", shape.workload.priorities,
      " owners=", shape.workload.has_owners,
      " budget=", shape.workload.budget.value_or(-1),
      " quarters=", shape.workload.has_quarters,
      " failures=", shape.workload.has_failures,
      " failures_max=", shape.workload.failures_max.value_or(-1),
      " reschedule_failed=", shape.workload.requeues.from_failed_machines,
      " requeue_evicted=", shape.workload.requeues.evicted,
      " kills_ms=", faults.kills_ms,
      " power_losses_ms=", faults.power_losses_ms,
      " store_losses_ms=", faults.store_losses_ms,
      " breaks_ms=", faults.breaks_ms,
      " clock_jumps_ms=", faults.clock_jumps_ms,
      " freezes_ms=", faults.freezes_ms,
      " partitions_ms=", faults.partitions_ms,
      " writes_to_a_failure=", faults.writes_to_a_failure,
      " solves_to_a_failure=", faults.solves_to_a_failure,
      " message_us=", faults.message_us, " solve_us=", faults.solve_us,
      " client_us=", faults.client_us);
}

}  // namespace sluice::sim
