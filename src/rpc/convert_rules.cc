#include "rpc/convert_rules.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "constraints/label_match.h"
#include "rpc/checks.h"

namespace sluice {
namespace {

using firmament::LabelSelector;
using firmament::NodeSelectorRequirement;
using firmament::ResourceDescriptor;
using firmament::TaskDescriptor;
using Values = google::protobuf::RepeatedPtrField<std::string>;

constexpr int kPreferredWeightMax = 100;
constexpr int kPortMax = 65535;

std::string Quoted(std::string_view text) {
  return StrCat("'", Printable(text, kShownBytes), "'");
}

// Collects items in ascending order, none twice, up to a bound.
template <class T>
class Ascending {
 public:
  // `what` names them in errors; it must outlive this.
  Ascending(std::string_view what, size_t max) : what_(what), max_(max) {}

  absl::Status Add(T item) {
    items_.insert(std::move(item));
    if (items_.size() <= max_) return absl::OkStatus();
    return Invalid(StrCat(what_, ": more than ", max_, " of them"));
  }

  std::vector<T> Take() {
    std::vector<T> result;
    result.reserve(items_.size());
    while (!items_.empty()) {
      result.push_back(std::move(items_.extract(items_.begin()).value()));
    }
    return result;
  }

 private:
  const std::string_view what_;
  const size_t max_;
  std::set<T> items_;
};

// ---------------------------------------------------------------------------
// Requirements

constexpr std::pair<std::string_view, LabelOperator> kLabelOperators[] = {
    {"In", LabelOperator::kIn},
    {"NotIn", LabelOperator::kNotIn},
    {"Exists", LabelOperator::kExists},
    {"DoesNotExist", LabelOperator::kDoesNotExist},
    {"Gt", LabelOperator::kGreaterThan},
    {"Lt", LabelOperator::kLessThan}};

LabelOperator ToOperator(std::string_view text) {
  for (const auto& [name, op] : kLabelOperators) {
    if (name == text) return op;
  }
  return LabelOperator::kInvalid;
}

LabelOperator ToOperator(LabelSelector::SelectorType type) {
  switch (type) {
    case LabelSelector::IN_SET:
      return LabelOperator::kIn;
    case LabelSelector::NOT_IN_SET:
      return LabelOperator::kNotIn;
    case LabelSelector::EXISTS_KEY:
      return LabelOperator::kExists;
    case LabelSelector::NOT_EXISTS_KEY:
      return LabelOperator::kDoesNotExist;
    case LabelSelector::GREATER_THAN:
      return LabelOperator::kGreaterThan;
    case LabelSelector::LESSER_THAN:
      return LabelOperator::kLessThan;
    case firmament::
        LabelSelector_SelectorType_LabelSelector_SelectorType_INT_MIN_SENTINEL_DO_NOT_USE_:
    case firmament::
        LabelSelector_SelectorType_LabelSelector_SelectorType_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  return LabelOperator::kInvalid;
}

// A requirement as its client gives it.
struct GivenRequirement {
  std::string_view key;
  LabelOperator op;
  std::string operator_text;  // For people.
  const Values& values;
};

GivenRequirement Given(const LabelSelector& selector) {
  return {
      selector.key(), ToOperator(selector.type()),
      StrCat("type ", LabelSelector::SelectorType_IsValid(selector.type())
                          ? LabelSelector::SelectorType_Name(selector.type())
                          : StrCat(static_cast<int>(selector.type()))),
      selector.values()};
}
GivenRequirement Given(const NodeSelectorRequirement& requirement) {
  return {requirement.key(), ToOperator(requirement.operator_()),
          StrCat("operator ", Quoted(requirement.operator_())),
          requirement.values()};
}

// What makes it senseless; empty if nothing does.
std::string WhatIsWrong(const GivenRequirement& given) {
  if (given.op == LabelOperator::kInvalid) {
    return StrCat(given.operator_text, " is unknown");
  }
  if (given.key.empty()) return "its key is empty";
  switch (given.op) {
    case LabelOperator::kIn:
    case LabelOperator::kNotIn:
      if (!given.values.empty()) return "";
      return StrCat(given.operator_text, " without values");
    case LabelOperator::kExists:
    case LabelOperator::kDoesNotExist:
      if (given.values.empty()) return "";
      return StrCat(given.operator_text, " with values");
    case LabelOperator::kGreaterThan:
    case LabelOperator::kLessThan:
      if (given.values.size() != 1) {
        return StrCat(given.operator_text, " with ", given.values.size(),
                      " values, not one");
      }
      if (ParseInt64(given.values[0]).has_value()) return "";
      return StrCat(given.operator_text, " with ", Quoted(given.values[0]),
                    ", which is no 64-bit integer");
    case LabelOperator::kInvalid:
      break;
  }
  return "";
}

std::string WhatIsWrongWithField(const GivenRequirement& given) {
  if (given.key != kMetadataName) {
    return StrCat("the only field is ", kMetadataName);
  }
  if (given.op != LabelOperator::kIn && given.op != LabelOperator::kNotIn) {
    return StrCat(given.operator_text, " is neither In nor NotIn");
  }
  if (given.values.size() != 1) {
    return StrCat(given.operator_text, " with ", given.values.size(),
                  " values, not one");
  }
  return "";
}

absl::StatusOr<LabelRequirement> ToRequirement(const GivenRequirement& given,
                                               std::string wrong,
                                               Faults* faults) {
  RETURN_IF_ERROR(CheckSize("key of a requirement", given.key, kLabelBytesMax));
  const std::string where = StrCat("requirement on ", Quoted(given.key));
  Ascending<std::string> values("values", kRequirementValuesMax);
  for (const std::string& value : given.values) {
    absl::Status status = CheckSize("value", value, kLabelBytesMax);
    status.Update(values.Add(value));
    RETURN_IF_ERROR(Annotate(status, where));
  }
  LabelRequirement result{std::string(given.key), given.op, values.Take()};
  if (!wrong.empty()) {
    faults->Add(StrCat(where, ": ", wrong));
    result.op = LabelOperator::kInvalid;
    result.values = {std::move(wrong)};
  } else if (given.op == LabelOperator::kGreaterThan ||
             given.op == LabelOperator::kLessThan) {
    // "+07" is 7.
    result.values = {StrCat(*ParseInt64(given.values[0]))};
  }
  return result;
}

// `check` says what is wrong with one of them.
template <class Messages, class Check>
absl::StatusOr<std::vector<LabelRequirement>> ToRequirements(
    std::string_view what, const Messages& messages, Check check,
    Faults* faults) {
  Ascending<LabelRequirement> requirements(what, kRequirementsMax);
  for (const auto& message : messages) {
    const GivenRequirement given = Given(message);
    ASSIGN_OR_RETURN(LabelRequirement requirement,
                     ToRequirement(given, check(given), faults));
    RETURN_IF_ERROR(requirements.Add(std::move(requirement)));
  }
  return requirements.Take();
}

// ---------------------------------------------------------------------------
// Node affinity

absl::StatusOr<NodeTerm> ToTerm(const firmament::NodeSelectorTerm& message,
                                Faults* faults) {
  NodeTerm term;
  ASSIGN_OR_RETURN(term.labels, ToRequirements("matchExpressions",
                                               message.matchexpressions(),
                                               &WhatIsWrong, faults));
  ASSIGN_OR_RETURN(term.fields,
                   ToRequirements("matchFields", message.matchfields(),
                                  &WhatIsWrongWithField, faults));
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

// Terms that add nothing, for want of weight or of conditions, are left out;
// one that is given twice adds its weight twice.
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
  // Of other effects it says nothing.
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

void Faults::Add(std::string text) {
  if (++count_ == 1) first_ = std::move(text);
}

std::string Faults::Text() const {
  return count_ < 2 ? first_ : StrCat(first_, " (and ", count_ - 1, " more)");
}

absl::StatusOr<PlacementRules> ToPlacementRules(const TaskDescriptor& task,
                                                Faults* faults) {
  PlacementRules rules;
  ASSIGN_OR_RETURN(rules.selectors,
                   ToRequirements("label_selectors", task.label_selectors(),
                                  &WhatIsWrong, faults));
  const firmament::NodeAffinity& affinity = task.affinity().node_affinity();
  ASSIGN_OR_RETURN(
      rules.required,
      ToRequired(affinity.requiredduringschedulingignoredduringexecution(),
                 faults));
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
