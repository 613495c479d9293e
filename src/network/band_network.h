// The flow network of one pass: a band of classes of similar size against the
// machines as they are loaded now (docs/flow-network.md).
//
//   class c --preference + size, cap fit(c,g)--> group g --load, slots--> sink
//     '--waiting----------> unscheduled(job) --------------------------> sink
//
// If only aggregates tell groups apart, and only slots limit a class there,
// classes reach them through one node (network/hub.h).
//
// Tasks that depend on tasks pass through more nodes (network/constructs.h):
//
//   class c --> gather --0 or all--> placed --> class c'     of a gang
//   class c --> gather --> placed --0 or all--> domain --> class c'  together
//   class c --room of the domain--> domain --> group g       spread, or apart
//
// A class is one node whose supply is the number of its tasks here.  Machines
// that nothing can tell apart are one node, their group.  An integral flow of
// this network can be committed as it stands, dealt out evenly in each group.
// A machine has as many slots as the band's largest request fits into its free
// room, and at least one if any class fits.
//
// A class has arcs only to its cheapest groups.  That loses nothing
// (network/candidates.h).
//
// Only this class knows which node stands for what.  It names the classes, so
// that a pass can start from the latest prices (solver/warm_solver.h).
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
    // As lower bounds: a minimum that cannot be met makes the problem
    // infeasible.
    kBinding,
    // At a cost below everything else, so that as many as possible are met.
    kElastic,
  };
  struct Input {
    std::span<const MachineGroup> groups;
    const PolicySet& policies;
    const ConstraintSet& constraints;
    std::span<const BandClass> classes;
    const Aggregates& aggregates;
    std::span<const uint32_t> group_at;  // Aggregates::GroupsByPlace().
    // Aggregates::PartsBy() of these; empty: not computed yet.
    std::span<const Aggregates::Parts> parts = {};
  };
  // Classes may be empty.
  BandNetwork(const Input& input, Eligibility* eligibility,
              const WaitingPrices& prices, Minimums minimums = Minimums::kNone);

  const FlowProblem& problem() const { return problem_; }
  // By node.  REQUIRES: the problem was not taken.
  std::vector<NodeMeaning> Meanings() const;
  // Moves the problem out: decoding needs only the index.
  FlowProblem TakeProblem() { return std::move(problem_); }
  // False if no class has any machine: then there is nothing to solve.
  bool has_machines() const {
    return !placement_arcs_.empty() || !hubs_.empty();
  }

  // Reads an optimal flow.  Of each class the most urgent tasks are placed, in
  // the order of groups.  Within a group, machines take turns or, if policies
  // fall with load, are filled one after the other.  `choose` picks the
  // machine: the first one, or another that is as good to the network.  It is
  // called with the job of each task, in the order of Decode().
  using Choose = absl::FunctionRef<size_t(JobId, std::span<const MachineId>)>;
  static size_t ChooseFirst(JobId, std::span<const MachineId>) { return 0; }
  // With `mixes_jobs`, each group gets few tasks of any one job if a class goes
  // to several groups; the same tasks are placed.
  std::vector<Proposal> Decode(const FlowSolution& solution,
                               Choose choose = ChooseFirst,
                               bool mixes_jobs = false) const;

 private:
  struct PlacementArc {
    size_t class_index;
    size_t group;
    ArcIndex arc;
  };
  // Where units of a class leave for groups: the class itself, or one of the
  // domains in between.
  struct Outlet {
    size_t class_index = 0;
    NodeIndex node = 0;
  };
  struct Gang {
    std::vector<NodeIndex> placed;  // Their sources, if placed.
    FlowUnits task_count = 0;
    FlowUnits minimum = 0;
  };
  struct WaitingArc {
    ArcIndex arc;
    JobId job;
  };
  // The outlet, and the cost that remains beside slot and aggregate.
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
    size_t first;  // Index of its first machine.
    size_t machines;
    FlowUnits in_a_row;  // Tasks per turn of a machine.
    bool is_open;        // Any class may use its slots.
  };

  // How tasks of one class that are placed together conflict.
  struct Apart {
    ClassPeers::Limits limits;
    // The limit whose domains are nodes, if any.  The others bind each machine
    // by itself, or are left to the commit.
    const ClassPeers::Limits::OfTopology* domains = nullptr;
    // Set if the whole gang must be in one domain of this topology.
    const Topology* together = nullptr;
    std::map<DomainIndex, size_t> outlets;  // Of drawn domains.
  };

  void FindLimits(std::span<const BandClass> classes);
  // Puts a gate between the classes of each gang and their outlets.
  void AddGangs(std::span<const MachineGroup> groups,
                std::span<const BandClass> classes,
                const std::vector<std::vector<bool>>& has_room_for_all);
  // True if units of the class leave for groups from the class itself.
  bool IsDirect(size_t class_index) const {
    const Apart& apart = apart_[class_index];
    return apart.domains == nullptr && apart.together == nullptr;
  }
  // Where units of the class leave for the machine; adds the node of its
  // domain.  Nullopt if they cannot.
  std::optional<size_t> OutletFor(size_t class_index,
                                  const BandClass& band_class,
                                  const Machine& machine,
                                  const PolicySet& policies);
  // How many tasks of the class a machine takes, and by how much each costs
  // more than the previous one.
  FlowUnits RoomOn(size_t class_index, const Machine& machine,
                   FlowUnits limit) const;
  Cost StepOn(size_t class_index, const PolicySet& policies) const;
  // How many of them must go to the machines of a group, if machines are
  // domains.
  template <class Ids>
  FlowUnits LeastOn(size_t class_index, const Ids& machines) const;
  // An arc whose first units must be used; minimums are drawn like that.
  ArcIndex AddArcWithMinimum(NodeIndex from, NodeIndex to,
                             std::vector<CostSegment> segments,
                             FlowUnits at_least);
  // How many of them may go there regardless of the others.
  FlowUnits FirstOn(size_t class_index, const Machine& machine,
                    FlowUnits room) const;
  // True if constraints on load and peers allow the class to use the group.
  bool IsOpenBesideFit(size_t class_index, const BandClass& band_class,
                       const MachineGroup& group,
                       const ConstraintSet& constraints) const;
  // Finds the group's offers; returns its slot costs, empty if no class may use
  // it.
  std::vector<FlowCost> FindOffers(const Input& input, const Demand& demand,
                                   size_t g, Arrivals* offers) const;
  // Finds each outlet's cheapest groups, and what is needed to draw them.
  void FindCandidates(const Input& input, const Demand& demand, Draft* draft);
  void AddPlacementArcs(const Input& input, Draft* draft);
  // By drawn group: arrivals from outlets that do not go by group.
  static std::vector<Arrivals> FindArrivals(Draft* draft);
  // Draws the way of the others: through a hub if several go to several parts
  // of a group, else as further arrivals.  Returns the hub of each drawn group.
  std::vector<std::optional<size_t>> AddHubs(const Input& input,
                                             const Draft& draft,
                                             std::vector<Arrivals>* arrivals);
  // Draws the arcs to the group except hubs; notes its machines.
  void AddArrivals(const Input& input, const Draft& draft, size_t g,
                   NodeIndex node, const Arrivals& arrivals);
  // Where units of the group go next, at most `units`.
  NodeIndex ExitOf(const Draft& draft, size_t g, FlowUnits units);
  void AddWaitingArcs(std::span<const BandClass> classes,
                      const WaitingPrices& prices);

  // By group, class.
  std::vector<Share> SharesOf(const FlowSolution& solution) const;
  // By class: the placed tasks in an order that mixes jobs.
  std::vector<std::vector<Newcomer>> MixedTasks(
      std::span<const Share> shares) const;

  const Minimums minimums_;
  FlowProblem problem_;
  NodeIndex sink_ = 0;
  FlowUnits supply_ = 0;
  Resources mean_request_;
  std::vector<Outlet> outlets_;  // Classes come first.
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
  std::map<size_t, AggregateNode> aggregate_nodes_;  // Drawn ones.
  std::vector<std::vector<Newcomer>> tasks_;  // By class, most urgent first.
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_BAND_NETWORK_H_
