#include "rpc/convert_peers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "rpc/convert_requirements.h"

namespace sluice {
namespace {

using firmament::TaskDescriptor;
using firmament::TopologySpreadConstraint;
using Requirements = std::vector<LabelRequirement>;

constexpr int kWeightMax = 100;

static_assert(kPatternBytesMax <= kGlobSymbolsMax);

// ---------------------------------------------------------------------------
// Selectors

// The conditions of one selector, from all places that state any.
class LabelConditions {
 public:
  // `faults` must outlive it.
  explicit LabelConditions(Faults* faults) : faults_(*faults) {}

  // `Selector` is either of the contract's messages for selectors.
  template <class Selector>
  absl::Status AddSelector(const Selector& selector) {
    if (!selector.matchlabels().key().empty()) {
      RETURN_IF_ERROR(Add(selector.matchlabels().key(), "In",
                          selector.matchlabels().value()));
    }
    for (const auto& expression : selector.matchexpressions()) {
      RETURN_IF_ERROR(
          Add(expression.key(), expression.operator_(), expression.values()));
    }
    // In the order of the keys, so that the same one of several faults is
    // always named.
    const std::map<std::string, std::string> labels(
        selector.match_labels_map().begin(), selector.match_labels_map().end());
    for (const auto& [key, value] : labels) {
      RETURN_IF_ERROR(Add(key, "In", value));
    }
    return absl::OkStatus();
  }

  // Requires, for each of `keys` in `labels`, that a label have, or not have,
  // the same value.
  absl::Status AddOwn(const RepeatedText& keys, std::string_view op,
                      const LabelPairs& labels) {
    for (const std::string& key : keys) {
      const std::string* value = FindLabel(labels, key);
      if (value != nullptr) RETURN_IF_ERROR(Add(key, op, *value));
    }
    return absl::OkStatus();
  }

  Requirements Take() { return requirements_.Take(); }

 private:
  absl::Status Add(std::string_view key, std::string_view op,
                   const RepeatedText& values) {
    ASSIGN_OR_RETURN(LabelRequirement requirement,
                     ToRequirement(Given(key, op, values),
                                   RequirementOn::kTaskLabel, &faults_));
    return requirements_.Add(std::move(requirement));
  }
  absl::Status Add(std::string_view key, std::string_view op,
                   const std::string& value) {
    RepeatedText values;
    *values.Add() = value;
    return Add(key, op, values);
  }

  Faults& faults_;
  Ascending<LabelRequirement> requirements_{"labelSelector", kRequirementsMax};
};

// Without a selector no task is meant, and label keys change nothing.
template <class Message>
absl::StatusOr<std::optional<Requirements>> ToLabels(
    const Message& message, const RepeatedText& mismatch_label_keys,
    const TaskIdentity& self, Faults* faults) {
  if (!message.has_labelselector()) {
    if (!message.matchlabelkeys().empty() || !mismatch_label_keys.empty()) {
      faults->Add("matchLabelKeys or mismatchLabelKeys without labelSelector");
    }
    return std::optional<Requirements>();
  }
  LabelConditions labels(faults);
  RETURN_IF_ERROR(labels.AddSelector(message.labelselector()));
  RETURN_IF_ERROR(labels.AddOwn(message.matchlabelkeys(), "In", self.labels));
  RETURN_IF_ERROR(labels.AddOwn(mismatch_label_keys, "NotIn", self.labels));
  return std::optional<Requirements>(labels.Take());
}

template <class Message>
absl::Status AddNamespaces(const Message& message, const TaskIdentity& self,
                           TaskSelector* selector, Faults* faults) {
  Ascending<std::string> namespaces("namespaces", kNamespacesMax);
  for (const std::string& name : message.namespaces()) {
    RETURN_IF_ERROR(CheckSize("namespace of a term", name, kNameBytesMax));
    RETURN_IF_ERROR(namespaces.Add(name));
  }
  selector->namespaces = namespaces.Take();
  if (message.has_namespaceselector()) {
    LabelConditions labels(faults);
    RETURN_IF_ERROR(labels.AddSelector(message.namespaceselector()));
    selector->namespace_labels = labels.Take();
    // If all namespaces match, the listed ones add nothing.
    if (selector->namespace_labels->empty()) selector->namespaces.clear();
  } else if (selector->namespaces.empty()) {
    selector->namespaces = {self.task_namespace};
  }
  return absl::OkStatus();
}

// True if no task or namespace can meet them.
bool NeverHold(const std::optional<Requirements>& requirements) {
  return !requirements.has_value() ||
         std::ranges::any_of(*requirements, [](const LabelRequirement& it) {
           return it.op == LabelOperator::kInvalid;
         });
}

bool MeansNoTask(const TaskSelector& selector) {
  return NeverHold(selector.labels) ||
         (selector.namespaces.empty() && NeverHold(selector.namespace_labels));
}

// ---------------------------------------------------------------------------
// Affinity and anti-affinity

// Converts either of the contract's messages for terms.
template <class Message>
absl::StatusOr<PeerTerm> ToTerm(const Message& message,
                                const TaskIdentity& self, Faults* faults) {
  PeerTerm term;
  ASSIGN_OR_RETURN(
      term.tasks.labels,
      ToLabels(message, message.mismatchlabelkeys(), self, faults));
  RETURN_IF_ERROR(AddNamespaces(message, self, &term.tasks, faults));
  RETURN_IF_ERROR(
      CheckSize("topologyKey", message.topologykey(), kLabelBytesMax));
  term.topology_key = message.topologykey();
  return term;
}

// Adds the preferred terms of pod_affinity (`sign` 1) or pod_anti_affinity
// (`sign` -1).  A term that is given twice counts twice.
template <class Messages>
absl::Status AddPreferred(const Messages& messages, int32_t sign,
                          const TaskIdentity& self,
                          std::vector<WeightedPeerTerm>* terms,
                          Faults* faults) {
  size_t count = 0;
  for (const auto& message : messages) {
    const int32_t weight = message.weight();
    if (weight < 0 || weight > kWeightMax) {
      return Invalid(
          StrCat("preferred weight: ", weight, " is not in 0 to ", kWeightMax));
    }
    ASSIGN_OR_RETURN(PeerTerm term,
                     ToTerm(message.podaffinityterm(), self, faults));
    if (weight == 0 || MeansNoTask(term.tasks)) continue;
    terms->push_back({sign * weight, std::move(term)});
    if (++count > kAffinityTermsMax) {
      return Invalid(
          StrCat("preferred terms: more than ", kAffinityTermsMax, " of them"));
    }
  }
  return absl::OkStatus();
}

// ---------------------------------------------------------------------------
// Fleet's terms, by the names of jobs

// A term for the machines with any task, of any namespace, of a job whose name
// matches.
PeerTerm ToJobTerm(std::string_view pattern) {
  // A pattern that matches every text is the same as none.
  return {.tasks = {.labels = Requirements(),
                    .namespace_labels = Requirements(),
                    .job = pattern == "*" ? "" : std::string(pattern)}};
}

absl::Status AddJobTerms(std::string_view field, const RepeatedText& patterns,
                         Ascending<PeerTerm>* terms, Faults* faults) {
  for (const std::string& pattern : patterns) {
    PeerTerm term;
    if (pattern.empty()) {
      faults->Add(StrCat(field, ": a pattern is empty"));
    } else {
      RETURN_IF_ERROR(CheckSize(field, pattern, kPatternBytesMax));
      term = ToJobTerm(Normalized(pattern));
    }
    RETURN_IF_ERROR(terms->Add(std::move(term)));
  }
  return absl::OkStatus();
}

// True for kinds with which a task keeps away from the others of its job.
absl::StatusOr<bool> KeepsFromItsJob(TaskDescriptor::Global global) {
  switch (global) {
    case TaskDescriptor::NOT_GLOBAL:
    case TaskDescriptor::TEMPLATE:  // Its tasks are bound to a machine each.
      return false;
    case TaskDescriptor::ONE_A_MACHINE:
    case TaskDescriptor::EVERYWHERE_AT_ONCE:
      return true;
    case firmament::
        TaskDescriptor_Global_TaskDescriptor_Global_INT_MIN_SENTINEL_DO_NOT_USE_:
    case firmament::
        TaskDescriptor_Global_TaskDescriptor_Global_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  return Invalid(StrCat("global: ", static_cast<int>(global), " is unknown"));
}

absl::Status AddGlobal(TaskDescriptor::Global global, const std::string& job,
                       Ascending<PeerTerm>* anti_affinity) {
  ASSIGN_OR_RETURN(const bool keeps_from_its_job, KeepsFromItsJob(global));
  if (!keeps_from_its_job) return absl::OkStatus();
  if (job.empty()) return Invalid("global: its job has no name");
  RETURN_IF_ERROR(
      CheckSize("job name of a global task", job, kPatternBytesMax));
  return anti_affinity->Add(ToJobTerm(GlobOf(job)));
}

// ---------------------------------------------------------------------------
// Topology spread

// True for the first of two words; `otherwise` if empty.
absl::StatusOr<bool> IsFirst(std::string_view field, std::string_view text,
                             std::string_view first, std::string_view second,
                             bool otherwise) {
  if (text.empty()) return otherwise;
  if (text == first) return true;
  if (text == second) return false;
  return Invalid(StrCat(field, ": ", Quoted(text), " is neither ", first,
                        " nor ", second));
}

// The default is 1.
absl::StatusOr<int32_t> ToCount(std::string_view field, int32_t count) {
  if (count < 0) return Invalid(StrCat(field, ": ", count, " < 0"));
  return std::max(count, 1);
}

absl::StatusOr<SpreadConstraint> ToSpread(
    const TopologySpreadConstraint& message, const TaskIdentity& self,
    Faults* faults) {
  SpreadConstraint spread;
  ASSIGN_OR_RETURN(spread.term.tasks.labels,
                   ToLabels(message, /*mismatch_label_keys=*/{}, self, faults));
  spread.term.tasks.namespaces = {self.task_namespace};
  RETURN_IF_ERROR(
      CheckSize("topologyKey", message.topologykey(), kLabelBytesMax));
  spread.term.topology_key = message.topologykey();
  ASSIGN_OR_RETURN(spread.max_skew, ToCount("maxSkew", message.maxskew()));
  ASSIGN_OR_RETURN(spread.is_required,
                   IsFirst("whenUnsatisfiable", message.whenunsatisfiable(),
                           "DoNotSchedule", "ScheduleAnyway", true));
  ASSIGN_OR_RETURN(spread.min_domains,
                   ToCount("minDomains", message.mindomains()));
  if (!spread.is_required && spread.min_domains != 1) {
    faults->Add("minDomains with ScheduleAnyway");
    spread.min_domains = 1;
  }
  ASSIGN_OR_RETURN(spread.honors_node_affinity,
                   IsFirst("nodeAffinityPolicy", message.nodeaffinitypolicy(),
                           "Honor", "Ignore", true));
  ASSIGN_OR_RETURN(spread.honors_taints,
                   IsFirst("nodeTaintsPolicy", message.nodetaintspolicy(),
                           "Honor", "Ignore", false));
  return spread;
}

absl::Status AddSpreads(const TaskDescriptor& task, const TaskIdentity& self,
                        Ascending<SpreadConstraint>* spreads, Faults* faults) {
  for (const TopologySpreadConstraint& message :
       task.topology_spread_constraints()) {
    ASSIGN_OR_RETURN(SpreadConstraint spread, ToSpread(message, self, faults));
    // Even if it counts no task, a required one keeps the task away from
    // machines without the label.
    if (!spread.is_required && MeansNoTask(spread.term.tasks)) continue;
    RETURN_IF_ERROR(spreads->Add(std::move(spread)));
  }
  return absl::OkStatus();
}

// ---------------------------------------------------------------------------
// Minimums and maximums

// What a minimum or a maximum counts, and in which domains.
template <typename Bound>
absl::StatusOr<PeerTerm> ToBoundedTerm(std::string_view field,
                                       const Bound& message,
                                       const TaskIdentity& self,
                                       Faults* faults) {
  PeerTerm term;
  RETURN_IF_ERROR(
      CheckSize("topologyKey", message.topologykey(), kLabelBytesMax));
  if (message.has_labelselector()) {
    ASSIGN_OR_RETURN(term.tasks.labels,
                     ToConditions(message.labelselector(), faults));
    term.tasks.namespaces = {self.task_namespace};
    if (!Selects(term.tasks, self)) {
      faults->Add(
          StrCat(field, ": the selector does not select the task itself"));
      term.tasks.labels.reset();
    }
  } else {
    if (self.job.empty())
      return Invalid(StrCat(field, ": its job has no name"));
    RETURN_IF_ERROR(CheckSize(StrCat("job name of a task with ", field),
                              self.job, kPatternBytesMax));
    term = ToJobTerm(GlobOf(self.job));
  }
  term.topology_key = message.topologykey();
  return term;
}

PeerTerm ToTermOfJobs(const JobBounds& bounds, const TaskIdentity& self) {
  PeerTerm term = ToJobTerm(GlobOf(self.job));
  term.topology_key = bounds.topology_key;
  return term;
}

// True if bounds for every job apply to the task.
bool IsBoundByJob(const TaskDescriptor& task, const TaskIdentity& self) {
  return !self.job.empty() && self.job.size() <= kPatternBytesMax &&
         task.global() == TaskDescriptor::NOT_GLOBAL;
}

absl::StatusOr<std::vector<DomainMinimum>> ToMinimums(
    const TaskDescriptor& task, const TaskIdentity& self,
    const JobBounds& bounds, Faults* faults) {
  constexpr std::string_view kField = "domain_minimums";
  Ascending<DomainMinimum> minimums(kField, kAffinityTermsMax);
  for (const firmament::DomainMinimum& message : task.domain_minimums()) {
    DomainMinimum minimum;
    ASSIGN_OR_RETURN(minimum.at_least, ToCount("atLeast", message.atleast()));
    ASSIGN_OR_RETURN(minimum.term,
                     ToBoundedTerm(kField, message, self, faults));
    if (MeansNoTask(minimum.term.tasks)) continue;
    RETURN_IF_ERROR(minimums.Add(std::move(minimum)));
  }
  if (task.domain_minimums().empty() && bounds.at_least > 0 &&
      IsBoundByJob(task, self)) {
    RETURN_IF_ERROR(minimums.Add(
        {.term = ToTermOfJobs(bounds, self), .at_least = bounds.at_least}));
  }
  return minimums.Take();
}

// Leaves out minimums above what is allowed of the same tasks in the same
// domains.
void DropContradictions(PlacementRules* rules, Faults* faults) {
  std::erase_if(rules->minimums, [&](const DomainMinimum& minimum) {
    for (const SpreadConstraint& spread : rules->spread) {
      if (spread.min_domains != SpreadConstraint::kFromEmpty ||
          spread.term != minimum.term || spread.max_skew >= minimum.at_least) {
        continue;
      }
      faults->Add(StrCat("domain_minimums: at least ", minimum.at_least,
                         " where domain_maximums allows ", spread.max_skew));
      return true;
    }
    return false;
  });
}

absl::Status AddMaximums(const TaskDescriptor& task, const TaskIdentity& self,
                         const JobBounds& bounds,
                         Ascending<SpreadConstraint>* spreads, Faults* faults) {
  constexpr std::string_view kField = "domain_maximums";
  const SpreadConstraint maximum = {.min_domains = SpreadConstraint::kFromEmpty,
                                    .honors_node_affinity = false};
  for (const firmament::DomainMaximum& message : task.domain_maximums()) {
    SpreadConstraint spread = maximum;
    ASSIGN_OR_RETURN(spread.max_skew, ToCount("atMost", message.atmost()));
    ASSIGN_OR_RETURN(spread.term, ToBoundedTerm(kField, message, self, faults));
    if (MeansNoTask(spread.term.tasks)) continue;
    RETURN_IF_ERROR(spreads->Add(std::move(spread)));
  }
  if (task.domain_maximums().empty() && bounds.at_most > 0 &&
      IsBoundByJob(task, self)) {
    SpreadConstraint spread = maximum;
    spread.term = ToTermOfJobs(bounds, self);
    spread.max_skew = bounds.at_most;
    RETURN_IF_ERROR(spreads->Add(std::move(spread)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<LabelRequirement>> ToConditions(
    const firmament::PodLabelSelector& selector, Faults* faults) {
  LabelConditions labels(faults);
  RETURN_IF_ERROR(labels.AddSelector(selector));
  return labels.Take();
}

PeerTerm WithLabel(std::string_view label, std::string_view topology_key) {
  PeerTerm term = ToJobTerm("*");
  term.topology_key = topology_key;
  term.tasks.labels->push_back(
      {.key = std::string(label), .op = LabelOperator::kExists});
  return term;
}

SpreadConstraint OneOfItsJob(std::string_view job, std::string_view label) {
  SpreadConstraint one = {.term = WithLabel(label, "*"),
                          .min_domains = SpreadConstraint::kFromEmpty,
                          .honors_node_affinity = false};
  one.term.tasks.job = ToJobTerm(GlobOf(job)).tasks.job;
  return one;
}

absl::Status AddPeerTerms(const TaskDescriptor& task, const TaskIdentity& self,
                          const JobBounds& bounds, PlacementRules* rules,
                          Faults* faults) {
  Ascending<PeerTerm> near("required pod_affinity and machine_of",
                           kAffinityTermsMax);
  const firmament::PodAffinity& affinity = task.affinity().pod_affinity();
  for (const auto& message :
       affinity.requiredduringschedulingignoredduringexecution()) {
    ASSIGN_OR_RETURN(PeerTerm term, ToTerm(message, self, faults));
    RETURN_IF_ERROR(near.Add(std::move(term)));
  }
  RETURN_IF_ERROR(AddJobTerms("machine_of", task.machine_of(), &near, faults));
  rules->affinity = near.Take();

  Ascending<PeerTerm> apart("required pod_anti_affinity and conflicts",
                            kAffinityTermsMax);
  const firmament::PodAntiAffinity& anti_affinity =
      task.affinity().pod_anti_affinity();
  for (const auto& message :
       anti_affinity.requiredduringschedulingignoredduringexecution()) {
    ASSIGN_OR_RETURN(PeerTerm term, ToTerm(message, self, faults));
    RETURN_IF_ERROR(apart.Add(std::move(term)));
  }
  RETURN_IF_ERROR(AddJobTerms("conflicts", task.conflicts(), &apart, faults));
  RETURN_IF_ERROR(AddGlobal(task.global(), self.job, &apart));
  rules->anti_affinity = apart.Take();
  std::erase_if(rules->anti_affinity,
                [](const PeerTerm& term) { return MeansNoTask(term.tasks); });

  std::vector<WeightedPeerTerm>& preferred = rules->preferred_peers;
  RETURN_IF_ERROR(
      AddPreferred(affinity.preferredduringschedulingignoredduringexecution(),
                   +1, self, &preferred, faults));
  RETURN_IF_ERROR(AddPreferred(
      anti_affinity.preferredduringschedulingignoredduringexecution(), -1, self,
      &preferred, faults));
  std::ranges::sort(preferred);

  Ascending<SpreadConstraint> spreads(
      "topology_spread_constraints and domain_maximums", kAffinityTermsMax);
  RETURN_IF_ERROR(AddSpreads(task, self, &spreads, faults));
  RETURN_IF_ERROR(AddMaximums(task, self, bounds, &spreads, faults));
  rules->spread = spreads.Take();
  ASSIGN_OR_RETURN(rules->minimums, ToMinimums(task, self, bounds, faults));
  DropContradictions(rules, faults);
  if (task.has_replaces()) {
    rules->replaces = TaskUid{task.replaces()};
    rules->replaces_anywhere = task.replaces_anywhere();
  } else if (task.replaces_anywhere()) {
    faults->Add("replaces_anywhere without replaces");
  }
  return absl::OkStatus();
}

}  // namespace sluice
