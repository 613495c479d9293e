// Tasks with rules about each other, of which the more urgent are to come in,
// in a few words.

#ifndef SLUICE_TESTS_UNIT_ROUND_PREEMPTION_FIXTURE_H_
#define SLUICE_TESTS_UNIT_ROUND_PREEMPTION_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {

class PreemptionFixture : public testing::Test {
 protected:
  static constexpr uint32_t kLow = 2;
  static constexpr uint32_t kHigh = 9;

  struct Size {
    int64_t cpu = 1000;
    uint64_t gang = 0;  // The minimum, if its job is one.
  };

  static PlacementRules AwayFrom(const std::string& app,
                                 const std::string& topology = "zone") {
    return {.anti_affinity = {{App(app), topology}}};
  }
  static PlacementRules Near(const std::string& app,
                             const std::string& topology = "zone") {
    return {.affinity = {{App(app), topology}}};
  }
  static PlacementRules On(const std::string& host, PlacementRules rules = {}) {
    rules.selectors = {LabelIn("host", {host})};
    return rules;
  }

  // Without a zone where that is "".
  void Machine(const std::string& uuid, int64_t cpu,
               const std::string& zone = "z") {
    LabelPairs labels = {{"host", uuid}};
    if (!zone.empty()) labels.emplace_back("zone", zone);
    cluster_.Apply(Added(uuid, {.cpu = cpu, .labels = labels}));
  }
  // Tasks of an app are one job.
  void Submit(uint64_t uid, const std::string& app, uint32_t priority,
              const PlacementRules& rules = {}, Size size = {1000, 0}) {
    cluster_.Apply(Submitted(uid,
                             {.cpu = size.cpu,
                              .priority = priority,
                              .job = "job-" + app,
                              .labels = {{"app", app}},
                              .rules = rules},
                             {.gang = {.minimum = size.gang}}));
  }
  // It runs, and its client knows.
  void Run(uint64_t uid, const std::string& app, uint32_t priority,
           const PlacementRules& rules = {}, Size size = {1000, 0}) {
    Submit(uid, app, priority, rules, size);
    ASSERT_FALSE(Reply().empty());
  }
  // Nobody can place it.
  void SubmitHopeless(uint64_t uid, const std::string& app, uint32_t priority,
                      PlacementRules rules = {}) {
    rules.selectors = {LabelIn("no", {"where"})};
    Submit(uid, app, priority, rules, {.cpu = 100});
  }
  std::vector<std::string> Reply() {
    std::vector<std::string> texts = cluster_.Reply(++now_ms_);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    return texts;
  }
  // What is told by the first of some rounds that tells anything.
  std::vector<std::string> ReplyInTheEnd() {
    std::vector<std::string> texts;
    for (int i = 0; i < 6 && texts.empty(); ++i) {
      now_ms_ += 10'000;
      texts = Reply();
    }
    return texts;
  }
  // Once those are gone who were told to leave.
  std::vector<std::string> ReplyWithout(const std::vector<uint64_t>& uids) {
    for (const uint64_t uid : uids) cluster_.Apply(Removed(uid));
    return ReplyInTheEnd();
  }

  TestScheduler cluster_{{.preemption = {.mode = Preemption::kPriority}}};
  int64_t now_ms_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_ROUND_PREEMPTION_FIXTURE_H_
