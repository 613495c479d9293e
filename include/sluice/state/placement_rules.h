// What a task says about machines, and about other tasks there: where it may
// run, and where it would rather run.
//
// The terms are Kubernetes' (node selectors, node affinity, tolerations, host
// ports).  They are validated and normalized on entry: equivalent rules are
// equal, so that tasks with the same rules are of one class.
//
// Each kind of rule lists its fields under the names that they have in messages
// (messages/fields.h): VisitFields() calls visit(name, field), followed by the
// last value of an enum, or the bounds of a number.  Fault(), if there is one,
// says what else is wrong; "" if nothing.
//
// Threads: values.

#ifndef SLUICE_STATE_PLACEMENT_RULES_H_
#define SLUICE_STATE_PLACEMENT_RULES_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/ids.h"
#include "sluice/state/label_requirement.h"
#include "sluice/state/part_demand.h"
#include "sluice/state/peer_terms.h"
#include "sluice/state/task_data.h"
#include "sluice/state/task_kind.h"

namespace sluice {

// A machine field: a name or uuid that a task asks for.
inline constexpr std::string_view kMachineId = "machine_id";

// All requirements must hold; a term without any matches no machine.
struct NodeTerm {
  std::vector<LabelRequirement> labels = {};
  // On the machine's name and uuid (constraints/label_match.h).
  std::vector<LabelRequirement> fields = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("labels", self.labels);
    visit("fields", self.fields);
  }

  friend auto operator<=>(const NodeTerm&, const NodeTerm&) = default;
};

struct PreferredTerm {
  int32_t weight = 0;  // 1 to 100.
  NodeTerm term = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("weight", self.weight, 1, 100);
    visit("term", self.term);
  }

  friend auto operator<=>(const PreferredTerm&, const PreferredTerm&) = default;
};

enum class TaintEffect : uint8_t {
  kUnknown = 0,  // Has no effect.
  kNoSchedule = 1,
  kPreferNoSchedule = 2,
  kNoExecute = 3,
};

struct Taint {
  std::string key = {};
  std::string value = {};
  TaintEffect effect = TaintEffect::kUnknown;

  friend auto operator<=>(const Taint&, const Taint&) = default;
};

enum class TolerationOperator : uint8_t {
  kEqual = 0,
  kExists = 1,
  kUnknown = 2,  // Tolerates nothing.
};

struct Toleration {
  std::string key = {};  // Empty with kExists: all taints.
  TolerationOperator op = TolerationOperator::kEqual;
  std::string value = {};                  // Of kEqual only.
  std::optional<TaintEffect> effect = {};  // Absent: all effects.
  // How long a NoExecute taint is borne; absent: forever.
  std::optional<int64_t> seconds = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("key", self.key);
    visit("op", self.op, TolerationOperator::kUnknown);
    visit("value", self.value);
    visit("effect", self.effect, TaintEffect::kNoExecute);
    visit("seconds", self.seconds);
  }

  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

// A port of the machine itself that a task listens on.
struct HostPort {
  std::string protocol = "TCP";
  std::string address = "0.0.0.0";  // Means all addresses.
  int32_t port = 0;                 // 1 to 65535.

  bool IsOnAllAddresses() const {
    return address == "0.0.0.0" || address == "::";
  }
  bool ConflictsWith(const HostPort& other) const {
    return port == other.port && protocol == other.protocol &&
           (address == other.address || IsOnAllAddresses() ||
            other.IsOnAllAddresses());
  }
  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("protocol", self.protocol);
    visit("address", self.address);
    visit("port", self.port, 1, 65535);
  }
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

// Its machine must have a taint with this key, and with one of these values if
// there are any: a machine that was set aside.
struct RequiredTaint {
  std::string key = {};
  std::vector<std::string> values = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("key", self.key);
    visit("values", self.values);
  }
  std::string Fault() const { return key.empty() ? "key: is empty" : ""; }
  friend auto operator<=>(const RequiredTaint&, const RequiredTaint&) = default;
};

// The tasks of one job with the same name here: only one of them runs.
struct Alternative {
  std::string name = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("name", self.name);
  }
  std::string Fault() const { return name.empty() ? "name: is empty" : ""; }
  friend auto operator<=>(const Alternative&, const Alternative&) = default;
};

// Something that one task at a time may hold, such as a disk: one on each
// machine, or one overall.
struct Claim {
  std::string name = {};
  bool one_at_all = false;

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("name", self.name);
    visit("one_at_all", self.one_at_all);
  }
  std::string Fault() const { return name.empty() ? "name: is empty" : ""; }
  friend auto operator<=>(const Claim&, const Claim&) = default;
};

// The controller that owns a task.
struct Owner {
  std::string kind = {};
  std::string uid = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("kind", self.kind);
    visit("uid", self.uid);
  }

  bool empty() const { return kind.empty() && uid.empty(); }
  friend auto operator<=>(const Owner&, const Owner&) = default;
};

// How a list of rules is ordered: ascending; a set has no duplicates.
enum class RuleOrder : uint8_t { kSet, kBag };

// placement_rules.def says what each field is.
struct PlacementRules {
  // Distinct rules of one state have distinct ids, which are never reused; 0
  // means no rules at all.  Not part of the value.
  uint32_t id = 0;

#define RULE(field, Element) std::vector<Element> field = {};
#define RULE_LIST(field, Element, ...) std::vector<Element> field = {};
#define RULE_FLAG(field) bool field = false;
#define RULE_TASK(field) std::optional<TaskUid> field = {};
#define RULE_MESSAGE(field, Type) Type field = {};
#define RULE_DERIVED(field, Type) Type field = {};
#include "sluice/state/placement_rules.def"

  // The fields that firmament.TaskRules states.
  template <class Self, class Visitor>
  static void VisitFields([[maybe_unused]] Self& self,
                          [[maybe_unused]] Visitor& visit) {
#define RULE(field, Element) visit(#field, self.field);
#include "sluice/state/placement_rules.def"
  }
  // True if it says anything about other tasks.
  bool HasPeerTerms() const {
    return !affinity.empty() || !anti_affinity.empty() ||
           !preferred_peers.empty() || !spread.empty() || !minimums.empty() ||
           kind.has_value();
  }
  bool DemandsParts() const {
    return !part_demands.empty() || !part_groups.empty();
  }
  // True if a second such task on a machine must be considered separately.
  bool ComeOneByOne() const { return !host_ports.empty() || DemandsParts(); }
  friend std::strong_ordering operator<=>(const PlacementRules& a,
                                          const PlacementRules& b);
  friend bool operator==(const PlacementRules& a, const PlacementRules& b) {
    return (a <=> b) == 0;
  }
};

// Adds to `required` that the machine has that name or uuid.  A term without
// conditions is left alone: it must still match no machine.
void DemandMachine(const std::string& name_or_uuid,
                   std::vector<NodeTerm>* required);

// The empty rules.
const PlacementRules& NoRules();

// True if tasks with these rules listen on the same host port.
inline bool WantSamePort(const PlacementRules& a, const PlacementRules& b) {
  return std::ranges::any_of(a.host_ports, [&](const HostPort& one) {
    return std::ranges::any_of(b.host_ports, [&](const HostPort& other) {
      return one.ConflictsWith(other);
    });
  });
}

}  // namespace sluice

#endif  // SLUICE_STATE_PLACEMENT_RULES_H_
