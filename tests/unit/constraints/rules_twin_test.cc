// The constraints against a twin: the same rules once more, written as they
// are told and without any code of the scheduler, on random rules and machines.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "constraints/constraint_set.h"

namespace sluice {
namespace {

// ---------------------------------------------------------------------------
// The twin

using Labels = std::map<std::string, std::string>;

// Compares decimal integers digit by digit; nothing for what is not one or
// does not fit into 64 bits.
class Decimal {
 public:
  explicit Decimal(std::string text) {
    if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
      is_negative_ = text[0] == '-';
      text.erase(0, 1);
    }
    is_valid_ = !text.empty() &&
                text.find_first_not_of("0123456789") == std::string::npos;
    if (!is_valid_) return;
    while (text.size() > 1 && text[0] == '0') text.erase(0, 1);
    const std::string limit =
        is_negative_ ? "9223372036854775808" : "9223372036854775807";
    digits_ =
        std::string(limit.size() - std::min(limit.size(), text.size()), '0') +
        text;
    is_valid_ = digits_.size() == limit.size() && digits_ <= limit;
    if (text == "0") is_negative_ = false;
  }
  bool is_valid() const { return is_valid_; }
  static bool Less(const Decimal& a, const Decimal& b) {
    if (!a.is_valid_ || !b.is_valid_) return false;
    if (a.is_negative_ != b.is_negative_) return a.is_negative_;
    return a.is_negative_ ? b.digits_ < a.digits_ : a.digits_ < b.digits_;
  }

 private:
  bool is_negative_ = false;
  bool is_valid_ = false;
  std::string digits_;
};

bool TwinHolds(const LabelRequirement& requirement, const Labels& labels) {
  const bool has = labels.count(requirement.key) == 1;
  const std::string value = has ? labels.at(requirement.key) : "";
  bool is_listed = false;
  for (const std::string& listed : requirement.values) {
    if (has && listed == value) is_listed = true;
  }
  if (requirement.op == LabelOperator::kIn) return is_listed;
  if (requirement.op == LabelOperator::kNotIn) return !is_listed;
  if (requirement.op == LabelOperator::kExists) return has;
  if (requirement.op == LabelOperator::kDoesNotExist) return !has;
  if (!has || requirement.values.size() != 1) return false;
  const Decimal left(value);
  const Decimal right(requirement.values[0]);
  if (requirement.op == LabelOperator::kGreaterThan) {
    return Decimal::Less(right, left);
  }
  if (requirement.op == LabelOperator::kLessThan) {
    return Decimal::Less(left, right);
  }
  return false;
}

bool TwinMatches(const NodeTerm& term, const Labels& labels,
                 const std::string& name) {
  int demanded = 0;
  int held = 0;
  for (const LabelRequirement& label : term.labels) {
    ++demanded;
    if (TwinHolds(label, labels)) ++held;
  }
  for (const LabelRequirement& field : term.fields) {
    ++demanded;
    if (field.key != "metadata.name" || field.values.size() != 1) continue;
    const bool is_same = field.values[0] == name;
    if (field.op == LabelOperator::kIn && is_same) ++held;
    if (field.op == LabelOperator::kNotIn && !is_same) ++held;
  }
  return demanded > 0 && held == demanded;
}

bool TwinSelects(const PlacementRules& rules, const Machine& machine) {
  const Labels labels(machine.labels.begin(), machine.labels.end());
  size_t held = 0;
  for (const LabelRequirement& selector : rules.selectors) {
    if (TwinHolds(selector, labels)) ++held;
  }
  return held == rules.selectors.size();
}

bool TwinIsAffine(const PlacementRules& rules, const Machine& machine) {
  const Labels labels(machine.labels.begin(), machine.labels.end());
  bool is_affine = rules.required.empty();
  for (const NodeTerm& term : rules.required) {
    if (TwinMatches(term, labels, machine.name)) is_affine = true;
  }
  return is_affine;
}

bool TwinTolerates(const PlacementRules& rules, const Machine& machine) {
  for (const auto& [taint, since_ms] : machine.taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule) continue;
    if (taint.effect == TaintEffect::kUnknown) continue;
    bool is_tolerated = false;
    for (const Toleration& toleration : rules.tolerations) {
      const bool is_exists = toleration.op == TolerationOperator::kExists;
      const bool is_equal = toleration.op == TolerationOperator::kEqual;
      const bool of_key =
          toleration.key == taint.key || (is_exists && toleration.key.empty());
      const bool of_value =
          is_exists || (is_equal && toleration.value == taint.value);
      const bool of_effect =
          toleration.effect.value_or(taint.effect) == taint.effect;
      if (of_key && of_value && of_effect) is_tolerated = true;
    }
    if (!is_tolerated) return false;
  }
  return true;
}

bool TwinPortsAreFree(const PlacementRules& rules, const Machine& machine) {
  int conflicts = 0;
  for (const HostPort& a : rules.host_ports) {
    for (const HostPort& b : machine.used_host_ports) {
      bool is_same_address = a.address == b.address;
      for (const std::string all : {"0.0.0.0", "::"}) {
        if (a.address == all || b.address == all) is_same_address = true;
      }
      if (is_same_address && a.port == b.port && a.protocol == b.protocol) {
        ++conflicts;
      }
    }
  }
  return conflicts == 0;
}

// ---------------------------------------------------------------------------
// Random rules and machines

constexpr std::array kKeys = {"a", "b", "c"};
constexpr std::array kValues = {"",
                                "x",
                                "X",
                                "7",
                                "+7",
                                "07",
                                "-7",
                                "8",
                                " 8",
                                "9223372036854775807",
                                "9223372036854775808",
                                "-9223372036854775808"};
constexpr std::array kNames = {"n1", "n2", "n3"};

template <class List>
std::string OneOf(const List& list, Rng* rng) {
  return list.at(rng->Below(list.size()));
}

LabelRequirement DrawRequirement(Rng* rng) {
  LabelRequirement requirement;
  requirement.key = OneOf(kKeys, rng);
  requirement.op = static_cast<LabelOperator>(rng->Below(7));
  const bool is_one = requirement.op >= LabelOperator::kGreaterThan;
  const int64_t count = is_one && rng->Chance(9, 10) ? 1 : rng->Between(0, 5);
  for (int64_t i = 0; i < count; ++i) {
    requirement.values.push_back(OneOf(kValues, rng));
  }
  std::ranges::sort(requirement.values);
  return requirement;
}

LabelRequirement DrawField(Rng* rng) {
  LabelRequirement field;
  field.key = rng->Chance(7, 8) ? "metadata.name" : OneOf(kKeys, rng);
  field.op = rng->Chance(7, 8) ? static_cast<LabelOperator>(rng->Below(2))
                               : static_cast<LabelOperator>(rng->Below(7));
  const int64_t count = rng->Chance(7, 8) ? 1 : rng->Between(0, 2);
  for (int64_t i = 0; i < count; ++i) {
    field.values.push_back(OneOf(kNames, rng));
  }
  std::ranges::sort(field.values);
  return field;
}

NodeTerm DrawTerm(Rng* rng) {
  NodeTerm term;
  for (uint64_t i = rng->Below(4); i > 0; --i) {
    term.labels.push_back(DrawRequirement(rng));
  }
  if (rng->Chance(1, 3)) term.fields.push_back(DrawField(rng));
  return term;
}

Taint DrawTaint(Rng* rng) {
  return {OneOf(kKeys, rng), rng->Chance(1, 2) ? "x" : "",
          static_cast<TaintEffect>(rng->Below(4))};
}

Toleration DrawToleration(Rng* rng) {
  Toleration toleration;
  if (rng->Chance(3, 4)) toleration.key = OneOf(kKeys, rng);
  toleration.op = static_cast<TolerationOperator>(rng->Below(3));
  if (rng->Chance(1, 2)) toleration.value = "x";
  if (rng->Chance(1, 2)) {
    toleration.effect = static_cast<TaintEffect>(rng->Below(4));
  }
  return toleration;
}

HostPort DrawPort(Rng* rng) {
  constexpr std::array kProtocols = {"TCP", "UDP"};
  constexpr std::array kAddresses = {"0.0.0.0", "::", "10.0.0.1", "::1"};
  return {OneOf(kProtocols, rng), OneOf(kAddresses, rng),
          static_cast<int32_t>(rng->Between(1, 4))};
}

PlacementRules DrawRules(Rng* rng) {
  PlacementRules rules;
  for (uint64_t i = rng->Below(4); i > 0; --i) {
    rules.selectors.push_back(DrawRequirement(rng));
  }
  for (uint64_t i = rng->Below(4); i > 0; --i) {
    rules.required.push_back(DrawTerm(rng));
  }
  for (uint64_t i = rng->Below(6); i > 0; --i) {
    rules.tolerations.push_back(DrawToleration(rng));
  }
  for (uint64_t i = rng->Below(4); i > 0; --i) {
    rules.host_ports.push_back(DrawPort(rng));
  }
  return rules;
}

Machine DrawMachine(Rng* rng) {
  Machine machine;
  machine.name = OneOf(kNames, rng);
  for (const char* key : kKeys) {
    if (rng->Chance(2, 3))
      machine.labels.emplace_back(key, OneOf(kValues, rng));
  }
  for (uint64_t i = rng->Below(4); i > 0; --i) {
    machine.taints.push_back({DrawTaint(rng), 0});
  }
  for (uint64_t i = rng->Below(5); i > 0; --i) {
    machine.used_host_ports.push_back(DrawPort(rng));
  }
  return machine;
}

// ---------------------------------------------------------------------------

struct Twin {
  const char* name;  // Of the constraint.
  bool (*allows)(const PlacementRules& rules, const Machine& machine);
};

class RulesTwin : public testing::TestWithParam<Twin> {
 protected:
  const Constraint& constraint() const {
    for (const ConstraintSet::Entry& entry : constraints_.entries()) {
      if (entry.name == GetParam().name) return *entry.constraint;
    }
    ADD_FAILURE() << "no constraint " << GetParam().name;
    return *constraints_.entries()[0].constraint;
  }
  const ConstraintSet constraints_;
};

TEST_P(RulesTwin, Agrees) {
  constexpr uint64_t kSeeds = 20000;
  uint64_t allowed = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Rng rng(seed);
    const PlacementRules rules = DrawRules(&rng);
    const Machine machine = DrawMachine(&rng);
    const bool expected = GetParam().allows(rules, machine);
    const ClassKey key{.priority = 0, .request = {}, .rules = &rules};
    ASSERT_EQ(constraint().Allows(key, machine), expected) << "seed " << seed;
    if (expected) ++allowed;
  }
  EXPECT_GT(allowed, kSeeds / 10) << "it is not tried";
  EXPECT_LT(allowed, kSeeds * 9 / 10) << "it is not tried";
}

INSTANTIATE_TEST_SUITE_P(Constraints, RulesTwin,
                         testing::Values(Twin{"taints", &TwinTolerates},
                                         Twin{"node_selector", &TwinSelects},
                                         Twin{"node_affinity", &TwinIsAffine},
                                         Twin{"host_ports", &TwinPortsAreFree}),
                         [](const auto& twin) {
                           return std::string(twin.param.name);
                         });

}  // namespace
}  // namespace sluice
