// Which classes take part in a packing, and which gangs do as a whole.
//
// For a bound, all of them do.  Otherwise those do whose rules the packing
// heeds (round/packing/packing_peers.h), and gangs that no client knows of if
// it heeds the rules of all their classes.  If running tasks may be stopped,
// tasks that displace nobody stay as they are, and classes and gangs whose
// rules are not heeded take turns (round/packing/turn_choice.h).
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_PARTICIPANTS_H_
#define SLUICE_ROUND_PACKING_PARTICIPANTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "round/context/placements.h"
#include "round/context/round_context.h"
#include "round/packing/packing_peers.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"

namespace sluice {

enum class PackingScope {
  kMovable,  // Tasks that may be placed anew one by one.
  // The same without those that displace nobody, plus running tasks that may be
  // stopped for the others, or moved.
  kPreempting,
  kAll,  // For a bound: holding tasks together only adds to the cost.
};

class Participants {
 public:
  // `placements`: what may be placed anew.  Chooses whose turn it is if that is
  // not known yet.  What is passed must outlive this.
  Participants(PackingScope scope, std::span<const Placement> placements,
               bool heeds_terms, RoundContext* context);

  bool Include(const ClassKey& key);
  PackingPeers& peers() { return *peers_; }
  // The gangs that may be started or not as a whole, with their minimums.
  const std::map<JobId, int64_t>& gangs() const { return gangs_; }
  // The class that takes part with a single task, if any.
  const std::optional<ClassKey>& lone() const { return lone_; }
  // The priority of that class, or of the gang whose turn it is.
  std::optional<uint32_t> turn_priority() const { return turn_priority_; }
  // True if classes or gangs take turns.
  bool has_turns() const { return has_turns_; }

 private:
  void TakeTurn(std::span<const Placement> placements);
  // True if a class needs company, some of which waits, too.
  bool IsAnyCompanyWaiting();
  // True if the rules of all its classes are heeded.
  bool IsHeeded(JobId gang);
  void FindGangs(std::span<const Placement> placements);
  bool IsMeek(const ClassKey& key) const {
    return scope_ == PackingScope::kPreempting && key.rules->never_preempts;
  }

  const PackingScope scope_;
  RoundContext& context_;
  std::optional<PackingPeers> peers_;
  std::optional<ClassKey> lone_;
  std::optional<uint32_t> turn_priority_;
  bool has_turns_ = false;
  std::map<JobId, int64_t> gangs_;
  // Gangs with a class that takes no part: the other classes stay out, too.
  std::set<JobId> torn_gangs_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_PARTICIPANTS_H_
