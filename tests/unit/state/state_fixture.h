// A state with short words for what tests of it do.  At the end of each test
// everything derived is computed anew and compared.

#ifndef SLUICE_TESTS_UNIT_STATE_STATE_FIXTURE_H_
#define SLUICE_TESTS_UNIT_STATE_STATE_FIXTURE_H_

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "state/cluster_state.h"
#include "util/cluster_builder.h"
#include "util/state_invariants.h"

namespace sluice {

class StateTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(FindContradiction(state_), ""); }

  Ack Do(const Command& command, int64_t now_ms = 0) {
    return state_.Apply(command, now_ms);
  }
  // The task that the uid names, or the task of a feed with that id.
  const Task& TaskOf(uint64_t uid) const {
    const Task* task = state_.FindHolder({uid});
    if (task == nullptr) task = state_.FindTask({uid});
    CHECK(task != nullptr) << "no task " << uid;
    return *task;
  }
  const Machine& MachineOf(std::string_view uuid) const {
    const Machine* machine = state_.FindMachine(uuid);
    CHECK(machine != nullptr) << "no machine " << uuid;
    return *machine;
  }
  int64_t UsedCpu(std::string_view uuid) const {
    return MachineOf(uuid).used[kCpu];
  }
  int64_t UsedPods(std::string_view uuid) const {
    return MachineOf(uuid).used[kPods];
  }
  bool IsWaiting(uint64_t uid) const {
    return state_.unscheduled().contains(TaskOf(uid).id);
  }

  // Places the task; nobody is told yet.
  void Place(uint64_t uid, std::string_view uuid) {
    state_.Place(TaskOf(uid).id, MachineOf(uuid).id, 0);
  }
  // Places the task and tells its client.
  void Run(uint64_t uid, std::string_view uuid) {
    Place(uid, uuid);
    DeliverAll();
  }
  std::vector<Delta> Outbox() const {
    std::vector<Delta> deltas;
    for (const auto& [sequence, delta] : state_.outbox()) {
      deltas.push_back(delta);
    }
    return deltas;
  }
  // Hands all deltas to a client; returns their sequence numbers.
  std::vector<uint64_t> BeginAll() {
    std::vector<uint64_t> sequences;
    for (const Delta& delta : Outbox()) {
      state_.BeginDelivery(delta.sequence);
      sequences.push_back(delta.sequence);
    }
    return sequences;
  }
  void DeliverAll() {
    for (const uint64_t sequence : BeginAll()) {
      state_.EndDelivery(sequence, /*is_delivered=*/true);
    }
  }

  ClusterState state_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_STATE_STATE_FIXTURE_H_
