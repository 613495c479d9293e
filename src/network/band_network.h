// The flow network of one pass: a band of classes of similar size against the
// machines as they are loaded now (docs/flow-network.md).
//
//   class c --preference + size, cap fit(c,g)--> group g --load, slots--> sink
//     '--waiting----------> unscheduled(job) --------------------------> sink
//
// Classes go to groups that only their aggregates tell apart by one node, where
// nothing but slots limits them (network/hub.h).
//
// Tasks that depend on tasks have more on their way (network/constructs.h):
//
//   class c --> gather --0 or all--> placed --> class c'     of a gang
//   class c --> gather --> placed --0 or all--> domain --> class c'  together
//   class c --room of the domain--> domain --> group g       spread, or apart
//
// A class is one node with a supply of as many units as it has tasks here, and
// machines that nothing can tell apart are one node, their group.  An integral
// flow of this network can be committed as it stands, dealt out evenly in each
// group: a machine has as many slots as the band's largest request fits into
// what is free there, and at least one where any class fits.
//
// A class has arcs to its cheapest groups only.  That loses nothing
// (network/candidates.h).
//
// This is the only place that knows which node stands for what.  It names the
// classes, so that a pass may begin at the prices that the last ones ended at
// (solver/warm_solver.h).
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_NETWORK_BAND_NETWORK_H_
#define SLUICE_NETWORK_BAND_NETWORK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "cost/waiting_prices.h"
#include "network/aggregates.h"
#include "network/arc_cost.h"
#include "network/band_class.h"
#include "network/candidates.h"
#include "network/hub.h"
#include "network/machine_groups.h"
#include "network/node_meaning.h"
#include "sluice/flow/problem.h"
#include "state/cluster_state.h"

namespace sluice {

class BandNetwork {
 public:
  // How minimums of the classes are drawn (constraints/domain_shares.h).
  enum class Minimums {
    kNone,
    // As lower bounds: what cannot be met makes the problem infeasible.
    kBinding,
    // As what costs less than anything else, so that as much of them is met as
    // can be.
    kElastic,
  };
  struct Input {
    std::span<const MachineGroup> groups;
    const PolicySet& policies;
    const ConstraintSet& constraints;
    std::span<const BandClass> classes;
    const Aggregates& aggregates;
    std::span<const uint32_t> group_at;  // Aggregates::GroupsByPlace().
    // What Aggregates::PartsBy() says of that; empty: it is yet to be found.
    std::span<const Aggregates::Parts> parts = {};
  };
  // Needs no class to be non-empty.
  BandNetwork(const Input& input, Eligibility* eligibility,
              const WaitingPrices& prices, Minimums minimums = Minimums::kNone);

  const FlowProblem& problem() const { return problem_; }
  // By node.  REQUIRES: the problem was not given away.
  std::vector<NodeMeaning> Meanings() const;
  // Gives the problem away: decoding needs only the index.
  FlowProblem TakeProblem() { return std::move(problem_); }
  // Whether any class has any machine; if not, there is nothing to solve.
  bool has_machines() const {
    return !placement_arcs_.empty() || !hubs_.empty();
  }

  // Reads an optimal flow: of each class the most urgent tasks are placed, in
  // the order of groups, and within one from machine to machine: in turn or,
  // where policies fall with load, one filled after the other.  `choose` says
  // which machine's turn it is: the first one's, or that of another that is as
  // good to the network.  It is called with the job of each task, in the order
  // of Decode().
  using Choose = absl::FunctionRef<size_t(JobId, std::span<const MachineId>)>;
  static size_t ChooseFirst(JobId, std::span<const MachineId>) { return 0; }
  // With `mixes_jobs` each group gets few tasks of any job, where a class goes
  // to several; the same tasks are placed.
  std::vector<Proposal> Decode(const FlowSolution& solution,
                               Choose choose = ChooseFirst,
                               bool mixes_jobs = false) const;

 private:
  struct PlacementArc {
    size_t class_index;
    size_t group;
    ArcIndex arc;
  };
  // Where the units of a class leave for groups: the class itself, or one of
  // the domains between.
  struct Outlet {
    size_t class_index = 0;
    NodeIndex node = 0;
  };
  struct Gang {
    std::vector<NodeIndex> placed;  // What its tasks leave from, if they do.
    FlowUnits task_count = 0;
    FlowUnits minimum = 0;
  };
  struct WaitingArc {
    ArcIndex arc;
    JobId job;
  };
  // From where, and what is left to pay when slot and aggregate are paid.
  struct Arrival {
    size_t outlet;
    FlowCost cost;
  };
  using Arrivals = std::vector<Arrival>;
  // How many of a class go to a group.
  struct Share {
    size_t class_index;
    size_t group;
    FlowUnits units;
  };
  struct Demand;
  struct Draft;
  struct Group {
    size_t first;  // Of its machines, of all that are drawn.
    size_t machines;
    FlowUnits in_a_row;  // So many tasks before the next machine gets any.
    bool is_open;        // Each slot is for whoever goes to the group.
  };

  // How tasks of one class that are placed together get into each other's way.
  struct Apart {
    ClassPeers::Limits limits;
    // The one of them whose domains are nodes, if any; the others bind machine
    // by machine, or are left to the commit.
    const ClassPeers::Limits::OfTopology* domains = nullptr;
    // Where all of the gang must be in one domain: of this.
    const Topology* together = nullptr;
    std::map<DomainIndex, size_t> outlets;  // Of those that are drawn.
  };

  void FindLimits(std::span<const BandClass> classes);
  // Puts a gate between the classes of each gang and what they leave from.
  void AddGangs(std::span<const MachineGroup> groups,
                std::span<const BandClass> classes,
                const std::vector<std::vector<bool>>& has_room_for_all);
  // Whether units of the class leave for groups from the class itself.
  bool IsDirect(size_t class_index) const {
    const Apart& apart = apart_[class_index];
    return apart.domains == nullptr && apart.together == nullptr;
  }
  // Where units of the class leave for the machine; adds the node of its
  // domain.  Nothing where they cannot.
  std::optional<size_t> OutletFor(size_t class_index,
                                  const BandClass& band_class,
                                  const Machine& machine,
                                  const PolicySet& policies);
  // How many tasks of the class a machine takes, and how much dearer each is
  // than the last.
  FlowUnits RoomOn(size_t class_index, const Machine& machine,
                   FlowUnits limit) const;
  Cost StepOn(size_t class_index, const PolicySet& policies) const;
  // How many of them must go to the machines of a group, where those are
  // domains.
  template <class Ids>
  FlowUnits LeastOn(size_t class_index, const Ids& machines) const;
  // An arc whose first units must be used, as minimums are drawn.
  ArcIndex AddArcWithMinimum(NodeIndex from, NodeIndex to,
                             std::vector<CostSegment> segments,
                             FlowUnits at_least);
  // How many of them may go there whatever the others do.
  FlowUnits FirstOn(size_t class_index, const Machine& machine,
                    FlowUnits room) const;
  // Whether constraints on load and peers allow the class the group.
  bool IsOpenBesideFit(size_t class_index, const BandClass& band_class,
                       const MachineGroup& group,
                       const ConstraintSet& constraints) const;
  // Of the group; says what its slots cost: nothing where no class may use it.
  std::vector<FlowCost> FindOffers(const Input& input, const Demand& demand,
                                   size_t g, Arrivals* offers) const;
  // By outlet its cheapest groups, and what it takes to draw them.
  void FindCandidates(const Input& input, const Demand& demand, Draft* draft);
  void AddPlacementArcs(const Input& input, Draft* draft);
  // By group that is drawn, who comes there from outlets that do not go by
  // group.
  static std::vector<Arrivals> FindArrivals(Draft* draft);
  // Draws the way of the others: by a hub where several go to several parts of
  // a group, and else as further arrivals.  By group that is drawn, the hub.
  std::vector<std::optional<size_t>> AddHubs(const Input& input,
                                             const Draft& draft,
                                             std::vector<Arrivals>* arrivals);
  // What leads to the group other than by a hub; notes its machines.
  void AddArrivals(const Input& input, const Draft& draft, size_t g,
                   NodeIndex node, const Arrivals& arrivals);
  // Where units of the group go next, so many at most.
  NodeIndex ExitOf(const Draft& draft, size_t g, FlowUnits units);
  void AddWaitingArcs(std::span<const BandClass> classes,
                      const WaitingPrices& prices);

  // By group, class.
  std::vector<Share> SharesOf(const FlowSolution& solution) const;
  // By class, those that are placed in an order that mixes jobs.
  std::vector<std::vector<Newcomer>> MixedTasks(
      std::span<const Share> shares) const;

  const Minimums minimums_;
  FlowProblem problem_;
  NodeIndex sink_ = 0;
  FlowUnits supply_ = 0;
  Resources mean_request_;
  std::vector<Outlet> outlets_;  // The first are the classes.
  std::vector<Apart> apart_;     // By class.
  std::map<JobId, Gang> gangs_;
  std::vector<Group> groups_;
  std::vector<MachineId> machines_;           // By group, ascending.
  std::vector<PlacementArc> placement_arcs_;  // By group, class.
  std::vector<Hub> hubs_;
  std::vector<std::vector<WaitingArc>> waiting_arcs_;  // By class, job.
  struct AggregateNode {
    NodeIndex node = 0;
    MachineId machine;
    FlowUnits units = 0;  // At most.
  };
  std::map<size_t, AggregateNode> aggregate_nodes_;  // Of those that are drawn.
  std::vector<std::vector<Newcomer>> tasks_;  // By class, most urgent first.
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_BAND_NETWORK_H_
