#include "round/stages/gang_room.h"

#include <algorithm>
#include <vector>

#include "constraints/class_peers.h"

namespace sluice {
namespace {

// How many of `count` tasks have room, at most, in the whole cluster by the
// class's own terms.
int64_t RoomByOwnTermsInCluster(const ClassKey& key, int64_t count,
                                const RoundContext& context) {
  if (count == 0 || !key.rules->HasPeerTerms()) return count;
  const ClassPeers peers(context.state, context.constraints, key);
  for (const auto& one : peers.LimitsFor(count).topologies) {
    const bool binds_everywhere =
        std::ranges::all_of(context.state.machines(), [&](const auto& entry) {
          return one.topology->DomainOf(entry.first) != kNoDomain;
        });
    if (!one.room.has_value() || !binds_everywhere) continue;
    int64_t room = 0;
    for (DomainIndex d = 0; d < one.topology->domain_end(); ++d) {
      if (one.topology->MachinesOf(d).empty()) continue;
      room += (*one.room)[static_cast<size_t>(d)];
    }
    count = std::min(count, room);
  }
  return count;
}

// How many of `count` tasks have free room.
int64_t RoomByLoad(const ClassKey& key, int64_t count, RoundContext* context) {
  const std::vector<MachineGroup>& groups = context->FreshGroups();
  const std::vector<bool> allowed = context->eligibility().MaskFor(*key.rules);
  int64_t fit = 0;
  for (const MachineGroup& group : groups) {
    if (fit >= count) break;
    context->budget.Note(1);
    if (!allowed[static_cast<size_t>(group.kind)] ||
        !context->constraints.AllowsLoad(key, group.representative(),
                                         group.free)) {
      continue;
    }
    fit += group.size() * TimesIn(group.free, key, count);
  }
  return std::min(fit, count);
}

}  // namespace

bool HasRoomForEach(const Gangs::Waiting& gang, RoundContext* context) {
  int64_t missing = gang.minimum;
  std::vector<int64_t> room_of_class;
  for (const ClassKey& key : gang.classes) {
    room_of_class.push_back(
        RoomByLoad(key, context->CountWaiting(key), context));
    missing -= room_of_class.back();
  }
  if (missing > 0) return false;
  for (size_t i = 0; i < room_of_class.size(); ++i) {
    const int64_t room = room_of_class[i];
    missing += room - RoomByOwnTermsInCluster(gang.classes[i], room, *context);
  }
  return missing <= 0;
}

bool NeedsLeader(const Gangs::Waiting& gang, const RoundContext& context) {
  const auto wants_others = [](const ClassKey& key) {
    return !key.rules->affinity.empty() || !key.rules->preferred_peers.empty();
  };
  if (std::ranges::none_of(gang.classes, wants_others)) return false;
  // Tasks that must share one domain are decided on together.
  return !std::ranges::all_of(gang.classes, [&](const ClassKey& key) {
    const ClassPeers peers(context.state, context.constraints, key);
    return key.rules->preferred_peers.empty() && peers.NeedsLeader() &&
           key.rules->affinity == gang.classes.front().rules->affinity &&
           key.rules->affinity.size() == 1;
  });
}

}  // namespace sluice
