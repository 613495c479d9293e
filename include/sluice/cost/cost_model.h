// A cost model (a policy) says how much a placement costs.  Models compose:
// their costs add up, so each keeps to its documented scale.
//
// Each model charges one kind of cost:
// * the load cost depends on the load of a machine, and is shared by all
//   classes;
// * the preference cost depends on a class's rules and a machine's description,
//   or on past runs on such machines;
// * the peer cost depends on the tasks that run near a machine;
// * the sibling cost depends on the tasks of the same job;
// * the aggregate cost depends on the load of all machines with one value of a
//   label, such as a rack's or a zone's.
// Three kinds charge no placement: one says how tasks mind each other on a
// machine, which peer costs charge; one makes some tasks of a priority more
// expensive to leave waiting than others; and one says how many tasks of a job
// go to each domain.  A model sees domain objects only, never a node or an arc
// of the network.
//
// A new model is one file under src/cost/models/ and one line in
// src/cost/models.def, which states the kind: the model is asked about no
// other.
//
// Units: cost points; a model's costs lie in [0, kModelCostMax].
// Threads: const methods only; no state except parameters.
// Determinism: integers only; equal arguments give equal costs.

#ifndef SLUICE_COST_COST_MODEL_H_
#define SLUICE_COST_COST_MODEL_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "sluice/constraints/peer_standing.h"
#include "sluice/state/machine.h"
#include "sluice/state/peer_terms.h"
#include "sluice/state/task.h"
#include "sluice/state/task_kind.h"

namespace sluice {

using Cost = int64_t;

// The maximum that a model charges for one placement, so that the sum of all
// models is bounded (cost/waiting_cost.h).
inline constexpr Cost kModelCostMax = 8000000;

// The maximum factor by which a model raises the waiting cost.
inline constexpr int64_t kWaitingFactorMax = 64;

enum class CostKind : uint8_t {
  kLoad,
  kAggregate,
  kPreference,
  kPeers,
  kSiblings,
  kInterference,
  kWaiting,
  kBounds,
};

// How long a task is expected to run, judged by past runs of its kind of work
// (state/class_histories.h), in steps.  Each step is twice as long as the one
// below, so that kinds of nearly equal times are mostly equal.
struct ExpectedRun {
  // The binary logarithm of the mean in milliseconds, rounded down; `mean_step`
  // for an unknown kind.
  int64_t step = 0;
  // The mean of the steps of all known kinds, rounded; 0 if there are none.
  int64_t mean_step = 0;
};

// How fast a kind of work runs on a type of machines, judged by its past runs
// there (state/speed_histories.h): the mean time per instruction, and the
// lowest such mean over all types with enough runs.  In femtoseconds, both
// above 0.
struct ExpectedSpeed {
  int64_t here_fs = 1;
  int64_t best_fs = 1;
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Sets a parameter, as in "random:seed=7".  Call it before anything is asked.
  // Errors: kInvalidArgument if it has no such parameter, or the value is not
  // allowed.
  virtual absl::Status Set(std::string_view parameter, int64_t value);
  // The same for a value that is not a number.
  virtual absl::Status SetText(std::string_view parameter,
                               std::string_view text);

  // True if equal machines may have different load costs.  Then each is a node
  // of the network by itself.
  virtual bool TellsMachinesApart() const { return false; }
  // True if a loaded machine costs less than an empty one.  Then machines are
  // filled one after the other, and each task of a pass is charged the mean of
  // those that it may share its machine with.
  virtual bool FallsWithLoad() const { return false; }

  // The cost of putting one more task on `machine` while `used` of it is used,
  // by requests or by measured use.  The request of the task itself does not
  // count.  The cost need not rise with `used`; the network sorts falling
  // costs.
  virtual Cost LoadCost(const Machine& /*machine*/,
                        const Resources& /*used*/) const {
    return 0;
  }

  // Machines with one value of this label form an aggregate.  Empty: the model
  // charges none.
  virtual std::string_view AggregateLabel() const { return {}; }
  // The cost of putting one more task on any machine of an aggregate that
  // offers `offered`, while `used` of it is used.  The request of the task
  // itself does not count.
  virtual Cost AggregateCost(const Resources& /*used*/,
                             const Resources& /*offered*/) const {
    return 0;
  }

  // How much more than at its cheapest place a task with data may be charged
  // once it has waited this long: until then it waits for a machine nearer to
  // its data.  Never falls.  Nullopt: the model looks at no data.
  virtual std::optional<Cost> DetourMax(int64_t /*waited_ms*/) const {
    return std::nullopt;
  }

  // The cost of putting a task with these rules on `machine`, regardless of
  // load.  It may depend only on the machine's name, labels, taints and avoids:
  // the answer is cached, and used for every machine that is equal in these.
  // `machine` may be an equivalent one: labels that no rules mention may be
  // missing or have other values.
  virtual Cost PreferenceCost(const PlacementRules& /*rules*/,
                              const Machine& /*machine*/) const {
    return 0;
  }

  // The number of runs of a kind of work on a type of machines after which
  // their mean counts, at least 1.  Nullopt: the model does not ask how fast
  // anything runs.
  virtual std::optional<int64_t> SpeedSamplesMin() const {
    return std::nullopt;
  }
  // The cost of putting a task where its kind of work runs this fast: also a
  // preference.  Nothing is charged if the speed is unknown.  Never falls as
  // `here_fs` rises.
  virtual Cost SpeedCost(const ExpectedSpeed& /*speed*/) const { return 0; }

  // The cost of how well a machine suits a task, given the tasks that run near
  // it.  Must be linear in the standing, up to the bound.
  virtual Cost PeerCost(const PeerStanding& /*standing*/) const { return 0; }

  // The cost of putting a task on a machine where `siblings` others of its job
  // run.  Rises with them.  It has a scale of its own: it decides between
  // places with equal preference and peer costs, before their load does.
  virtual Cost SiblingCost(int64_t /*siblings*/) const { return 0; }

  // How much a task minds another one on its machine: the weight of a preferred
  // anti-affinity, 0 to 100.
  virtual int32_t Minds(TaskKind /*task*/, TaskKind /*neighbor*/) const {
    return 0;
  }

  // How to derive the kinds of tasks that state none from the history of their
  // kinds of work.  Nullopt: the model does not ask.
  virtual std::optional<KindScheme> LearnedKinds() const {
    return std::nullopt;
  }

  // The factor on the waiting cost of a task that is expected to run this long,
  // from 1 to kWaitingFactorMax.
  virtual int64_t WaitingFactor(const ExpectedRun& /*run*/) const { return 1; }

  // The bounds of each job's tasks in domains, as if each task that states no
  // such bound had stated this one.  Tasks keep them as long as they live.
  virtual JobBounds BoundsOfJobs() const { return {}; }
};

}  // namespace sluice

#endif  // SLUICE_COST_COST_MODEL_H_
