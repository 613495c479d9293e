// What we added to the contract, in the format of wire_contract_test.cc.

#ifndef SLUICE_TESTS_UNIT_RPC_WIRE_EXTENSIONS_H_
#define SLUICE_TESTS_UNIT_RPC_WIRE_EXTENSIONS_H_

#include <string_view>

namespace sluice {

inline constexpr std::string_view kExtensions = R"(
# resource_vector.proto
message ResourceVector
  1000 map<string, int64> extended_resources
# node_affinity.proto
message NodeSelectorTerm
  1000 repeated NodeSelectorRequirement matchFields
# task_desc.proto
message HostPort
  1 string protocol
  2 string address
  3 int32 port
message TopologySpreadConstraint
  1 string topologyKey
  2 int32 maxSkew
  3 string whenUnsatisfiable
  4 PodLabelSelector labelSelector
  5 int32 minDomains
  6 string nodeAffinityPolicy
  7 string nodeTaintsPolicy
  8 repeated string matchLabelKeys
message DomainMinimum
  1 string topologyKey
  2 int32 atLeast
  3 PodLabelSelector labelSelector
message DomainMaximum
  1 string topologyKey
  2 int32 atMost
  3 PodLabelSelector labelSelector
message TaskRules
message TaskDescriptor
  1000 repeated HostPort host_ports
  1001 repeated TopologySpreadConstraint topology_spread_constraints
  1002 map<string, string> namespace_labels
  1003 string machine_id
  1004 repeated string machine_metadata
  1005 repeated string conflicts
  1006 TaskDescriptor.Global global
  1007 uint64 replaces
  1008 repeated string machine_of
  1009 TaskDescriptor.PreemptionPolicy preemption_policy
  1010 int32 preemption_cost
  1011 repeated DomainMinimum domain_minimums
  1012 repeated DomainMaximum domain_maximums
  1013 TaskRules rules
  1014 bool replaces_anywhere
  1015 bool node_affinity_during_execution
  1016 bool pod_affinity_during_execution
enum TaskDescriptor.Global
  0 NOT_GLOBAL
  1 ONE_A_MACHINE
  2 EVERYWHERE_AT_ONCE
  3 TEMPLATE
enum TaskDescriptor.PreemptionPolicy
  0 PREEMPT_LOWER_PRIORITY
  1 NEVER
# job_desc.proto
message DisruptionBudget
  1 string namespace
  2 PodLabelSelector labelSelector
  3 string min_available
  4 string max_unavailable
  5 int64 expected
  6 int64 allowed
message JobDescriptor
  1000 int64 gang_timeout_seconds
  1001 DisruptionBudget disruption_budget
  1002 JobDescriptor.OnFailure on_failure
  1003 int32 failures_max
  1004 int32 backoff_seconds
  1005 string gang_group
enum JobDescriptor.OnFailure
  0 UNSET
  1 REQUEUE
  2 NEVER
# pod_affinity.proto
message PodLabelSelector
  1000 map<string, string> match_labels_map
message PodAffinityTerm
  1000 PodLabelSelector namespaceSelector
  1001 repeated string matchLabelKeys
  1002 repeated string mismatchLabelKeys
# pod_anti_affinity.proto
message LabelSelectorAntiAff
  1000 map<string, string> match_labels_map
message PodAffinityTermAntiAff
  1000 LabelSelectorAntiAff namespaceSelector
  1001 repeated string matchLabelKeys
  1002 repeated string mismatchLabelKeys
# resource_desc.proto
message MachineCondition
  1 string type
  2 string status
message ResourceDescriptor
  1000 bool unschedulable
  1001 repeated MachineCondition conditions
# scheduling_delta.proto
message SchedulingDelta
  1000 uint64 template_id
enum SchedulingDelta.ChangeType
  1000 CREATE
# firmament_scheduler.proto
message TaskUID
  1000 TaskFinalReport final_report
)";

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_RPC_WIRE_EXTENSIONS_H_
