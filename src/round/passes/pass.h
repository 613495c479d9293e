// A pass: some classes of a tier against the machines as they are, as one flow
// problem, and the placements that its solution proposes.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_PASSES_PASS_H_
#define SLUICE_ROUND_PASSES_PASS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "constraints/class_peers.h"
#include "network/band_network.h"
#include "round/context/packing_plan.h"
#include "round/context/round_context.h"
#include "round/context/round_work.h"
#include "round/together/gangs.h"
#include "sluice/flow/problem.h"

namespace sluice {

struct BandMember {
  ClassKey key;
  int64_t count = 0;  // Tasks that may still be placed.
  int64_t size = 0;   // Dominant share of the cluster.
  // Classes that differ from it in priority alone, and whose tasks are placed
  // with it.  None has dependencies on other tasks.
  std::vector<ClassKey> alike = {};
};

// The classes of a pass.
struct Band {
  std::vector<BandMember> members;
  // Gangs that its pass is to start.  All else in the band is there for them to
  // be weighed against.
  std::vector<Gangs::Waiting> gangs;
  // If not null, only these machines are used, each once, and only as far as
  // the patterns go.
  const MachinePatterns* patterns = nullptr;
  // How its minimums are drawn.  With minimums it has one pass, and one more
  // with elastic ones if they cannot all be met.
  BandNetwork::Minimums minimums = BandNetwork::Minimums::kNone;
};

// Bands.  Each has passes of its own until it places nothing more.
class Passes {
 public:
  // Whether followers go in the very next pass.
  enum class Following { kLater, kNext };
  explicit Passes(RoundContext* context,
                  Following following = Following::kLater)
      : context_(*context), following_(following) {}

  void Add(Band band) { bands_.push_back(std::move(band)); }
  void Clear() { bands_.clear(); }
  bool empty() const { return bands_.empty(); }

  // The next problem, or a pause between placements.  Nullopt if no band is
  // left, or if the round's work is spent and it need not go on.
  std::optional<RoundWork> Next(bool must_go_on = false);
  // Makes the placements that are still legal, or the first of them if there
  // are many.  Makes none if the problem was infeasible.  REQUIRES: a problem
  // is open.
  void Finish(const FlowSolution& solution);

  // Placed by all passes so far.
  const std::vector<TaskId>& placed() const { return placed_; }

 private:
  // Draws the first band.
  void Open();
  // Keeps the network for people to read, if there is room for it.
  void NoteNetwork();
  // Splits off a second band if the first one would take too long to draw.
  // Machines that were alike when bands were cut may differ by now.
  void CutFirst();
  std::vector<BandClass> CollectTasks(const Band& band) const;
  // Looks up how the classes stand to the tasks that run now.
  void LookUpPeers();
  // The same, if commands have come since.
  void RefreshPeers();
  std::vector<MachineGroup> Groups(const Band& band);
  // Splits the groups as the policies ask.
  std::vector<MachineGroup> Parted(std::vector<MachineGroup> groups) const;
  // Adds a band of the classes that follow those just placed.
  void AddFollowers();
  // Makes the next placements, and ends the pass after the last.
  void Commit();
  void EndPass();
  // Withdraws gangs that did not come whole.  Returns whether there were any.
  bool WithdrawParts(std::span<const Gangs::Waiting> gangs,
                     std::span<const TaskId> placed);
  // Withdraws tasks that may be where they are only beside what was withdrawn.
  void WithdrawUnmet(std::span<const TaskId> placed);
  bool IsLegal(const Proposal& proposal) const;

  RoundContext& context_;
  const Following following_;
  std::deque<Band> bands_;
  std::vector<TaskId> placed_;
  // State of the open pass.
  std::optional<BandNetwork> network_;
  std::vector<BandClass> classes_;
  std::vector<std::unique_ptr<ClassPeers>> peers_;
  std::vector<ClassPeers*> heeding_;  // Those affected by placements.
  uint64_t version_ = 0;              // Of the state, as these know it.
  std::vector<Proposal> proposals_;
  size_t next_proposal_ = 0;
  std::vector<TaskId> placed_in_pass_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PASSES_PASS_H_
