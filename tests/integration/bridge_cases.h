// The bridge's pods and nodes as a user of the cluster sees them: create a pod,
// and see where it runs or that it stays pending.
//
// A pod is pending when three replies of Schedule in a row did not place it
// and named it as unscheduled.

#ifndef SLUICE_TESTS_INTEGRATION_BRIDGE_CASES_H_
#define SLUICE_TESTS_INTEGRATION_BRIDGE_CASES_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "integration/fake_bridge.h"
#include "integration/mini_server.h"

namespace sluice {

// The node of a pod that has none.
inline constexpr char kPending[] = "(pending)";

class BridgeCases : public ContractFixture {
 protected:
  // A delta that is not PLACE ends the bridge, so nothing that runs is ever
  // stopped or moved.
  void TearDown() override { EXPECT_EQ(bridge_.cause_of_death(), ""); }

  void AddNode(const std::string& name, const NodeFields& fields = {}) {
    nodes_[PuOf(name)] = name;
    bridge_.AddNode(name, fields);
    bridge_.AwaitAll();
  }
  void UpdateNode(const std::string& name, const NodeFields& fields) {
    bridge_.UpdateNode(name, fields);
    bridge_.AwaitAll();
  }
  void RemoveNode(const std::string& name) {
    bridge_.RemoveNode(name);
    bridge_.AwaitAll();
  }

  // Creates a pod and returns its uid; a round has to come to place it.
  uint64_t CreatePod(TaskFields fields = {}) {
    AppendDefaults(&fields.tolerations);
    bridge_.Submit(next_uid_, fields);
    bridge_.AwaitAll();
    return next_uid_++;
  }
  // The bridge repeats the tolerations that it has told before.
  void UpdatePod(uint64_t uid, TaskFields fields) {
    AppendDefaults(&fields.tolerations);
    const std::vector<firmament::Toleration> once = fields.tolerations;
    fields.tolerations.insert(fields.tolerations.end(), once.begin(),
                              once.end());
    bridge_.Update(uid, fields);
    bridge_.AwaitAll();
  }
  void DeletePod(uint64_t uid) {
    bridge_.Remove(uid);
    bridge_.AwaitAll();
  }

  // Waits for a pod and returns the node on which it runs, or kPending.
  std::string NodeOf(uint64_t uid) {
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round) {
      if (bridge_.placements().contains(uid)) break;
      bridge_.Schedule();
      bridge_.AwaitAll();
      EXPECT_NE(bridge_.placements().contains(uid),
                bridge_.waiting().contains(uid))
          << "a pod is placed or named as unscheduled";
    }
    const auto place = bridge_.placements().find(uid);
    return place == bridge_.placements().end() ? kPending
                                               : nodes_.at(place->second);
  }

  // Creates pods of one controller, all before the next round, and returns the
  // node of each.
  std::vector<std::string> RunPods(int count, TaskFields fields = {}) {
    fields.job = StrCat("controller-", next_uid_);
    std::vector<uint64_t> uids;
    for (int i = 0; i < count; ++i) uids.push_back(CreatePod(fields));
    std::vector<std::string> nodes;
    for (const uint64_t uid : uids) nodes.push_back(NodeOf(uid));
    return nodes;
  }
  std::string RunPod(const TaskFields& fields = {}) {
    return RunPods(1, fields)[0];
  }

  FakeBridge bridge_{client_.channel()};

 private:
  static void AppendDefaults(std::vector<firmament::Toleration>* tolerations) {
    for (firmament::Toleration& toleration : DefaultTolerations()) {
      tolerations->push_back(std::move(toleration));
    }
  }

  std::map<std::string, std::string> nodes_;  // By processing unit.
  uint64_t next_uid_ = 1;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_BRIDGE_CASES_H_
