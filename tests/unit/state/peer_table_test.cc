#include "state/peer_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/limits.h"
#include "base/rng.h"
#include "unit/persist/random_steps.h"
#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// ---------------------------------------------------------------------------
// Terms and what they count

const LabelPairs kWeb = {{"app", "web"}};
const LabelPairs kDb = {{"app", "db"}};

class PeerTableTest : public StateTest {
 protected:
  // Machines a1 and a2 in zone a, b1 in zone b, x1 in none.
  void SetUp() override {
    Do(Added("a1", {.labels = {{"zone", "a"}}}));
    Do(Added("a2", {.labels = {{"zone", "a"}}}));
    Do(Added("b1", {.labels = {{"zone", "b"}}}));
    Do(Added("x1", {}));
  }
  void Submit(uint64_t uid, const LabelPairs& labels,
              const PlacementRules& rules = {}) {
    Do(Submitted(uid, {.labels = labels, .rules = rules}, PeerOptions()));
  }
  void Update(uint64_t uid, const LabelPairs& labels,
              const PlacementRules& rules = {}) {
    const SubmitTask submit =
        Submitted(uid, {.labels = labels, .rules = rules}, PeerOptions());
    Do(UpdateTask{submit.uid, submit.spec});
  }
  const PeerTerms& TermsOf(uint64_t uid) const {
    return state_.peers().TermsOf(*TaskOf(uid).class_key.rules);
  }
  const SelectorSet& MeaningOf(uint64_t uid) const {
    return *TaskOf(uid).class_key.meant_by;
  }
  // What the tally of the term says for the machine's domain.
  int64_t At(std::string_view uuid, const CountedTerm& term,
             const Tally& tally) const {
    return tally.At(term.topology->DomainOf(MachineOf(uuid).id));
  }
  int64_t Meant(std::string_view uuid, const CountedTerm& term) const {
    return At(uuid, term, term.meant);
  }
};

PlacementRules AwayFrom(std::vector<PeerTerm> terms) {
  return {.anti_affinity = std::move(terms)};
}
PlacementRules Near(std::vector<PeerTerm> terms) {
  return {.affinity = std::move(terms)};
}

TEST_F(PeerTableTest, CountsWhatRunsInEachDomain) {
  Submit(1, kWeb);
  Submit(2, kWeb);
  Submit(3, kDb);
  Submit(9, {}, AwayFrom({{App("web"), ""}, {App("web"), "zone"}}));
  state_.SyncPeers();
  Place(1, "a1");
  Place(2, "x1");
  Place(3, "b1");
  const CountedTerm& by_machine = *TermsOf(9).anti_affinity[0];
  const CountedTerm& by_zone = *TermsOf(9).anti_affinity[1];
  EXPECT_EQ(Meant("a1", by_machine), 1);
  EXPECT_EQ(Meant("a2", by_machine), 0);
  EXPECT_EQ(Meant("x1", by_machine), 1);
  EXPECT_EQ(Meant("a2", by_zone), 1);
  EXPECT_EQ(Meant("b1", by_zone), 0);
  EXPECT_EQ(by_zone.meant.total(), 1) << "x1 is in no zone";
  state_.Withdraw({1});
  EXPECT_EQ(Meant("a2", by_zone), 0);
}

TEST_F(PeerTableTest, CountsLeaversTwiceUntilTheyAreGone) {
  Submit(1, kWeb);
  Submit(9, {}, AwayFrom({{App("web"), "zone"}}));
  state_.SyncPeers();
  Run(1, "a1");
  const CountedTerm& term = *TermsOf(9).anti_affinity[0];
  EXPECT_EQ(At("a1", term, term.leaving), 0);
  state_.Preempt({1});
  EXPECT_EQ(At("a1", term, term.meant), 1);
  EXPECT_EQ(At("a1", term, term.leaving), 1);
  Do(Completed(1));
  EXPECT_EQ(At("a1", term, term.meant), 0);
  EXPECT_EQ(At("a1", term, term.leaving), 0);
}

TEST_F(PeerTableTest, CountsWhoseTermsTheyAreAndWhatTheyAreWorth) {
  const PeerTerm web = {App("web"), "zone"};
  Submit(1, kWeb, AwayFrom({web}));
  Submit(2, {}, {.affinity = {web}, .preferred_peers = {{30, web}}});
  Submit(3, {}, {.preferred_peers = {{-100, web}, {-100, web}}});
  state_.SyncPeers();
  const CountedTerm& term = *TermsOf(1).anti_affinity[0];
  Place(1, "a1");
  Place(2, "a2");
  EXPECT_EQ(At("a1", term, term.keeping_away), 1);
  EXPECT_EQ(At("a1", term, term.worth), 30 + 1) << "1 for required affinity";
  Place(3, "b1");
  EXPECT_EQ(At("b1", term, term.keeping_away), 0);
  EXPECT_EQ(At("b1", term, term.worth), -200);
  state_.Withdraw({2});
  EXPECT_EQ(At("a1", term, term.worth), 0);
}

TEST_F(PeerTableTest, KeepsOneTermForAllRulesThatHaveIt) {
  const PeerTerm web = {App("web"), "zone"};
  Submit(1, {}, AwayFrom({web}));
  Submit(2, {}, Near({web}));
  Submit(3, {}, {.preferred_peers = {{1, web}}, .spread = {{.term = web}}});
  CountedTerm* const term = TermsOf(1).anti_affinity[0];
  EXPECT_EQ(TermsOf(2).affinity[0], term);
  EXPECT_EQ(TermsOf(2).given[0].term, term);
  EXPECT_EQ(TermsOf(3).preferred[0].term, term);
  EXPECT_EQ(TermsOf(3).spread[0], term);
  EXPECT_NE(TermsOf(3).spread_by_machine[0], term);
  EXPECT_EQ(TermsOf(3).spread_by_machine[0]->selector, term->selector);
  EXPECT_THAT(
      state_.peers().TermsAbout(term->selector),
      testing::UnorderedElementsAre(term, TermsOf(3).spread_by_machine[0]));
}

// Kubernetes: one peer must meet all terms.
TEST_F(PeerTableTest, MeansBySeveralTermsOfAffinityWhatAllOfThemMean) {
  const TaskSelector front = TasksWith({LabelIn("tier", {"front"})});
  Submit(1, {{"app", "web"}, {"tier", "front"}});
  Submit(2, kWeb);
  Submit(9, {}, Near({{App("web"), ""}, {front, "zone"}}));
  state_.SyncPeers();
  Place(1, "a1");
  Place(2, "a1");
  const PeerTerms& terms = TermsOf(9);
  EXPECT_EQ(terms.affinity[0]->selector, terms.affinity[1]->selector);
  EXPECT_EQ(Meant("a1", *terms.affinity[0]), 1);
  EXPECT_EQ(Meant("a2", *terms.affinity[1]), 1);
  // To those it means it is worth something by each term alone.
  EXPECT_EQ(Meant("a1", *terms.given[0].term), 2);
  EXPECT_EQ(Meant("a1", *terms.given[1].term), 1);
}

TEST_F(PeerTableTest, MovesTheCountsOfAMachineWhoseLabelChanges) {
  Submit(1, kWeb, AwayFrom({{App("web"), "zone"}}));
  state_.SyncPeers();
  Run(1, "a1");
  state_.Preempt({1});
  const CountedTerm& term = *TermsOf(1).anti_affinity[0];
  const auto counts = [&](std::string_view uuid) {
    return std::vector({Meant(uuid, term), At(uuid, term, term.leaving),
                        At(uuid, term, term.keeping_away)});
  };
  EXPECT_THAT(counts("a2"), ElementsAre(1, 1, 1));
  Do(Updated("a1", {.labels = {{"zone", "b"}}}));
  EXPECT_THAT(counts("a2"), ElementsAre(0, 0, 0));
  EXPECT_THAT(counts("b1"), ElementsAre(1, 1, 1));
  Do(Updated("a1", {}));
  EXPECT_EQ(term.meant.total(), 0);
  Do(Updated("a1", {.labels = {{"zone", "c"}}}));
  EXPECT_THAT(counts("a1"), ElementsAre(1, 1, 1));
}

TEST_F(PeerTableTest, CountsWhatRunsOnDepartedMachines) {
  Submit(1, kWeb, AwayFrom({{App("web"), "zone"}}));
  state_.SyncPeers();
  Run(1, "a1");
  Do(Removed("a1"));
  EXPECT_EQ(Meant("a2", *TermsOf(1).anti_affinity[0]), 1);
}

// More machines depart than are remembered.
void DepartMany(ClusterState* state) {
  for (size_t i = 0; i <= kDepartedMachinesMax; ++i) {
    const std::string uuid = StrCat("brief-", i);
    state->Apply(Added(uuid, {.labels = {{"zone", uuid}}}), 0);
    state->Apply(Removed(uuid), 0);
  }
}

TEST_F(PeerTableTest, ForgetsTheDomainsOfMachinesThatAreForgotten) {
  Submit(1, {}, AwayFrom({{App("web"), "zone"}}));
  const Topology& zones = *TermsOf(1).anti_affinity[0]->topology;
  const DomainIndex b = zones.DomainOf(MachineOf("b1").id);
  Do(Removed("b1"));
  DepartMany(&state_);
  ASSERT_EQ(state_.FindMachine("b1"), nullptr);
  EXPECT_THAT(zones.MachinesOf(b),
              testing::Not(testing::Contains(MachineId{2})));
  const DomainIndex end = zones.domain_end();
  Do(Added("b1", {.labels = {{"zone", "b"}}}));
  EXPECT_NE(zones.DomainOf(MachineOf("b1").id), kNoDomain);
  EXPECT_LE(zones.domain_end(), end + 1);
}

// ---------------------------------------------------------------------------
// Who is expected

// Task 1 waits, and room is kept for it on a1.
class ExpectedPeersTest : public PeerTableTest {
 protected:
  void SetUp() override {
    PeerTableTest::SetUp();
    Submit(1, kWeb, AwayFrom({{App("db"), "zone"}}));
    Submit(9, kDb, AwayFrom({{App("web"), "zone"}}));
    state_.SyncPeers();
    state_.Nominate({1}, MachineOf("a1").id);
  }
  const CountedTerm& AboutWeb() const { return *TermsOf(9).anti_affinity[0]; }
  const CountedTerm& AboutDb() const { return *TermsOf(1).anti_affinity[0]; }
  int64_t Expected(std::string_view uuid) const {
    return At(uuid, AboutWeb(), AboutWeb().expected);
  }
  int64_t KeepingAway(std::string_view uuid) const {
    return At(uuid, AboutDb(), AboutDb().keeping_away);
  }
};

TEST_F(ExpectedPeersTest, KeepOthersAwayAndAreNoCompany) {
  EXPECT_EQ(Expected("a2"), 1);
  EXPECT_EQ(Expected("b1"), 0);
  EXPECT_EQ(KeepingAway("a2"), 1);
  EXPECT_EQ(AboutWeb().meant.total(), 0);
  state_.EndNomination({1});
  EXPECT_EQ(AboutWeb().expected.total(), 0);
  EXPECT_EQ(AboutDb().keeping_away.total(), 0);
}

TEST_F(ExpectedPeersTest, MoveWithTheLabelOfTheirMachine) {
  Do(Updated("a1", {.labels = {{"zone", "b"}}}));
  EXPECT_EQ(Expected("a2"), 0);
  EXPECT_EQ(Expected("b1"), 1);
  EXPECT_EQ(KeepingAway("b1"), 1);
}

TEST_F(ExpectedPeersTest, AreMeantBySelectorsAndTermsThatComeLater) {
  Submit(2, {}, AwayFrom({{App("web"), ""}}));  // A new term.
  const CountedTerm& by_machine = *TermsOf(2).anti_affinity[0];
  EXPECT_EQ(At("a1", by_machine, by_machine.expected), 1);
  Submit(3, {}, AwayFrom({{TasksOfJob("j*"), "zone"}}));  // A new selector.
  state_.SyncPeers();
  const CountedTerm& of_job = *TermsOf(3).anti_affinity[0];
  EXPECT_EQ(At("a1", of_job, of_job.expected), 1);
  EXPECT_EQ(Expected("a2"), 1);
  EXPECT_TRUE(state_.nominations().Contains({1}));
  state_.EndNomination({1});
  EXPECT_EQ(by_machine.expected.total(), 0);
  EXPECT_EQ(of_job.expected.total(), 0);
}

TEST_F(ExpectedPeersTest, AreForgottenWithTheTaskAndItsTerms) {
  Do(Removed(1));
  EXPECT_EQ(AboutWeb().expected.total(), 0);
  Do(Removed(9));
  state_.CollectRules();
  EXPECT_TRUE(state_.peers().empty());
}

TEST_F(ExpectedPeersTest, AreSuccessorsToComeOnceTheirPredecessorsAreGone) {
  Submit(2, kWeb, AwayFrom({{App("db"), "zone"}}));
  Run(2, "a2");
  state_.Migrate({2}, MachineOf("b1").id);
  DeliverAll();
  Do(Removed(2));
  state_.EndNomination({1});
  Do(Removed(1));
  state_.CollectRules();
  EXPECT_EQ(Expected("b1"), 1);
  const Tally& keeping_away = AboutWeb().keeping_away;
  EXPECT_EQ(keeping_away.total(), 0) << "9 waits";
  const SelectorSet& meaning = MeaningOf(9);
  ASSERT_EQ(meaning.size(), 1u) << "by the rules of the successor to come";
  const CountedTerm& about_db = *state_.peers().TermsAbout(meaning[0])[0];
  EXPECT_EQ(At("b1", about_db, about_db.keeping_away), 1);
  state_.EndSuccessions(0);
  state_.EndSuccessions(kSuccessorWaitMs);
  EXPECT_EQ(Expected("b1"), 0);
  state_.CollectRules();
  EXPECT_THAT(MeaningOf(9), IsEmpty());
}

// ---------------------------------------------------------------------------
// Who is meant

TEST_F(PeerTableTest, NewSelectorsMeanNobodyUntilTheyAreSynced) {
  Submit(1, kWeb);
  Run(1, "a1");
  Submit(2, kWeb, AwayFrom({{App("web"), "zone"}}));
  const CountedTerm& term = *TermsOf(2).anti_affinity[0];
  EXPECT_THAT(MeaningOf(1), IsEmpty());
  EXPECT_THAT(MeaningOf(2), IsEmpty());
  EXPECT_EQ(term.meant.total(), 0);
  state_.SyncPeers();
  EXPECT_THAT(MeaningOf(1), ElementsAre(term.selector));
  EXPECT_THAT(MeaningOf(2), ElementsAre(term.selector));
  EXPECT_EQ(Meant("a1", term), 1);
  EXPECT_EQ(state_.pending().begin()->first.meant_by, &MeaningOf(2))
      << "it waits in the class that it is of now";
}

TEST_F(PeerTableTest, ANewTermOfAKnownSelectorCountsAtOnce) {
  Submit(1, kWeb);
  Submit(2, {}, AwayFrom({{App("web"), "zone"}}));
  state_.SyncPeers();
  Run(1, "a1");
  state_.Preempt({1});
  Submit(3, {}, AwayFrom({{App("web"), ""}}));
  const CountedTerm& term = *TermsOf(3).anti_affinity[0];
  EXPECT_EQ(Meant("a1", term), 1);
  EXPECT_EQ(At("a1", term, term.leaving), 1);
}

TEST_F(PeerTableTest, ATaskDescribedAnewIsMeantByOthers) {
  Submit(1, kWeb);
  Submit(8, {}, AwayFrom({{App("web"), "zone"}}));
  Submit(9, {}, AwayFrom({{App("db"), "zone"}}));
  state_.SyncPeers();
  const CountedTerm& web = *TermsOf(8).anti_affinity[0];
  const CountedTerm& db = *TermsOf(9).anti_affinity[0];
  Update(1, kDb);
  EXPECT_THAT(MeaningOf(1), ElementsAre(db.selector));
  Place(1, "a1");
  Update(1, kWeb);
  EXPECT_THAT(MeaningOf(1), ElementsAre(web.selector));
  EXPECT_EQ(Meant("a1", web), 1);
  EXPECT_EQ(Meant("a1", db), 0);
}

// A term that comes with the new description of a task that it means itself.
TEST_F(PeerTableTest, ARunningTaskMayGetANewTermAboutItself) {
  Submit(1, kWeb, AwayFrom({{App("web"), "zone"}}));
  state_.SyncPeers();
  Run(1, "b1");
  Update(1, kWeb, AwayFrom({{App("web"), ""}}));
  const CountedTerm& term = *TermsOf(1).anti_affinity[0];
  EXPECT_EQ(Meant("b1", term), 1);
  EXPECT_EQ(At("b1", term, term.keeping_away), 1);
  EXPECT_EQ(term.meant.total(), 1);
}

TEST_F(PeerTableTest,
       ARunningTaskMayGetANewTermWhenTheFirstMachineIsForgotten) {
  Do(Removed("a1"));
  DepartMany(&state_);
  ASSERT_EQ(state_.FindMachine(MachineId{0}), nullptr);
  Submit(1, kWeb, AwayFrom({{App("web"), "zone"}}));
  state_.SyncPeers();
  Run(1, "b1");
  Update(1, kWeb, AwayFrom({{App("web"), ""}}));
  EXPECT_EQ(Meant("b1", *TermsOf(1).anti_affinity[0]), 1);
}

TEST_F(PeerTableTest, MeansByJobNamesAndNamespaces) {
  Submit(9, {},
         AwayFrom({{TasksOfJob("web-?"), ""},
                   {TasksOfJob("db"), ""},
                   {TasksWith({}, {"other"}), ""}}));
  state_.SyncPeers();
  const auto meaning = [&](uint64_t uid, const std::string& job,
                           const std::string& task_namespace) {
    Do(Submitted(uid, {.job = job}, {.task_namespace = task_namespace}));
    return MeaningOf(uid).size();
  };
  EXPECT_EQ(meaning(1, "web-1", kNamespace), 1u);
  EXPECT_EQ(meaning(2, "web-11", kNamespace), 0u);
  EXPECT_EQ(meaning(3, "db", kNamespace), 1u);
  EXPECT_EQ(meaning(4, "db", "other"), 2u);
  EXPECT_EQ(meaning(5, "dbs", "other"), 1u);
}

// ---------------------------------------------------------------------------
// Collect

TEST_F(PeerTableTest, ForgetsTermsThatNoRulesHaveOnceTheyAreCollected) {
  Submit(1, kWeb);
  Submit(2, {}, AwayFrom({{App("web"), "zone"}}));
  state_.SyncPeers();
  Run(1, "a1");
  EXPECT_FALSE(state_.peers().empty());
  const uint32_t selector = TermsOf(2).anti_affinity[0]->selector;
  Update(2, {});
  EXPECT_THAT(MeaningOf(1), ElementsAre(selector));
  state_.CollectRules();
  EXPECT_THAT(MeaningOf(1), IsEmpty());
  EXPECT_TRUE(state_.peers().empty());
  Update(2, {}, AwayFrom({{App("web"), "zone"}}));
  state_.SyncPeers();
  EXPECT_NE(TermsOf(2).anti_affinity[0]->selector, selector);
  EXPECT_EQ(Meant("a1", *TermsOf(2).anti_affinity[0]), 1);
}

TEST_F(PeerTableTest, KeepsTheSelectorOfATermThatGoesForAnotherThatStays) {
  Submit(1, kWeb);
  Submit(2, {}, AwayFrom({{App("web"), "zone"}}));
  Submit(3, {}, Near({{App("web"), ""}}));
  state_.SyncPeers();
  Run(1, "a1");
  Update(2, {});
  state_.CollectRules();
  const CountedTerm& term = *TermsOf(3).affinity[0];
  EXPECT_THAT(MeaningOf(1), ElementsAre(term.selector));
  EXPECT_THAT(state_.peers().TermsAbout(term.selector),
              ElementsAre(TermsOf(3).affinity[0]));
  EXPECT_EQ(Meant("a1", term), 1);
}

TEST_F(PeerTableTest, MovesWaitingTasksToTheClassOfThoseNobodyMeans) {
  Submit(1, kWeb);
  Submit(2, kWeb, AwayFrom({{App("web"), "zone"}}));
  state_.SyncPeers();
  Do(Removed(2));
  state_.CollectRules();
  ASSERT_EQ(state_.pending().size(), 1u);
  EXPECT_FALSE(state_.pending().begin()->first.IsBound());
}

// ---------------------------------------------------------------------------
// Whatever happens

// One tally, counted from scratch.
struct Counts {
  int64_t meant = 0;
  int64_t leaving = 0;
  int64_t keeping_away = 0;
  int64_t worth = 0;
  int64_t expected = 0;

  friend bool operator==(const Counts&, const Counts&) = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.meant << " meant, " << counts.leaving << " leaving, "
             << counts.keeping_away << " keeping away, worth " << counts.worth
             << ", " << counts.expected << " expected";
}

// Who the predecessors were when they were told to move, by succession.
using Predecessors = std::map<uint64_t, TaskIdentity>;

// Compares all terms of all tasks with what the tasks themselves say.
class Recount {
 public:
  Recount(const ClusterState& state, const Predecessors& predecessors)
      : state_(state), predecessors_(predecessors) {
    for (const auto& [id, task] : state.tasks()) {
      identities_[id] = {task->task_namespace,
                         InOrder(state.ToPairs(task->labels)),
                         task->namespace_labels, JobNameOf(*task)};
    }
  }

  // Expects that all is as it should be.  Returns how many were counted.
  Counts Compare() {
    for (const auto& [id, task] : state_.tasks()) {
      if (task->state != TaskState::kRemoved) CompareRules(*task);
    }
    return counted_;
  }

 private:
  std::string JobNameOf(const Task& task) const {
    const Job* job = state_.FindJob(task.job);
    return job == nullptr ? "" : job->name;
  }

  void CompareRules(const Task& task) {
    const PlacementRules& rules = *task.class_key.rules;
    const PeerTerms& terms = state_.peers().TermsOf(rules);
    std::vector<TaskSelector> all;
    for (const PeerTerm& term : rules.affinity) all.push_back(term.tasks);
    for (size_t i = 0; i < rules.affinity.size(); ++i) {
      const PeerTerm& term = rules.affinity[i];
      Compare(*terms.affinity[i], all, term.topology_key);
      Compare(*terms.given[i].term, {term.tasks}, term.topology_key);
    }
    for (size_t i = 0; i < rules.anti_affinity.size(); ++i) {
      const PeerTerm& term = rules.anti_affinity[i];
      Compare(*terms.anti_affinity[i], {term.tasks}, term.topology_key);
    }
    for (size_t i = 0; i < rules.preferred_peers.size(); ++i) {
      const PeerTerm& term = rules.preferred_peers[i].term;
      Compare(*terms.preferred[i].term, {term.tasks}, term.topology_key);
    }
    for (size_t i = 0; i < rules.spread.size(); ++i) {
      const PeerTerm& term = rules.spread[i].term;
      Compare(*terms.spread[i], {term.tasks}, term.topology_key);
      Compare(*terms.spread_by_machine[i], {term.tasks}, "");
    }
  }

  void Compare(const CountedTerm& term, const std::vector<TaskSelector>& all,
               const std::string& key) {
    for (const auto& [id, task] : state_.tasks()) {
      if (task->state == TaskState::kRemoved) continue;
      EXPECT_EQ(
          std::ranges::binary_search(*task->class_key.meant_by, term.selector),
          SelectsAll(all, identities_.at(id)))
          << "task " << id.value;
    }
    std::set<DomainIndex> domains;
    Counts total;
    for (const auto& [id, machine] : state_.machines()) {
      const DomainIndex domain = term.topology->DomainOf(id);
      EXPECT_EQ(domain == kNoDomain,
                !key.empty() && machine->FindLabel(key) == nullptr);
      const Counts expected = Count(*machine, all, key);
      EXPECT_EQ(At(term, domain), expected) << machine->uuid;
      if (!domains.insert(domain).second) continue;
      total.meant += expected.meant;
      total.leaving += expected.leaving;
      total.keeping_away += expected.keeping_away;
      total.worth += expected.worth;
      total.expected += expected.expected;
    }
    EXPECT_EQ((Counts{term.meant.total(), term.leaving.total(),
                      term.keeping_away.total(), term.worth.total(),
                      term.expected.total()}),
              total);
    counted_.meant += total.meant;
    counted_.expected += total.expected;
  }

  static Counts At(const CountedTerm& term, DomainIndex domain) {
    return {term.meant.At(domain), term.leaving.At(domain),
            term.keeping_away.At(domain), term.worth.At(domain),
            term.expected.At(domain)};
  }

  // Over the machine's domain.
  Counts Count(const Machine& machine, const std::vector<TaskSelector>& all,
               const std::string& key) const {
    Counts counts;
    for (const auto& [id, task] : state_.tasks()) {
      if (task->state != TaskState::kRunning ||
          !AreInOneDomain(machine, *state_.FindMachine(task->machine), key)) {
        continue;
      }
      if (SelectsAll(all, identities_.at(id))) {
        ++counts.meant;
        counts.leaving += task->is_evicted ? 1 : 0;
      }
      if (all.size() != 1) continue;
      const PlacementRules& rules = *task->class_key.rules;
      const PeerTerm term = {all.front(), key};
      counts.keeping_away += std::ranges::count(rules.anti_affinity, term);
      counts.worth += std::ranges::count(rules.affinity, term);
      for (const WeightedPeerTerm& preferred : rules.preferred_peers) {
        if (preferred.term == term) counts.worth += preferred.weight;
      }
    }
    const auto expect = [&](MachineId where, const TaskIdentity& identity,
                            const PlacementRules& rules) {
      if (!AreInOneDomain(machine, *state_.FindMachine(where), key)) return;
      if (SelectsAll(all, identity)) ++counts.expected;
      if (all.size() != 1) return;
      counts.keeping_away +=
          std::ranges::count(rules.anti_affinity, PeerTerm{all.front(), key});
    };
    for (const auto& [id, where] : state_.nominations().machines()) {
      expect(where, identities_.at(id), *state_.FindTask(id)->class_key.rules);
    }
    for (const auto& [sequence, one] :
         state_.nominations().successions().all()) {
      if (!one.machine.has_value()) continue;
      expect(*one.machine, predecessors_.at(sequence), *one.rules);
    }
    return counts;
  }

  static bool AreInOneDomain(const Machine& a, const Machine& b,
                             const std::string& key) {
    if (key.empty()) return a.id == b.id;
    const std::string* value = a.FindLabel(key);
    const std::string* other = b.FindLabel(key);
    return value != nullptr && other != nullptr && *value == *other;
  }

  const ClusterState& state_;
  const Predecessors& predecessors_;
  std::map<TaskId, TaskIdentity> identities_;
  Counts counted_;
};

// Keeps room for the one that has waited for longest, or for nobody any more.
void NominateOne(Rng* rng, ClusterState* state) {
  const auto& nominated = state->nominations().machines();
  if (!nominated.empty() && rng->Chance(1, 2)) {
    return state->EndNomination(nominated.begin()->first);
  }
  if (state->pending().empty()) return;
  const Task& task = *state->pending().begin()->second.begin()->second;
  for (const auto& [id, machine] : state->machines()) {
    if (machine->IsUsable() && rng->Chance(1, 2)) {
      return state->Nominate(task.id, id);
    }
  }
}

// Notes who the new predecessors are.
void NotePredecessors(const ClusterState& state, Predecessors* predecessors) {
  for (const auto& [sequence, one] : state.nominations().successions().all()) {
    if (!one.machine.has_value() || predecessors->contains(sequence)) continue;
    (*predecessors)[sequence] = *state.peers().FindIdentity(one.predecessor);
  }
}

// Takes back a placement that nobody knows of, if there is one.
void WithdrawOne(ClusterState* state) {
  for (const auto& [sequence, delta] : state->outbox()) {
    if (state->IsUntold(delta.task)) return state->Withdraw(delta.task);
  }
}

// Only what a task was described as last is known, so all submissions make
// sense.
Step NextStep(const ClusterState& state, RandomSteps* steps) {
  Step step = steps->Next(state);
  if (auto* command = std::get_if<Command>(&step)) {
    if (auto* submit = std::get_if<SubmitTask>(command)) {
      submit->spec.quarantine_reason.clear();
    }
  }
  return step;
}

TEST(PeerTableProperty, CountsAsFromScratch) {
  Counts counted;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    ClusterState state;
    RandomSteps steps(seed);
    Rng rng(seed);
    Predecessors predecessors;
    for (int step = 0; step < 100; ++step) {
      Take(NextStep(state, &steps), step, &state);
      NotePredecessors(state, &predecessors);
      if (rng.Chance(1, 10)) WithdrawOne(&state);
      if (rng.Chance(1, 5)) NominateOne(&rng, &state);
      if (rng.Chance(1, 10)) state.CollectRules();
      if (rng.Chance(1, 4)) {
        state.SyncPeers();
        const Counts more = Recount(state, predecessors).Compare();
        counted.meant += more.meant;
        counted.expected += more.expected;
      }
      ASSERT_FALSE(testing::Test::HasFailure())
          << "seed " << seed << ", step " << step;
    }
    ASSERT_EQ(FindContradiction(state), "");
  }
  EXPECT_GT(counted.meant, 10000) << "hardly anything is ever counted";
  EXPECT_GT(counted.expected, 1000) << "hardly anybody is ever expected";
}

}  // namespace
}  // namespace sluice
