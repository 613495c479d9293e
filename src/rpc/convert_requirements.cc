#include "rpc/convert_requirements.h"

#include <utility>

#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "constraints/label_match.h"

namespace sluice {
namespace {

using firmament::LabelSelector;

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

// Why it makes no sense; empty if it does.
std::string WhatIsWrongWithLabel(const GivenRequirement& given) {
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
                    ", which is not a 64-bit integer");
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

std::string WhatIsWrong(const GivenRequirement& given, RequirementOn on) {
  switch (on) {
    case RequirementOn::kMachineLabel:
      return WhatIsWrongWithLabel(given);
    case RequirementOn::kMachineField:
      return WhatIsWrongWithField(given);
    case RequirementOn::kTaskLabel:
      if (given.op == LabelOperator::kGreaterThan ||
          given.op == LabelOperator::kLessThan) {
        return StrCat(given.operator_text, " is for machines only");
      }
      return WhatIsWrongWithLabel(given);
  }
  return "";
}

}  // namespace

GivenRequirement Given(std::string_view key, std::string_view op,
                       const RepeatedText& values) {
  return {key, ToOperator(op), StrCat("operator ", Quoted(op)), values};
}

GivenRequirement Given(const LabelSelector& selector) {
  return {
      selector.key(), ToOperator(selector.type()),
      StrCat("type ", LabelSelector::SelectorType_IsValid(selector.type())
                          ? LabelSelector::SelectorType_Name(selector.type())
                          : StrCat(static_cast<int>(selector.type()))),
      selector.values()};
}

absl::StatusOr<LabelRequirement> ToRequirement(const GivenRequirement& given,
                                               RequirementOn on,
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
  if (std::string wrong = WhatIsWrong(given, on); !wrong.empty()) {
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

}  // namespace sluice
