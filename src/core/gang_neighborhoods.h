// The neighborhoods in which a gang that waits may find room.
//
// A pass decides for whole classes, by one measure of what fits: it has as many
// slots a machine as the largest request of it fits.  So a gang of several
// sizes or terms may look as if it did not fit, or did not fit beside large
// tasks, and the room goes to these.
//
// Threads: none; confined to the core thread.  Determinism: machines by price,
// then id; tasks by price, then in the order of their placement.

#ifndef SLUICE_CORE_GANG_NEIGHBORHOODS_H_
#define SLUICE_CORE_GANG_NEIGHBORHOODS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/int128.h"
#include "core/gangs.h"
#include "core/neighborhood.h"
#include "core/round_context.h"
#include "core/transaction.h"

namespace sluice {

// The gang, none of which runs, with what is free.  No more of it are to be
// placed than must run: the others are then as any tasks.
Neighborhood GangAlone(const Gangs::Waiting& gang, RoundContext* context);

// The gang, and tasks that the round has placed of its tier and that it may be
// worth more than.
class GangAmongOthers {
 public:
  // All must outlive it.
  GangAmongOthers(const Gangs::Waiting& gang, const Tier& tier,
                  RoundContext* context, Transaction* transaction);

  // Takes back the tasks on the machines where they cost the least for each
  // task of the gang that then fits: as many as it takes, and then twice as
  // many each time.  Nothing once there are no more.  Leaves alone what others
  // may have been placed for, and takes back gangs only as a whole, where they
  // are no older, whatever the price.  What it looks at is charged to the
  // round's budget for searches.
  std::optional<Neighborhood> Next();

 private:
  // What is taken back together: a task on its own, or a whole gang.
  struct Unit {
    std::vector<Placement> tasks;
    Cost price = 0;
    bool is_taken_back = false;
  };
  // A machine on which `more` tasks of the gang would fit.
  struct Candidate {
    Int128 price = 0;  // For each of them.
    MachineId id;
    int64_t more = 0;
  };

  void FindUnits(const Tier& tier);
  int64_t CountFitting(const Machine& machine, const Resources& free) const;
  void FindMachines();
  void TakeBackFrom(MachineId machine);
  Neighborhood Describe() const;

  const Gangs::Waiting& gang_;
  RoundContext& context_;
  const ClusterState& state_;
  Transaction& transaction_;
  std::vector<Unit> units_;
  std::map<MachineId, std::set<size_t>> units_on_;
  std::vector<Candidate> machines_;
  size_t next_machine_ = 0;
  int64_t fitting_ = 0;  // Tasks of the gang, at most.
};

}  // namespace sluice

#endif  // SLUICE_CORE_GANG_NEIGHBORHOODS_H_
