// Which classes take part in a packing, and which gangs do as a whole.
//
// For a bound all of them do.  Otherwise those do whose rules the packing heeds
// (core/packing_peers.h), and gangs that nobody has been told of if it heeds
// the rules of all their classes.  Where what runs may be stopped, what
// displaces nobody stays as it is, and a class or a gang whose rules are not
// heeded has a turn (core/turn_choice.h).
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_PARTICIPANTS_H_
#define SLUICE_CORE_PARTICIPANTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "core/packing_peers.h"
#include "core/placements.h"
#include "core/round_context.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"

namespace sluice {

enum class PackingScope {
  kMovable,  // Tasks that may be placed anew one by one.
  // The same but for those that displace nobody, and what runs and may be
  // stopped for the others, or moved.
  kPreempting,
  kAll,  // For a bound: whatever holds tasks together only adds to it.
};

class Participants {
 public:
  // `placements`: what may be placed anew.  Chooses whose turn it is if that is
  // not known yet.  What is passed must outlive this.
  Participants(PackingScope scope, std::span<const Placement> placements,
               bool heeds_terms, RoundContext* context);

  bool Include(const ClassKey& key);
  PackingPeers& peers() { return *peers_; }
  // Those that may be started or not as a whole, with their minimum.
  const std::map<JobId, int64_t>& gangs() const { return gangs_; }
  // The class of which one task takes part alone, if any.
  const std::optional<ClassKey>& lone() const { return lone_; }
  // The priority of that, or of the gang whose turn it is.
  std::optional<uint32_t> turn_priority() const { return turn_priority_; }
  // Whether some have turns.
  bool has_turns() const { return has_turns_; }

 private:
  void TakeTurn(std::span<const Placement> placements);
  // Whether a class needs company of which some waits, too.
  bool IsAnyCompanyWaiting();
  // Whether the rules of all its classes are heeded.
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
  // With a class that takes no part: the others stay with it.
  std::set<JobId> torn_gangs_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_PARTICIPANTS_H_
