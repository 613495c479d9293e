// What the design documents ask of tasks that stand together or instead of each
// other, over real gRPC, with a daemon that keeps its state over restarts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "integration/kept_daemon.h"
#include "integration/messages.h"

namespace sluice {
namespace {

using firmament::TaskDescription;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class DocumentsOverGrpc : public KeptDaemonTest {
 protected:
  DocumentsOverGrpc() { Start(); }

  void AddNode(const std::string& uuid, float cpu,
               const std::string& zone = "z") {
    client_->AddNode(
        NodeMessage(uuid, {.cpu = cpu, .labels = {{"zone", zone}}}));
  }
  std::vector<std::string> Told() { return client_->ScheduleTexts(); }
  std::string Explained(uint64_t uid) {
    return client_->Explain(uid).summary();
  }
};

// ---------------------------------------------------------------------------
// Replaces

TaskDescription InPlaceOf(uint64_t former, uint64_t uid, float cpu) {
  TaskDescription task = TaskMessage(uid, {.cpu = cpu});
  task.mutable_task_descriptor()->set_replaces(former);
  return task;
}

TEST_F(DocumentsOverGrpc, ANewcomerWaitsForThePlaceOfItsFormer) {
  AddNode("m", 1000);
  client_->Submit(TaskMessage(1, {.cpu = 1000}));
  ASSERT_THAT(Told(), ElementsAre("PLACE 1 m-pu"));
  client_->Submit(InPlaceOf(1, 2, 1500));
  AddNode("large", 2000);
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_THAT(Explained(2), HasSubstr("waits for the place of task 1"));
  Start();
  EXPECT_THAT(Told(), IsEmpty()) << "it waits after a restart, too";
  TaskDescription elsewhere = InPlaceOf(1, 2, 1500);
  elsewhere.mutable_task_descriptor()->set_replaces_anywhere(true);
  client_->Update(elsewhere);
  EXPECT_THAT(Told(), ElementsAre("PLACE 2 large-pu", "PREEMPT 1 m-pu"));
}

TEST_F(DocumentsOverGrpc, OfTwoThatWaitTheNewcomerIsPlaced) {
  client_->Submit(TaskMessage(1, {.cpu = 1000}));
  client_->Submit(InPlaceOf(1, 2, 1000));
  AddNode("m", 4000);
  EXPECT_THAT(Told(), ElementsAre("PLACE 2 m-pu"));
  EXPECT_THAT(Explained(1),
              HasSubstr("is to run in its place, and runs on machine 'm'"));
  client_->Remove(2);
  EXPECT_THAT(Told(), ElementsAre("PLACE 1 m-pu"));
}

TEST_F(DocumentsOverGrpc, ReplacesAnywhereOfNobodyIsAFault) {
  AddNode("m", 1000);
  TaskDescription task = TaskMessage(1, {.cpu = 1000});
  task.mutable_task_descriptor()->set_replaces_anywhere(true);
  client_->Submit(task);
  EXPECT_THAT(Told(), ElementsAre("PLACE 1 m-pu"));
}

// ---------------------------------------------------------------------------
// Groups of jobs

TaskDescription OfGroup(uint64_t uid, const std::string& job, uint64_t minimum,
                        float cpu = 1000) {
  TaskDescription task = TaskMessage(uid, {.cpu = cpu, .job = job});
  firmament::JobDescriptor* descriptor = task.mutable_job_descriptor();
  descriptor->set_is_gang_scheduling_job(true);
  descriptor->set_min_number_of_tasks(minimum);
  descriptor->set_gang_group("shop");
  return task;
}

TEST_F(DocumentsOverGrpc, JobsOfAGroupStartTogetherOrNotAtAll) {
  AddNode("m", 2000);
  client_->Submit(OfGroup(1, "web", 0));
  client_->Submit(OfGroup(2, "web", 0));
  client_->Submit(OfGroup(3, "db", 0));
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_THAT(Explained(3), HasSubstr("all 3 start together"));
  Start();
  EXPECT_THAT(Told(), IsEmpty());
  AddNode("n", 1000);
  EXPECT_THAT(Told(), SizeIs(3));
}

TEST_F(DocumentsOverGrpc, AGroupThatIsSmallerThanItsMinimumSaysSo) {
  AddNode("m", 8000);
  client_->Submit(OfGroup(1, "web", 3));
  client_->Submit(OfGroup(2, "db", 3));
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_THAT(Explained(1), HasSubstr("waits for more tasks of its gang: 3 "
                                      "start together, and 2 wait"));
}

TEST_F(DocumentsOverGrpc, AGroupWithoutAGangIsQuarantined) {
  TaskDescription task = TaskMessage(1, {.cpu = 1000});
  task.mutable_job_descriptor()->set_gang_group("shop");
  client_->Submit(task);
  EXPECT_THAT(Explained(1),
              HasSubstr("gang_group: requires is_gang_scheduling_job"));
}

// ---------------------------------------------------------------------------
// Claims

TEST_F(DocumentsOverGrpc, OneTaskAtATimeHoldsAClaim) {
  AddNode("m", 4000);
  AddNode("n", 4000);
  const auto submit = [this](uint64_t uid, bool one_at_all) {
    TaskDescription task =
        TaskMessage(uid, {.cpu = 100, .job = StrCat("job-", uid)});
    auto* claim = task.mutable_task_descriptor()->mutable_rules()->add_claims();
    claim->set_name(one_at_all ? "volume" : "disk");
    claim->set_one_at_all(one_at_all);
    client_->Submit(task);
  };
  for (const uint64_t uid : {1, 2, 3}) submit(uid, /*one_at_all=*/false);
  EXPECT_THAT(Told(), SizeIs(2)) << "one on each machine";
  for (const uint64_t uid : {4, 5}) submit(uid, /*one_at_all=*/true);
  EXPECT_THAT(Told(), SizeIs(1)) << "one at all";
  Start();
  EXPECT_THAT(Told(), IsEmpty());
}

// ---------------------------------------------------------------------------
// Required during execution

TEST_F(DocumentsOverGrpc, ATaskLeavesWhereWhatItRequiresHoldsNoMore) {
  AddNode("m", 4000, "a");
  TaskDescription lax = TaskMessage(1, {.cpu = 1000});
  lax.mutable_task_descriptor()->add_machine_metadata("zone=a");
  TaskDescription strict = TaskMessage(2, {.cpu = 1000});
  strict.mutable_task_descriptor()->add_machine_metadata("zone=a");
  strict.mutable_task_descriptor()->set_node_affinity_during_execution(true);
  client_->Submit(lax);
  client_->Submit(strict);
  ASSERT_THAT(Told(), SizeIs(2));
  client_->UpdateNode(
      NodeMessage("m", {.cpu = 4000, .labels = {{"zone", "b"}}}));
  EXPECT_THAT(Told(), ElementsAre("PREEMPT 2 m-pu"));
  EXPECT_THAT(Explained(2), HasSubstr("lacks the label zone=a"));
  Start();
  EXPECT_THAT(Told(), IsEmpty()) << "it is told once";
}

// ---------------------------------------------------------------------------
// The use case of the document on affinity (section 6): at most r instances in
// a zone, there on the node with the most free resources.

TaskDescription Instance(uint64_t uid, int32_t most) {
  TaskDescription task = TaskMessage(uid, {.cpu = 100, .job = "app"});
  firmament::DomainMaximum* maximum =
      task.mutable_task_descriptor()->add_domain_maximums();
  maximum->set_topologykey("zone");
  maximum->set_atmost(most);
  // Else the emptier zone.
  firmament::TopologySpreadConstraint* spread =
      task.mutable_task_descriptor()->add_topology_spread_constraints();
  spread->set_maxskew(1);
  spread->set_topologykey("zone");
  spread->set_whenunsatisfiable("ScheduleAnyway");
  (*task.mutable_task_descriptor()->mutable_labels()).Clear();
  firmament::Label* label = task.mutable_task_descriptor()->add_labels();
  label->set_key("app");
  label->set_value("app");
  (*spread->mutable_labelselector()->mutable_match_labels_map())["app"] = "app";
  return task;
}

class UseCase : public DocumentsOverGrpc,
                public testing::WithParamInterface<int> {};

TEST_P(UseCase, AtMostSoManyInAZoneAndThereWhereMostIsFree) {
  constexpr int kZones = 3;
  const int machines = GetParam();
  // In each zone one machine has the most.
  for (int i = 0; i < machines; ++i) {
    AddNode(StrCat("m", i), i < kZones ? 16000 : 4000, StrCat("z", i % kZones));
  }
  uint64_t uid = 0;
  for (const int most : {1, 2, 3}) {
    SCOPED_TRACE(StrCat("at most ", most));
    const uint64_t first = uid + 1;
    // One by one: each goes to the emptiest zone.
    std::map<int, int> of_zone;
    for (int i = 0; i < kZones * most; ++i) {
      client_->Submit(Instance(++uid, most));
      const auto places = PlacesOf(client_->Schedule());
      ASSERT_THAT(places, SizeIs(1));
      const std::string& pu = places.begin()->second;
      const int machine = std::stoi(pu.substr(1));
      // A job's tasks share no machine where nobody prefers otherwise.
      if (i < kZones) {
        EXPECT_LT(machine, kZones) << "where the most is free";
      }
      ++of_zone[machine % kZones];
    }
    EXPECT_THAT(of_zone,
                ElementsAre(Pair(0, most), Pair(1, most), Pair(2, most)));
    client_->Submit(Instance(++uid, most));
    EXPECT_THAT(Told(), IsEmpty());
    EXPECT_THAT(Explained(uid), HasSubstr("zone"));
    for (uint64_t id = first; id <= uid; ++id) client_->Remove(id);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, UseCase, testing::Values(12, 3000));

// ---------------------------------------------------------------------------
// Companions

// In a zone with a task of that app.
firmament::PodAffinity Near(const std::string& app) {
  firmament::PodAffinity affinity;
  auto* term = affinity.add_requiredduringschedulingignoredduringexecution();
  term->set_topologykey("zone");
  (*term->mutable_labelselector()->mutable_match_labels_map())["app"] = app;
  return affinity;
}

TEST_F(DocumentsOverGrpc, TasksThatMustBeNearEachOtherStartTogetherOrNotAtAll) {
  AddNode("m1", 2000, "a");
  AddNode("m2", 2000, "b");
  client_->Submit(TaskMessage(1, {.cpu = 2000,
                                  .job = "db",
                                  .labels = {{"app", "db"}},
                                  .pod_affinity = Near("cache")}));
  EXPECT_THAT(Told(), IsEmpty()) << "there is nothing to be near";
  client_->Submit(TaskMessage(2, {.cpu = 1000,
                                  .job = "cache",
                                  .labels = {{"app", "cache"}},
                                  .pod_affinity = Near("db")}));
  EXPECT_THAT(Told(), IsEmpty()) << "no zone has room for both";
  Start();
  AddNode("m3", 1000, "b");
  EXPECT_THAT(Told(), UnorderedElementsAre("PLACE 1 m2-pu", "PLACE 2 m3-pu"));
}

// Its company went with a machine that failed, and runs elsewhere now.
TEST_F(DocumentsOverGrpc, ATaskLeavesWhereAMachineThatFailedTookItsCompany) {
  Options options = MiniServer::OptionsFor(ReplyMode::kContract);
  options.requeues.from_failed_machines = true;
  Start(options);
  AddNode("m", 1000, "a");
  client_->Submit(TaskMessage(1, {.cpu = 1000, .labels = {{"app", "db"}}}));
  ASSERT_THAT(Told(), ElementsAre("PLACE 1 m-pu"));
  AddNode("n", 1000, "a");
  TaskDescription follower =
      TaskMessage(2, {.cpu = 1000, .job = "web", .pod_affinity = Near("db")});
  follower.mutable_task_descriptor()->set_pod_affinity_during_execution(true);
  client_->Submit(follower);
  ASSERT_THAT(Told(), ElementsAre("PLACE 2 n-pu"));
  AddNode("o", 1000, "b");
  client_->FailNode("m");
  std::vector<std::string> told = Told();
  const std::vector<std::string> later = Told();
  told.insert(told.end(), later.begin(), later.end());
  EXPECT_THAT(told, UnorderedElementsAre("PLACE 1 o-pu", "PREEMPT 2 n-pu"));
}

// A service whose tasks are to be on machines that agree in a label.
TEST_F(DocumentsOverGrpc, TasksOfAServiceAgreeInALabelOfTheirMachines) {
  for (const char* zone : {"a", "b"}) {
    for (const int i : {1, 2}) AddNode(StrCat(zone, i), 1000, zone);
  }
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    client_->Submit(TaskMessage(uid, {.cpu = 1000,
                                      .job = "shop",
                                      .labels = {{"app", "shop"}},
                                      .pod_affinity = Near("shop")}));
  }
  const auto places = PlacesOf(client_->Schedule());
  ASSERT_THAT(places, SizeIs(2)) << "as many as one zone has room for";
  std::set<char> zones;
  for (const auto& [uid, resource] : places) zones.insert(resource.front());
  EXPECT_THAT(zones, SizeIs(1));
}

// What a machine may attach is an amount like others.
TEST_F(DocumentsOverGrpc, NoMoreVolumesAreAttachedThanAMachineMayHave) {
  const std::string volumes = "attachable-volumes-aws-ebs";
  firmament::ResourceTopologyNodeDescriptor node = NodeMessage("m");
  firmament::ResourceVector* offered =
      node.mutable_resource_desc()->mutable_available_resources();
  (*offered->mutable_extended_resources())[volumes] = 2;
  client_->AddNode(node);
  client_->AddNode(NodeMessage("without"));
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    TaskDescription task = TaskMessage(uid, {.cpu = 100});
    (*task.mutable_task_descriptor()
          ->mutable_resource_request()
          ->mutable_extended_resources())[volumes] = 1;
    client_->Submit(task);
  }
  EXPECT_THAT(Told(), SizeIs(2));
  EXPECT_THAT(Explained(3), HasSubstr(StrCat("2 insufficient ", volumes)));
}

// ---------------------------------------------------------------------------
// Contradictions

TEST_F(DocumentsOverGrpc, ACapOfZeroIsNotStatedAndCountsAsOne) {
  AddNode("m", 4000);
  for (const uint64_t uid : {1, 2}) {
    TaskDescription task = TaskMessage(uid, {.cpu = 100, .job = "web"});
    auto* cap = task.mutable_task_descriptor()->add_domain_maximums();
    cap->set_topologykey("zone");
    cap->set_atmost(0);
    client_->Submit(task);
  }
  EXPECT_THAT(Told(), SizeIs(1));
}

TEST_F(DocumentsOverGrpc, AnAlternativeThatIsNamedTwiceIsOne) {
  AddNode("m", 4000);
  for (const uint64_t uid : {1, 2}) {
    TaskDescription task = TaskMessage(uid, {.cpu = 100, .job = "web"});
    auto* rules = task.mutable_task_descriptor()->mutable_rules();
    rules->add_alternatives()->set_name("size");
    rules->add_alternatives()->set_name("size");
    client_->Submit(task);
  }
  EXPECT_THAT(Told(), SizeIs(1));
}

using Change = void (*)(TaskDescription*);

struct Contradiction {
  const char* name;
  Change change;
  const char* told;  // Among what `explain` says of the task.
};

class ContradictionOverGrpc
    : public DocumentsOverGrpc,
      public testing::WithParamInterface<Contradiction> {};

// It waits, and says what is wrong with it, before a restart and after.
TEST_P(ContradictionOverGrpc, IsKeptAndExplained) {
  AddNode("m", 4000);
  TaskDescription task = TaskMessage(1, {.cpu = 100});
  GetParam().change(&task);
  client_->Submit(task);
  client_->Submit(TaskMessage(2, {.cpu = 100, .job = "other"}));
  EXPECT_THAT(Told(), ElementsAre("PLACE 2 m-pu")) << "others go on";
  EXPECT_THAT(Explained(1), HasSubstr(GetParam().told));
  Start();
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_THAT(Explained(1), HasSubstr(GetParam().told));
  client_->Update(TaskMessage(1, {.cpu = 100}));
  EXPECT_THAT(Told(), ElementsAre("PLACE 1 m-pu")) << "once it is mended";
}

INSTANTIATE_TEST_SUITE_P(
    All, ContradictionOverGrpc,
    testing::Values(
        Contradiction{
            "CapBelowZero",
            [](TaskDescription* task) {
              auto* cap =
                  task->mutable_task_descriptor()->add_domain_maximums();
              cap->set_topologykey("zone");
              cap->set_atmost(-1);
            },
            "atMost: -1 < 0"},
        Contradiction{
            "MinimumBelowZero",
            [](TaskDescription* task) {
              auto* minimum =
                  task->mutable_task_descriptor()->add_domain_minimums();
              minimum->set_topologykey("zone");
              minimum->set_atleast(-1);
            },
            "atLeast: -1 < 0"},
        Contradiction{"AlternativeWithoutName",
                      [](TaskDescription* task) {
                        task->mutable_task_descriptor()
                            ->mutable_rules()
                            ->add_alternatives();
                      },
                      "alternatives: name: is empty"},
        Contradiction{
            "ClaimWithoutName",
            [](TaskDescription* task) {
              task->mutable_task_descriptor()->mutable_rules()->add_claims();
            },
            "claims: name: is empty"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace sluice
