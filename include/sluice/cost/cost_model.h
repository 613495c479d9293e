// A cost model (a policy) says how dear a placement is.  Models compose: their
// costs add up, so each keeps to its documented scale.
//
// There are these kinds of cost, and a model charges one of them.  What depends
// on the load of a machine is its load cost, shared by all classes; what a
// class's rules and a machine's description make of each other, or past runs on
// such machines, is the preference cost; what the tasks that run near a machine
// make of it is the peer cost; and what depends on the tasks of the same job is
// the sibling cost.  What depends on the load of all machines with one value of
// a label, a rack's or a zone's, is the aggregate cost.  Three kinds charge no
// placement: one says how tasks mind each other on a machine, which peer costs
// charge; one which tasks of one priority are dearer than others to leave
// waiting; and one how many tasks of a job go to each domain.  A model sees
// domain objects only, never a node or an arc of the network.
//
// A new model is one file under src/cost/models/ and one line in
// src/cost/models.def, which says the kind: the model is not asked for others.
//
// Units: cost points; a model's costs lie in [0, kModelCostMax].
// Threads: const methods only, no state of their own but for parameters.
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

// No model charges more for one placement, so that a bound for all of them
// together is known (cost/waiting_cost.h).
inline constexpr Cost kModelCostMax = 8000000;

// No model makes waiting more than so many times as dear.
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

// How long a task is expected to run, by the past runs of its kind of work
// (state/class_histories.h), in steps: each is twice as long as the one below,
// so that kinds of nearly equal times are mostly equal.
struct ExpectedRun {
  // The binary logarithm of the mean in milliseconds, rounded down.  Of a kind
  // that is not known it is `mean_step`.
  int64_t step = 0;
  // The mean of the steps of all kinds that are known, rounded; 0 where none
  // is.
  int64_t mean_step = 0;
};

// How fast a kind of work runs on a type of machines, by its past runs there
// (state/speed_histories.h): the mean time that an instruction takes, and the
// least such mean over all types where enough is known.  In femtoseconds, both
// above 0.
struct ExpectedSpeed {
  int64_t here_fs = 1;
  int64_t best_fs = 1;
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Sets a parameter, as "random:seed=7" does; before anything is asked.
  // Errors: kInvalidArgument where it has no such parameter, or that may not
  // have the value.
  virtual absl::Status Set(std::string_view parameter, int64_t value);
  // The same with what is no number.
  virtual absl::Status SetText(std::string_view parameter,
                               std::string_view text);

  // Whether machines that are alike may cost different loads.  Then each is a
  // node of the network by itself.
  virtual bool TellsMachinesApart() const { return false; }
  // Whether a loaded machine costs less than an empty one.  Then machines are
  // filled one after the other, and each task of a pass is charged the mean of
  // those that it may share its machine with.
  virtual bool FallsWithLoad() const { return false; }

  // The cost of putting one more task on `machine` while `used` of it is
  // used, by requests or, where use was measured, by that.  The request of the
  // task itself does not count.  It need not rise with `used`; the network
  // sorts what falls.
  virtual Cost LoadCost(const Machine& /*machine*/,
                        const Resources& /*used*/) const {
    return 0;
  }

  // Machines with one value of this label are an aggregate.  Empty: it charges
  // none.
  virtual std::string_view AggregateLabel() const { return {}; }
  // The cost of putting one more task on any machine of an aggregate that
  // offers so much, while `used` of it is used.  The request of the task itself
  // does not count.
  virtual Cost AggregateCost(const Resources& /*used*/,
                             const Resources& /*offered*/) const {
    return 0;
  }

  // How much more than where it would be charged the least a task with data
  // may be charged once it has waited so long: until then it waits for a
  // machine nearer to its data.  Never falls.  Nothing: it looks at no data.
  virtual std::optional<Cost> DetourMax(int64_t /*waited_ms*/) const {
    return std::nullopt;
  }

  // The cost of putting a task with these rules on `machine`, whatever its
  // load.  Looks at the machine's name, labels, taints and avoids alone: the
  // answer is kept, and given for every machine that is alike in these.
  // `machine` may be one that is only like the machine meant: with labels that
  // no rules mention left out or of another value.
  virtual Cost PreferenceCost(const PlacementRules& /*rules*/,
                              const Machine& /*machine*/) const {
    return 0;
  }

  // After how many runs of a kind of work on a type of machines its mean there
  // counts, at least 1.  Nothing: it does not ask how fast anything runs.
  virtual std::optional<int64_t> SpeedSamplesMin() const {
    return std::nullopt;
  }
  // The cost of putting a task where its kind of work runs so fast: a
  // preference, too.  Where that is not known nothing is charged.  Never falls
  // as `here_fs` rises.
  virtual Cost SpeedCost(const ExpectedSpeed& /*speed*/) const { return 0; }

  // The cost of how a machine suits a task by the tasks that run near it.
  // Rises in equal steps, where it rises: twice a standing costs twice as much,
  // as far as the model's bound.
  virtual Cost PeerCost(const PeerStanding& /*standing*/) const { return 0; }

  // The cost of putting a task on a machine where so many others of its job
  // run.  Rises with them.  On a scale of its own: places that cost the same by
  // preferences and peers are told apart by it, before their load is.
  virtual Cost SiblingCost(int64_t /*siblings*/) const { return 0; }

  // How much a task minds another beside it on its machine: the weight of a
  // preferred anti-affinity, 0 to 100.
  virtual int32_t Minds(TaskKind /*task*/, TaskKind /*neighbor*/) const {
    return 0;
  }

  // How the kinds of tasks that state none follow from what is remembered of
  // their kinds of work.  Nothing: it does not ask.
  virtual std::optional<KindScheme> LearnedKinds() const {
    return std::nullopt;
  }

  // How many times as dear as by its age alone it is to leave a task waiting
  // that is expected to run so long.  From 1 to kWaitingFactorMax.
  virtual int64_t WaitingFactor(const ExpectedRun& /*run*/) const { return 1; }

  // What it bounds the tasks of each job by, as if each task that states no
  // such bound of its own had stated this one.  They keep it as long as they
  // live.
  virtual JobBounds BoundsOfJobs() const { return {}; }
};

}  // namespace sluice

#endif  // SLUICE_COST_COST_MODEL_H_
