#include "cli/bench/bench_profiles.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/strings.h"
#include "firmament/label.pb.h"
#include "glog/logging.h"

namespace sluice {
namespace {

using Demand = BenchProfile::Demand;

constexpr const char* kZoneKey = "topology.kubernetes.io/zone";
constexpr const char* kHostKey = "kubernetes.io/hostname";
constexpr const char* kAppKey = "app";
// The label of the namespaces if there are several.
constexpr const char* kTeamKey = "team";
constexpr const char* kTeam = "devops";
constexpr int32_t kMaxSkew = 5;

constexpr BenchProfile kProfiles[] = {
    {.name = "basic",
     .help = "A task runs wherever it fits.",
     .size = {.machine_count = 1000, .task_count = 10'000, .class_count = 10}},
    {.name = "node_affinity",
     .help = "A task requires a machine in zone1; every second one is there.",
     .model = "scheduler_perf's SchedulingNodeAffinity",
     .size = {.machine_count = 5000, .task_count = 10'000, .class_count = 10},
     .demand = Demand::kFirstZone,
     .zone_count = 2},
    {.name = "pod_affinity",
     .help = "A task requires the zone of its peers; there is one zone.",
     .model = "scheduler_perf's SchedulingPodAffinity",
     .size = {.machine_count = 5000, .task_count = 5000, .class_count = 1},
     .demand = Demand::kPeerAffinity},
    {.name = "pod_anti_affinity",
     .help = "A task requires a host without a peer.",
     .model = "scheduler_perf's SchedulingPodAntiAffinity",
     .size = {.machine_count = 5000, .task_count = 2000, .class_count = 1},
     .demand = Demand::kPeerAntiAffinity},
    {.name = "topology_spreading",
     .help = "Peers are spread over 3 zones with a skew of 5 at most.",
     .model = "scheduler_perf's TopologySpreading",
     .size = {.machine_count = 5000, .task_count = 5000, .class_count = 1},
     .demand = Demand::kPeerSpread,
     .zone_count = 3},
    {.name = "namespace_anti_affinity",
     .help = "A task requires a host without a peer of any of 100 namespaces.",
     .model =
         "scheduler_perf's SchedulingRequiredPodAntiAffinityWithNSSelector",
     .size = {.machine_count = 6000, .task_count = 2000, .class_count = 1},
     .demand = Demand::kPeerAntiAffinity,
     .namespace_count = 100},
    {.name = "bridge_affinity",
     .help = "A task requires the zone of its peers; there are 4 zones.",
     .model = "the size of the Poseidon bridge's benchmark",
     .size = {.machine_count = 200, .task_count = 3600, .class_count = 36},
     .demand = Demand::kPeerAffinity,
     .zone_count = 4},
    {.name = "bridge_anti_affinity",
     .help = "A task requires a host without a peer.",
     .model = "the size of the Poseidon bridge's benchmark",
     .size = {.machine_count = 200, .task_count = 3600, .class_count = 36},
     .demand = Demand::kPeerAntiAffinity},
    {.name = "preemption",
     .help = "A task displaces three of the four that fill a machine.",
     .model = "scheduler_perf's PreemptionBasic",
     .size = {.machine_count = 5000, .task_count = 5000, .class_count = 1},
     .fillers_per_machine = 4},
};

int64_t DivideUp(int64_t dividend, int64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

// Makes a requirement on a node, a pod or a namespace hold for one value.
template <class Requirement>
void RequireLabel(const std::string& key, const std::string& value,
                  Requirement* requirement) {
  requirement->set_key(key);
  requirement->set_operator_("In");
  requirement->add_values(value);
}

template <class Selector>
void SelectPeers(const firmament::TaskDescriptor& task, Selector* selector) {
  RequireLabel(kAppKey, task.job_id(), selector->add_matchexpressions());
}

// Fills a term of pod affinity or anti-affinity.
template <class Term>
void DescribeTerm(const BenchProfile& profile,
                  const firmament::TaskDescriptor& task, const char* topology,
                  Term* term) {
  SelectPeers(task, term->mutable_labelselector());
  if (profile.namespace_count > 1) {
    RequireLabel(kTeamKey, kTeam,
                 term->mutable_namespaceselector()->add_matchexpressions());
  }
  term->set_topologykey(topology);
}

void AddLabel(const std::string& key, const std::string& value,
              firmament::Label* label) {
  label->set_key(key);
  label->set_value(value);
}

std::string Zone(int64_t index) { return StrCat("zone", index + 1); }

}  // namespace

std::span<const BenchProfile> BenchProfiles() { return kProfiles; }

const BenchProfile& FindBenchProfile(std::string_view name) {
  const auto* const found =
      std::ranges::find(kProfiles, name, &BenchProfile::name);
  CHECK(found != std::end(kProfiles)) << "no profile " << name;
  return *found;
}

std::optional<int64_t> TasksPerMachine(const BenchProfile& profile,
                                       const BenchSize& size) {
  if (profile.Preempts()) {
    if (size.task_count > size.machine_count) return std::nullopt;
    return 2 * profile.fillers_per_machine;
  }
  const int64_t zone_count = std::min(profile.zone_count, size.machine_count);
  const int64_t smallest_zone = size.machine_count / zone_count;
  const int64_t class_size = DivideUp(size.task_count, size.class_count);
  switch (profile.demand) {
    case Demand::kNothing:
      break;
    case Demand::kFirstZone:
      return DivideUp(size.task_count,
                      DivideUp(size.machine_count, zone_count));
    case Demand::kPeerAffinity:
      return DivideUp(DivideUp(size.class_count, zone_count) * class_size,
                      smallest_zone);
    case Demand::kPeerAntiAffinity:
      if (class_size > size.machine_count) return std::nullopt;
      break;
    case Demand::kPeerSpread:
      return DivideUp(DivideUp(size.task_count, zone_count), smallest_zone);
  }
  return DivideUp(size.task_count, size.machine_count);
}

void DescribeMachine(const BenchProfile& profile, int64_t index,
                     firmament::ResourceDescriptor* machine) {
  if (profile.demand == Demand::kNothing) return;
  AddLabel(kZoneKey, Zone(index % profile.zone_count), machine->add_labels());
  if (!profile.HasPeers()) return;
  AddLabel(kHostKey, machine->uuid(), machine->add_labels());
}

void DescribeTask(const BenchProfile& profile, int64_t index,
                  firmament::TaskDescriptor* task) {
  task->set_namespace_("bench");
  if (profile.namespace_count > 1) {
    task->set_namespace_(StrCat("bench-", index % profile.namespace_count + 1));
    (*task->mutable_namespace_labels())[kTeamKey] = kTeam;
  }
  if (profile.HasPeers()) {
    AddLabel(kAppKey, task->job_id(), task->add_labels());
  }
  switch (profile.demand) {
    case Demand::kNothing:
      break;
    case Demand::kFirstZone:
      RequireLabel(
          kZoneKey, Zone(0),
          task->mutable_affinity()
              ->mutable_node_affinity()
              ->mutable_requiredduringschedulingignoredduringexecution()
              ->add_nodeselectorterms()
              ->add_matchexpressions());
      break;
    case Demand::kPeerAffinity:
      DescribeTerm(profile, *task, kZoneKey,
                   task->mutable_affinity()
                       ->mutable_pod_affinity()
                       ->add_requiredduringschedulingignoredduringexecution());
      break;
    case Demand::kPeerAntiAffinity:
      DescribeTerm(profile, *task, kHostKey,
                   task->mutable_affinity()
                       ->mutable_pod_anti_affinity()
                       ->add_requiredduringschedulingignoredduringexecution());
      break;
    case Demand::kPeerSpread: {
      firmament::TopologySpreadConstraint& spread =
          *task->add_topology_spread_constraints();
      SelectPeers(*task, spread.mutable_labelselector());
      spread.set_topologykey(kZoneKey);
      spread.set_maxskew(kMaxSkew);
      spread.set_whenunsatisfiable("DoNotSchedule");
      break;
    }
  }
}

}  // namespace sluice
