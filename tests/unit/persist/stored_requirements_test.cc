#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "persist/stored_rules.h"
#include "util/rules_builder.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

using StoredRequirementList =
    google::protobuf::RepeatedPtrField<v1::StoredRequirement>;

// Every operator, in order, with bytes that are no UTF-8.
std::vector<LabelRequirement> Everything() {
  return {LabelIn("a\xff", {"1", "2\xff"}),
          LabelNotIn("b", {""}),
          LabelExists("c"),
          LabelDoesNotExist("d"),
          LabelAbove("e", INT64_MAX),
          LabelBelow("f", INT64_MIN),
          LabelInvalid("g", "operator 'Has' is unknown")};
}

TEST(StoredRequirements, ComeBackAsTheyWere) {
  const PlacementRules rules{.selectors = InOrder(Everything())};
  EXPECT_EQ(*Decode(Encode(rules)), rules);
}

struct Damage {
  std::function<void(StoredRequirementList*)> cause;
  std::string error;
};

TEST(StoredRequirements, AreRefusedWhereTheyNeverWere) {
  const auto op = [](int index, int32_t value) {
    return [=](auto* list) { list->Mutable(index)->set_op(value); };
  };
  enum { kIn, kNotIn, kExists, kDoesNotExist, kAbove, kBelow, kInvalid };
  const std::vector<Damage> damages = {
      {op(0, 7), "its requirements: op: 7 is not in 0 to 6"},
      {op(0, -1), "its requirements: op: -1 is not in 0 to 6"},
      {op(kIn, 2), "values: its operator cannot have these"},
      {op(kExists, 0), "values: its operator cannot have these"},
      {op(kDoesNotExist, 1), "values: its operator cannot have these"},
      {op(kExists, 4), "values: its operator cannot have these"},
      {op(kExists, 6), "values: its operator cannot have these"},
      {op(kInvalid, 5), "values: its operator cannot have these"},
      {[](auto* list) { list->Mutable(kAbove)->add_values("Z"); },
       "values: its operator cannot have these"},
      {[](auto* list) { list->Mutable(kIn)->add_values("0"); },
       "its requirements: values: out of order"},
      {[](auto* list) { list->SwapElements(0, 1); },
       "its requirements are out of order"},
      {[](auto* list) { *list->Add() = list->at(kInvalid); },
       "its requirements are out of order"}};
  for (const Damage& damage : damages) {
    v1::StoredRules stored = Encode({.selectors = Everything()});
    damage.cause(stored.mutable_selectors());
    EXPECT_THAT(Decode(stored),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(damage.error)));
  }
}

}  // namespace
}  // namespace sluice
