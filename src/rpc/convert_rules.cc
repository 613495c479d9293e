#include "rpc/convert_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "constraints/label_match.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "messages/fields.h"
#include "rpc/checks.h"
#include "rpc/convert_requirements.h"

namespace sluice {
namespace {

using firmament::LabelSelector;
using firmament::NodeSelectorRequirement;
using firmament::ResourceDescriptor;
using firmament::TaskDescriptor;
using google::protobuf::FieldDescriptor;

constexpr int kPreferredWeightMax = 100;
constexpr int kPortMax = 65535;

// ---------------------------------------------------------------------------
// Requirements

absl::StatusOr<std::vector<LabelRequirement>> ToRequirements(
    std::string_view what,
    const google::protobuf::RepeatedPtrField<NodeSelectorRequirement>& messages,
    RequirementOn on, Faults* faults) {
  Ascending<LabelRequirement> requirements(what, kRequirementsMax);
  for (const NodeSelectorRequirement& message : messages) {
    ASSIGN_OR_RETURN(LabelRequirement requirement,
                     ToRequirement(Given(message.key(), message.operator_(),
                                         message.values()),
                                   on, faults));
    RETURN_IF_ERROR(requirements.Add(std::move(requirement)));
  }
  return requirements.Take();
}

// The node selector, and machine_metadata.
absl::StatusOr<std::vector<LabelRequirement>> ToSelectors(
    const TaskDescriptor& task, Faults* faults) {
  Ascending<LabelRequirement> selectors("label_selectors and machine_metadata",
                                        kRequirementsMax);
  const auto add = [&](const GivenRequirement& given) {
    absl::StatusOr<LabelRequirement> selector =
        ToRequirement(given, RequirementOn::kMachineLabel, faults);
    return selector.ok() ? selectors.Add(*std::move(selector))
                         : selector.status();
  };
  for (const LabelSelector& message : task.label_selectors()) {
    RETURN_IF_ERROR(add(Given(message)));
  }
  std::map<std::string, RepeatedText> metadata;
  for (const std::string& text : task.machine_metadata()) {
    const size_t equals = text.find('=');
    if (equals != std::string::npos) {
      *metadata[text.substr(0, equals)].Add() = text.substr(equals + 1);
      continue;
    }
    RETURN_IF_ERROR(CheckSize("machine_metadata", text, kLabelBytesMax));
    std::string wrong = "machine_metadata without '='";
    faults->Add(StrCat("requirement on ", Quoted(text), ": ", wrong));
    RETURN_IF_ERROR(
        selectors.Add({text, LabelOperator::kInvalid, {std::move(wrong)}}));
  }
  for (const auto& [key, values] : metadata) {
    RETURN_IF_ERROR(add(Given(key, "In", values)));
  }
  return selectors.Take();
}

// ---------------------------------------------------------------------------
// Node affinity

absl::StatusOr<NodeTerm> ToTerm(const firmament::NodeSelectorTerm& message,
                                Faults* faults) {
  NodeTerm term;
  ASSIGN_OR_RETURN(
      term.labels,
      ToRequirements("matchExpressions", message.matchexpressions(),
                     RequirementOn::kMachineLabel, faults));
  ASSIGN_OR_RETURN(term.fields,
                   ToRequirements("matchFields", message.matchfields(),
                                  RequirementOn::kMachineField, faults));
  return term;
}

absl::StatusOr<std::vector<NodeTerm>> ToRequired(
    const firmament::NodeSelector& selector, Faults* faults) {
  Ascending<NodeTerm> terms("nodeSelectorTerms", kAffinityTermsMax);
  for (const auto& message : selector.nodeselectorterms()) {
    ASSIGN_OR_RETURN(NodeTerm term, ToTerm(message, faults));
    RETURN_IF_ERROR(terms.Add(std::move(term)));
  }
  return terms.Take();
}

// Terms without a weight or without conditions add nothing and are left out.  A
// term that is given twice adds its weight twice.
absl::StatusOr<std::vector<PreferredTerm>> ToPreferred(
    const firmament::NodeAffinity& affinity, Faults* faults) {
  std::vector<PreferredTerm> terms;
  for (const auto& message :
       affinity.preferredduringschedulingignoredduringexecution()) {
    if (message.weight() < 0 || message.weight() > kPreferredWeightMax) {
      return Invalid(StrCat("preferred weight: ", message.weight(),
                            " is not in 0 to ", kPreferredWeightMax));
    }
    ASSIGN_OR_RETURN(NodeTerm term, ToTerm(message.preference(), faults));
    if (message.weight() == 0 || term == NodeTerm()) continue;
    terms.push_back({message.weight(), std::move(term)});
    if (terms.size() > kAffinityTermsMax) {
      return Invalid(
          StrCat("preferred terms: more than ", kAffinityTermsMax, " of them"));
    }
  }
  std::ranges::sort(terms);
  return terms;
}

// ---------------------------------------------------------------------------
// Taints, tolerations, host ports

TaintEffect ToEffect(std::string_view text) {
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return TaintEffect::kNoExecute;
  return TaintEffect::kUnknown;
}

absl::StatusOr<Toleration> ToToleration(const firmament::Toleration& message,
                                        Faults* faults) {
  RETURN_IF_ERROR(
      CheckSize("key of a toleration", message.key(), kLabelBytesMax));
  const std::string where = StrCat("toleration of ", Quoted(message.key()));
  RETURN_IF_ERROR(
      Annotate(CheckSize("value", message.value(), kLabelBytesMax), where));
  Toleration toleration;
  toleration.key = message.key();
  if (message.operator_() == "Exists") {
    toleration.op = TolerationOperator::kExists;
  } else if (!message.operator_().empty() && message.operator_() != "Equal") {
    toleration.op = TolerationOperator::kUnknown;
    faults->Add(StrCat(where, ": operator ", Quoted(message.operator_()),
                       " is unknown"));
  } else if (message.key().empty()) {
    toleration.op = TolerationOperator::kUnknown;
    faults->Add(StrCat(where, ": operator 'Equal' without a key"));
  } else {
    toleration.value = message.value();
  }
  if (!message.effect().empty()) {
    toleration.effect = ToEffect(message.effect());
    if (toleration.effect == TaintEffect::kUnknown) {
      faults->Add(
          StrCat(where, ": effect ", Quoted(message.effect()), " is unknown"));
    }
  }
  // It does not apply to other effects.
  if (message.has_tolerationseconds() &&
      toleration.effect.value_or(TaintEffect::kNoExecute) ==
          TaintEffect::kNoExecute) {
    toleration.seconds = message.tolerationseconds();
  }
  return toleration;
}

// Port 0 is none.
absl::StatusOr<std::optional<HostPort>> ToHostPort(
    const firmament::HostPort& message) {
  HostPort port;
  if (!message.protocol().empty()) port.protocol = message.protocol();
  if (port.protocol != "TCP" && port.protocol != "UDP" &&
      port.protocol != "SCTP") {
    return Invalid(StrCat("host_ports: protocol ", Quoted(port.protocol),
                          " is not TCP, UDP or SCTP"));
  }
  RETURN_IF_ERROR(
      CheckSize("address of a host port", message.address(), kLabelBytesMax));
  if (!message.address().empty()) port.address = message.address();
  if (message.port() < 0 || message.port() > kPortMax) {
    return Invalid(StrCat("host_ports: port ", message.port(),
                          " is not in 0 to ", kPortMax));
  }
  if (message.port() == 0) return std::optional<HostPort>();
  port.port = message.port();
  return std::optional<HostPort>(std::move(port));
}

// ---------------------------------------------------------------------------
// TaskRules

// Checks the bounds of texts and lists in `message`, and refuses unknown
// fields, which a newer client may state: no task is placed against a rule that
// was not understood.
absl::Status CheckBounds(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!reflection.GetUnknownFields(message).empty()) {
    return Invalid("a field of it is unknown");
  }
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_list = field->is_repeated();
    const int size = is_list ? reflection.FieldSize(message, field) : 1;
    const size_t most = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE
                            ? kAffinityTermsMax
                            : kRequirementValuesMax;
    if (static_cast<size_t>(size) > most) {
      return Invalid(StrCat(field->name(), ": more than ", most, " of them"));
    }
    for (int i = 0; i < size; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        const std::string text =
            is_list ? reflection.GetRepeatedString(message, field, i)
                    : reflection.GetString(message, field);
        RETURN_IF_ERROR(CheckSize(field->name(), text, kLabelBytesMax));
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        RETURN_IF_ERROR(Annotate(
            CheckBounds(is_list
                            ? reflection.GetRepeatedMessage(message, field, i)
                            : reflection.GetMessage(message, field)),
            field->name()));
      }
    }
  }
  return absl::OkStatus();
}

struct ConditionTaint {
  std::string_view type;
  std::string_view status;
  const char* key;
};

constexpr ConditionTaint kConditionTaints[] = {
    {"Ready", "False", "node.kubernetes.io/not-ready"},
    {"Ready", "Unknown", "node.kubernetes.io/unreachable"},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"}};

}  // namespace

absl::StatusOr<PlacementRules> ToPlacementRules(const TaskDescriptor& task,
                                                Faults* faults) {
  PlacementRules rules;
  ASSIGN_OR_RETURN(rules.selectors, ToSelectors(task, faults));
  const firmament::NodeAffinity& affinity = task.affinity().node_affinity();
  ASSIGN_OR_RETURN(
      rules.required,
      ToRequired(affinity.requiredduringschedulingignoredduringexecution(),
                 faults));
  if (!task.machine_id().empty()) {
    RETURN_IF_ERROR(CheckSize("machine_id", task.machine_id(), kNameBytesMax));
    DemandMachine(task.machine_id(), &rules.required);
  }
  ASSIGN_OR_RETURN(rules.preferred, ToPreferred(affinity, faults));
  Ascending<Toleration> tolerations("toleration", kTolerationsMax);
  for (const firmament::Toleration& message : task.toleration()) {
    ASSIGN_OR_RETURN(Toleration toleration, ToToleration(message, faults));
    RETURN_IF_ERROR(tolerations.Add(std::move(toleration)));
  }
  rules.tolerations = tolerations.Take();
  Ascending<HostPort> ports("host_ports", kHostPortsMax);
  for (const firmament::HostPort& message : task.host_ports()) {
    ASSIGN_OR_RETURN(std::optional<HostPort> port, ToHostPort(message));
    if (port.has_value()) RETURN_IF_ERROR(ports.Add(*std::move(port)));
  }
  rules.host_ports = ports.Take();
  RETURN_IF_ERROR(Annotate(CheckBounds(task.rules()), "rules"));
  const std::string fault =
      ReadFields(task.rules(), ListsAre::kAnyOrder, &rules);
  if (!fault.empty()) return Invalid(StrCat("rules: ", fault));
  return rules;
}

absl::StatusOr<Owner> ToOwner(const TaskDescriptor& task) {
  RETURN_IF_ERROR(
      CheckSize("owner_ref_kind", task.owner_ref_kind(), kLabelBytesMax));
  RETURN_IF_ERROR(
      CheckSize("owner_ref_uid", task.owner_ref_uid(), kLabelBytesMax));
  return Owner{task.owner_ref_kind(), task.owner_ref_uid()};
}

absl::StatusOr<std::vector<Taint>> ToTaints(const ResourceDescriptor& machine,
                                            Faults* faults) {
  Ascending<Taint> taints("taints", kTaintsMax);
  for (const firmament::Taint& message : machine.taints()) {
    RETURN_IF_ERROR(CheckSize("key of a taint", message.key(), kLabelBytesMax));
    const std::string where = StrCat("taint ", Quoted(message.key()));
    RETURN_IF_ERROR(
        Annotate(CheckSize("value", message.value(), kLabelBytesMax), where));
    const TaintEffect effect = ToEffect(message.effect());
    if (effect == TaintEffect::kUnknown) {
      faults->Add(
          StrCat(where, ": effect ", Quoted(message.effect()), " is unknown"));
    }
    RETURN_IF_ERROR(taints.Add({message.key(), message.value(), effect}));
  }
  if (machine.unschedulable()) {
    RETURN_IF_ERROR(taints.Add(
        {"node.kubernetes.io/unschedulable", "", TaintEffect::kNoSchedule}));
  }
  for (const firmament::MachineCondition& condition : machine.conditions()) {
    for (const ConditionTaint& row : kConditionTaints) {
      if (row.type != condition.type() || row.status != condition.status()) {
        continue;
      }
      RETURN_IF_ERROR(taints.Add({row.key, "", TaintEffect::kNoSchedule}));
    }
  }
  return taints.Take();
}

void AddEvictingTaints(const ResourceDescriptor& machine,
                       std::vector<Taint>* taints) {
  for (const firmament::MachineCondition& condition : machine.conditions()) {
    for (const ConditionTaint& row : kConditionTaints) {
      const Taint taint = {row.key, "", TaintEffect::kNoExecute};
      const bool is_stated =
          std::ranges::any_of(*taints, [&](const Taint& one) {
            return one.key == taint.key && one.effect == taint.effect;
          });
      if (row.type == "Ready" && row.type == condition.type() &&
          row.status == condition.status() && !is_stated) {
        taints->insert(std::ranges::lower_bound(*taints, taint), taint);
      }
    }
  }
}

absl::StatusOr<std::vector<Owner>> ToAvoids(const ResourceDescriptor& machine) {
  Ascending<Owner> avoids("avoids", kAvoidsMax);
  for (const firmament::AvoidPodsAnnotation& message : machine.avoids()) {
    if (message.kind() != "ReplicationController" &&
        message.kind() != "ReplicaSet") {
      continue;
    }
    RETURN_IF_ERROR(CheckSize("uid of avoids", message.uid(), kLabelBytesMax));
    RETURN_IF_ERROR(avoids.Add({message.kind(), message.uid()}));
  }
  return avoids.Take();
}

}  // namespace sluice
