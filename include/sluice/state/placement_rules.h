// What a task says about machines: on which it may run, and on which it would
// rather.
//
// The terms are Kubernetes' (node selectors, node affinity, tolerations, host
// ports).  They come in checked and in one form: what means the same is equal,
// so that tasks with the same rules are of one class.
//
// Threads: values.

#ifndef SLUICE_STATE_PLACEMENT_RULES_H_
#define SLUICE_STATE_PLACEMENT_RULES_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

// Labels as text: ascending keys, none twice.
using LabelPairs = std::vector<std::pair<std::string, std::string>>;

enum class LabelOperator : uint8_t {
  kIn = 0,
  kNotIn = 1,
  kExists = 2,
  kDoesNotExist = 3,
  kGreaterThan = 4,
  kLessThan = 5,
  // Holds for no machine: the client's operator is unknown, or its values make
  // no sense.
  kInvalid = 6,
};

// A condition on one label of a machine.
struct LabelRequirement {
  std::string key = {};
  LabelOperator op = LabelOperator::kIn;
  // Ascending, none twice; of kGreaterThan and kLessThan one, an integer.  Of
  // kInvalid one: what is wrong, for people.
  std::vector<std::string> values = {};

  friend auto operator<=>(const LabelRequirement&,
                          const LabelRequirement&) = default;
};

// All requirements must hold; a term without any holds for no machine.
struct NodeTerm {
  std::vector<LabelRequirement> labels = {};
  // On "metadata.name", the machine's name, only.
  std::vector<LabelRequirement> fields = {};

  friend auto operator<=>(const NodeTerm&, const NodeTerm&) = default;
};

struct PreferredTerm {
  int32_t weight = 0;  // 1 to 100.
  NodeTerm term = {};

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
  std::string key = {};  // Empty with kExists: of every taint.
  TolerationOperator op = TolerationOperator::kEqual;
  std::string value = {};                  // Of kEqual only.
  std::optional<TaintEffect> effect = {};  // Without: of every effect.
  // How long a NoExecute taint is borne; without: for ever.
  std::optional<int64_t> seconds = {};

  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

// A port of the machine itself that a task listens on.
struct HostPort {
  std::string protocol = "TCP";
  std::string address = "0.0.0.0";  // Which stands for all addresses.
  int32_t port = 0;                 // 1 to 65535.

  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

// The controller that owns a task.
struct Owner {
  std::string kind = {};
  std::string uid = {};

  bool empty() const { return kind.empty() && uid.empty(); }
  friend auto operator<=>(const Owner&, const Owner&) = default;
};

struct PlacementRules {
  // Distinct rules of one state have distinct ids, never used again; 0 are no
  // rules at all.  Not part of the value.
  uint32_t id = 0;

  std::vector<LabelRequirement> selectors = {};  // All must hold.
  std::vector<NodeTerm> required = {};  // One must hold, if there are any.
  std::vector<PreferredTerm> preferred = {};
  std::vector<Toleration> tolerations = {};  // Ascending, none twice.
  std::vector<HostPort> host_ports = {};     // Ascending, none twice.
  // Empty unless some machine would rather not have this owner's tasks.
  Owner owner = {};

  friend std::strong_ordering operator<=>(const PlacementRules& a,
                                          const PlacementRules& b);
  friend bool operator==(const PlacementRules& a, const PlacementRules& b) {
    return (a <=> b) == 0;
  }
};

// Rules that say nothing.
const PlacementRules& NoRules();

}  // namespace sluice

#endif  // SLUICE_STATE_PLACEMENT_RULES_H_
