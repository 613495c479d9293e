#include "round/search/relocator.h"

namespace sluice {

bool Relocator::Move(size_t index, absl::FunctionRef<void(Choice*)> choose) {
  const Placement one = placements_[index];
  // Other tasks see no difference before it moves.  And if it stays, it keeps
  // its place among the deltas.
  const bool has_peers = one.task->class_key.DependsOnPeers();
  if (has_peers) placements_.Withdraw(index);
  const Seeker seeker = suitability_.SeekerOf(one);
  Choice choice = {.seeker = seeker,
                   .liking = suitability_.LikingOf(seeker, *seeker.home),
                   .machine = one.machine};
  choose(&choice);
  const bool has_moved = choice.machine != one.machine;
  if (!has_peers && has_moved) placements_.Withdraw(index);
  if (has_peers || has_moved) placements_.Place(index, choice.machine);
  if (has_moved) suitability_.Vacate(one.machine);
  return has_moved;
}

bool Relocator::Consider(const Machine& machine, Choice* choice) {
  if (!suitability_.MayGo(choice->seeker, machine)) {
    work_.Spend(1);
    return false;
  }
  Liking there = suitability_.LikingOf(choice->seeker, machine);
  there.load = policies_.LoadCost(machine, machine.used);
  if (there >= choice->liking) return false;
  choice->liking = there;
  choice->machine = machine.id;
  return true;
}

}  // namespace sluice
