#include "sim/operator.h"

namespace sluice::sim {
namespace {

constexpr int64_t kRepeatUs = 50000;

}  // namespace

Operator::Operator(const Faults& faults, Timeline* timeline, Rng* rng,
                   SimDaemon* daemon, RealCluster* cluster)
    : faults_(faults),
      timeline_(*timeline),
      rng_(*rng),
      daemon_(*daemon),
      cluster_(*cluster) {
  daemon_.AddListener(
      {.died = [] {},
       .recovered =
           [this](const ClusterState& state) { CheckRecovered(state); },
       .stepped =
           [this](const ClusterState& state) { CheckPlacements(state); }});
  // Whether it drains when it comes back depends on who still ran there.
  cluster_.OnRemoval([this](const std::string& uuid) {
    draining_.erase(uuid);
    wishes_.erase(uuid);
  });
}

void Operator::Act(const std::vector<std::string>& machines) {
  if (machines.empty()) return;
  const std::string& uuid = machines[rng_.Below(machines.size())];
  Ask(uuid, !draining_.contains(uuid));
}

void Operator::CalmDown() {
  for (const std::string& uuid : touched_) Ask(uuid, false);
}

void Operator::Ask(const std::string& uuid, bool is_draining) {
  if (is_draining) {
    touched_.insert(uuid);
  } else {
    draining_.erase(uuid);
  }
  const uint64_t number = next_wish_++;
  wishes_[uuid] = {is_draining, number};
  Transmit(uuid, number);
}

bool Operator::IsOpen(const std::string& uuid, uint64_t number) const {
  const auto it = wishes_.find(uuid);
  return it != wishes_.end() && it->second.number == number;
}

void Operator::Transmit(const std::string& uuid, uint64_t number) {
  timeline_.After(rng_.Between(1, faults_.message_us), [this, uuid, number] {
    if (!IsOpen(uuid, number)) return;
    const SetDraining command{uuid, wishes_.at(uuid).is_draining};
    daemon_.Deliver([&](CoreLoop& loop) {
      loop.Submit(command, [this, uuid, number](Ack ack) {
        TakeAnswer(uuid, number, ack);
      });
    });
    timeline_.After(kRepeatUs, [this, uuid, number] {
      if (IsOpen(uuid, number)) Transmit(uuid, number);
    });
  });
}

void Operator::TakeAnswer(const std::string& uuid, uint64_t number, Ack ack) {
  if (!IsOpen(uuid, number)) return;
  const bool is_draining = wishes_.at(uuid).is_draining;
  wishes_.erase(uuid);
  if (!is_draining || ack != Ack::kOk) return;
  draining_[uuid] = daemon_.state().counters().next_delta_sequence;
}

void Operator::CheckRecovered(const ClusterState& state) {
  for (const auto& [uuid, sequence] : draining_) {
    const Machine* machine = state.FindMachine(uuid);
    if (machine == nullptr || !machine->IsDraining()) {
      cluster_.Fail("the draining was acknowledged, and is lost, of " + uuid);
    }
  }
}

void Operator::CheckPlacements(const ClusterState& state) {
  for (const auto& [id, delta] : state.outbox()) {
    if (delta.type != DeltaType::kPlace || delta.is_repeat) continue;
    const std::string& uuid = state.FindMachine(delta.machine)->uuid;
    const auto it = draining_.find(uuid);
    if (it != draining_.end() && delta.sequence >= it->second) {
      cluster_.Fail(state.FindTask(delta.task)->name +
                    " is placed, and it drains, on " + uuid);
    }
  }
}

}  // namespace sluice::sim
