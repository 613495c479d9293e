// Random lives of small clusters in which everything that a task may say comes
// together: groups of jobs, alternatives, caps, claims, companions, successors,
// rules that must hold as long as it runs, parts of machines, templates, tasks
// that run already, priorities that displace and tasks that run again.  The
// daemon is killed now and then, between a round and its reply, too.
//
// What each says is checked after each round by what it means, with no code of
// the scheduler.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "integration/messages.h"
#include "persist/memory_store.h"
#include "persist/records.h"
#include "persist/recovery.h"
#include "rpc/convert.h"
#include "util/cluster_builder.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int kSteps = 80;
constexpr uint64_t kMachines = 4;
constexpr uint64_t kTasks = 24;

// What a client knows of a task, in terms of its own.
struct Said {
  std::string job;
  std::string claim;
  bool is_apart = false;  // From others, by NUMA nodes.
  std::string alternative;
  uint64_t former = 0;       // That it replaces; 0: none.
  int32_t at_most = 0;       // Of its job in a zone.
  bool was_adopted = false;  // It was put where it is by its client.
};

class MixedLife {
 public:
  explicit MixedLife(uint64_t seed)
      : rng_(seed),
        options_(
            {.evicts_on_no_execute = rng_.Chance(1, 2),
             .requeues = {.from_failed_machines = rng_.Chance(1, 2),
                          .evicted = rng_.Chance(1, 2)},
             .preemption = {.mode = rng_.Chance(1, 2) ? Preemption::kPriority
                                                      : Preemption::kOff}}) {
    Begin();
    for (uint64_t m = 0; m < kMachines; ++m) AddMachine(m);
  }

  // What was wrong, or "".
  std::string Step() {
    switch (rng_.Below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        Submit(1 + rng_.Below(kTasks));
        break;
      case 4:
        Apply(Completed(AnyUid()));
        break;
      case 5:
        Apply(Failed(AnyUid()));
        break;
      case 6:
      case 7:
        Remove(AnyUid());
        break;
      case 8:
        RemoveMachineOf(rng_.Below(kMachines));
        break;
      case 9:
        AddMachine(rng_.Below(kMachines));
        break;
      case 10:
        Label(rng_.Below(kMachines));
        break;
      default:
        Kill();
    }
    return rng_.Chance(2, 3) ? Round() : "";
  }

  int64_t placed() const { return placed_; }

 private:
  static std::string UuidOf(uint64_t m) { return StrCat("m", m); }

  void Begin() {
    cluster_ = std::make_unique<TestScheduler>(options_);
    EXPECT_THAT(Recover(store_, &cluster_->mutable_state()), IsOk());
    Save();
  }
  void Save() {
    ClusterState& state = cluster_->mutable_state();
    if (!state.has_changes()) return;
    EXPECT_THAT(store_.Write(EncodeChanges(state, state.TakeChanges()),
                             Durability::kBuffered),
                IsOk());
  }
  void Apply(const Command& command) {
    cluster_->Apply(command, now_ms_);
    Save();
  }
  void Kill() {
    // What a round decided is stored, and perhaps nobody was told.
    if (rng_.Chance(1, 2)) cluster_->Round(++now_ms_);
    Save();
    Begin();
  }

  // A template's own among them.
  uint64_t AnyUid() {
    std::vector<uint64_t> known;
    for (const auto& [id, task] : cluster_->state().tasks()) {
      if (task->client.HoldsUid()) known.push_back(task->client.uid.value);
    }
    return known.empty() ? 1 : known[rng_.Below(known.size())];
  }
  void Remove(uint64_t uid) {
    Apply(Removed(uid));
    if (cluster_->state().FindHolder({uid}) == nullptr) said_.erase(uid);
  }

  void AddMachine(uint64_t m) {
    firmament::ResourceTopologyNodeDescriptor tree = NodeMessage(
        UuidOf(m), {.cpu = static_cast<float>(2000 + 1000 * (m % 2)),
                    .labels = {{"zone", StrCat(m % 2)}}});
    if (m % 2 == 1) {
      tree.clear_children();
      for (const int side : {0, 1}) AddNumaNode(m, side, &tree);
    }
    Faults faults;
    Apply(ToAddMachine(tree, 110, &faults));
  }
  static void AddNumaNode(uint64_t m, int side,
                          firmament::ResourceTopologyNodeDescriptor* tree) {
    const std::string uuid = StrCat(UuidOf(m), "-", side);
    firmament::ResourceTopologyNodeDescriptor* numa = tree->add_children();
    numa->mutable_resource_desc()->set_uuid(uuid);
    numa->mutable_resource_desc()->set_type(
        firmament::ResourceDescriptor::RESOURCE_NUMA_NODE);
    numa->mutable_resource_desc()->mutable_resource_capacity()->set_cpu_cores(
        1500);
    for (const int i : {0, 1}) {
      firmament::ResourceDescriptor* pu =
          numa->add_children()->mutable_resource_desc();
      pu->set_uuid(StrCat(uuid, "-", i));
      pu->mutable_resource_capacity()->set_cpu_cores(750);
    }
  }
  void RemoveMachineOf(uint64_t m) {
    RemoveMachine command = sluice::Removed(UuidOf(m));
    command.has_failed = rng_.Chance(1, 2);
    Apply(command);
  }
  void Label(uint64_t m) {
    UpdateMachine update;
    update.spec.uuid = UuidOf(m);
    update.spec.labels = {{"disk", rng_.Chance(1, 2) ? "ssd" : "hdd"},
                          {"zone", StrCat(m % 2)}};
    Apply(update);
  }

  void Submit(uint64_t uid) {
    if (cluster_->state().FindHolder({uid}) != nullptr) return;
    Said said;
    said.job = StrCat("job-", rng_.Below(4));
    TaskFields fields = {.cpu = static_cast<float>(100 * rng_.Between(1, 9)),
                         .job = said.job,
                         .labels = {{"app", said.job}},
                         .priority = static_cast<uint32_t>(rng_.Below(3))};
    // The jobs 0 and 1 are one group, and start by two.
    const bool is_grouped = said.job < "job-2";
    if (is_grouped) fields.gang_minimum = 2;
    if (rng_.Chance(1, 8)) fields.node_selector = {{"disk", "ssd"}};
    if (rng_.Chance(1, 8)) AddCompany(&fields);
    firmament::TaskDescription message = TaskMessage(uid, fields);
    if (is_grouped) message.mutable_job_descriptor()->set_gang_group("group");
    if (rng_.Chance(1, 4)) {
      message.mutable_job_descriptor()->set_on_failure(
          firmament::JobDescriptor::REQUEUE);
    }
    AddRules(message.mutable_task_descriptor(), &said);
    if (!is_grouped && rng_.Chance(1, 12)) {
      message.mutable_task_descriptor()->set_global(
          firmament::TaskDescriptor::TEMPLATE);
    } else if (rng_.Chance(1, 12)) {
      message.mutable_task_descriptor()->set_state(
          firmament::TaskDescriptor::RUNNING);
      message.mutable_task_descriptor()->set_scheduled_to_resource(
          UuidOf(rng_.Below(kMachines + 1)));
      said.was_adopted = true;
    }
    Faults faults;
    const auto command = ToSubmitTask(message, {}, &faults);
    ASSERT_THAT(command.status(), IsOk());
    said_[uid] = said;
    Apply(*command);
  }
  void AddCompany(TaskFields* fields) {
    auto* term = fields->pod_affinity
                     .add_requiredduringschedulingignoredduringexecution();
    term->set_topologykey("zone");
    (*term->mutable_labelselector()->mutable_match_labels_map())["app"] =
        StrCat("job-", rng_.Below(4));
  }
  void AddRules(firmament::TaskDescriptor* task, Said* said) {
    firmament::TaskRules* rules = task->mutable_rules();
    if (rng_.Chance(1, 6)) {
      said->claim = rng_.Chance(1, 2) ? "disk" : "volume";
      firmament::TaskRules::Claim* claim = rules->add_claims();
      claim->set_name(said->claim);
      claim->set_one_at_all(said->claim == "volume");
    }
    if (rng_.Chance(1, 6)) {
      said->alternative = "way";
      rules->add_alternatives()->set_name(said->alternative);
    }
    if (rng_.Chance(1, 6)) {
      rules->add_part_demands()->set_level(
          rng_.Chance(1, 2)
              ? firmament::TaskRules::PartDemand::NUMA_NODE
              : firmament::TaskRules::PartDemand::PROCESSING_UNIT);
    }
    if (rng_.Chance(1, 6)) {
      said->is_apart = rng_.Chance(1, 2);
      firmament::TaskRules::PartGroup* group = rules->add_part_groups();
      group->set_name(said->is_apart ? "apart" : "together");
      group->set_apart(said->is_apart);
    }
    if (rng_.Chance(1, 4)) {
      said->at_most = static_cast<int32_t>(rng_.Between(1, 2));
      firmament::DomainMaximum* maximum = task->add_domain_maximums();
      maximum->set_topologykey("zone");
      maximum->set_atmost(said->at_most);
    }
    if (rng_.Chance(1, 10)) {
      said->former = 1 + rng_.Below(kTasks);
      task->set_replaces(said->former);
      task->set_replaces_anywhere(rng_.Chance(1, 2));
    }
    task->set_node_affinity_during_execution(rng_.Chance(1, 4));
    task->set_pod_affinity_during_execution(rng_.Chance(1, 4));
  }

  std::string Round() {
    cluster_->Round(++now_ms_);
    Save();
    if (std::string wrong = FindContradiction(cluster_->state());
        !wrong.empty()) {
      return wrong;
    }
    const ScheduleReply reply = cluster_->Deliver();
    Save();
    std::set<uint64_t> came;
    for (const ScheduleReply::Entry& entry : reply.deltas) {
      // What is told again after a kill came before.
      const Task* task = TaskOf(entry.uid.value);
      if (entry.type != DeltaType::kPlace || task == nullptr ||
          task->placed_ms != now_ms_) {
        continue;
      }
      came.insert(entry.uid.value);
      ++placed_;
    }
    for (const auto& check :
         {&MixedLife::FindOvercommitment, &MixedLife::FindTwoOfOne,
          &MixedLife::FindTooMany}) {
      if (std::string wrong = (this->*check)(came); !wrong.empty())
        return wrong;
    }
    return "";
  }

  const Task* TaskOf(uint64_t uid) const {
    return cluster_->state().FindHolder({uid});
  }

  // Nothing comes where it does not fit.
  std::string FindOvercommitment(const std::set<uint64_t>& came) const {
    for (const uint64_t uid : came) {
      const Task* task = TaskOf(uid);
      if (task == nullptr || task->state != TaskState::kRunning) continue;
      const auto said = said_.find(uid);
      if (said != said_.end() && said->second.was_adopted) continue;
      const Machine& machine = *cluster_->state().FindMachine(task->machine);
      // Whom it replaces may be there until its client has stopped it.
      const Resources staying =
          machine.used - cluster_->state().nominations().LeavingFrom(machine);
      if (!staying.FitsIn(machine.allocatable)) {
        return StrCat(uid, " came to a machine that is full");
      }
    }
    return "";
  }

  int32_t NodeOf(const Task& task) const {
    const Machine& machine = *cluster_->state().FindMachine(task.machine);
    return task.pu == kNoPu
               ? -1
               : machine.pus[static_cast<size_t>(task.pu)].numa_node;
  }

  // Of those that leave their place is held, so they count for claims.
  std::string FindTwoOfOne(const std::set<uint64_t>& came) const {
    std::map<std::string, uint64_t> holders;
    for (const auto& [uid, said] : said_) {
      const Task* task = TaskOf(uid);
      if (task == nullptr || task->state != TaskState::kRunning) continue;
      std::vector<std::string> held;
      if (said.claim == "disk")
        held.push_back(StrCat("disk on ", task->machine.value));
      if (said.claim == "volume") held.push_back("volume");
      if (said.is_apart) {
        held.push_back(
            StrCat("node ", NodeOf(*task), " of ", task->machine.value));
      }
      if (!said.alternative.empty() && !task->is_evicted) {
        held.push_back(StrCat("way of ", said.job));
      }
      for (const std::string& one : held) {
        const auto [it, is_first] = holders.emplace(one, uid);
        const bool is_succession =
            !is_first &&
            (said.former == it->second || said_.at(it->second).former == uid);
        // Clients may have put two there.
        if (!is_first && !is_succession &&
            (came.contains(uid) || came.contains(it->second))) {
          return StrCat(uid, " and ", it->second, " both have the ", one);
        }
      }
    }
    return "";
  }

  std::string FindTooMany(const std::set<uint64_t>& came) const {
    std::map<std::pair<std::string, std::string>, int64_t> counts;
    const auto domain_of = [&](const Task& task) {
      return *cluster_->state().FindMachine(task.machine)->FindLabel("zone");
    };
    for (const auto& [uid, said] : said_) {
      const Task* task = TaskOf(uid);
      if (task == nullptr || task->state != TaskState::kRunning ||
          task->is_evicted) {
        continue;
      }
      ++counts[{said.job, domain_of(*task)}];
    }
    for (const uint64_t uid : came) {
      const Task* task = TaskOf(uid);
      const auto said = said_.find(uid);
      if (said == said_.end() || said->second.at_most == 0 || task == nullptr ||
          task->state != TaskState::kRunning || task->is_evicted) {
        continue;
      }
      // Others of its job that state none, or a higher one, may come after it.
      int64_t others = 0;
      for (const uint64_t other : came) {
        const auto it = said_.find(other);
        if (it != said_.end() && it->second.job == said->second.job &&
            (it->second.at_most == 0 ||
             it->second.at_most > said->second.at_most)) {
          ++others;
        }
      }
      if (counts[{said->second.job, domain_of(*task)}] - others >
          said->second.at_most) {
        return StrCat(uid, " is one of too many in its zone");
      }
    }
    return "";
  }

  Rng rng_;
  const RoundOptions options_;
  MemoryStore store_;
  std::unique_ptr<TestScheduler> cluster_;
  std::map<uint64_t, Said> said_;
  int64_t now_ms_ = 0;
  int64_t placed_ = 0;
};

TEST(MixedLife, HoldsToAllThatIsSaid) {
  constexpr uint64_t kSeeds = SeedCount(200);
  int64_t placed = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    MixedLife life(seed);
    for (int i = 0; i < kSteps; ++i) {
      ASSERT_EQ(life.Step(), "") << "seed " << seed << ", step " << i;
    }
    placed += life.placed();
  }
  EXPECT_GT(placed, 5 * kSeeds) << "the lives place too little to mean much";
}

}  // namespace
}  // namespace sluice
