#include "persist/stored_requirements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "util/rules_builder.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

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
  EXPECT_EQ(*Decode(Encode(InOrder(Everything()))), InOrder(Everything()));
  EXPECT_THAT(*Decode(StoredRequirementList()), IsEmpty());
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
      {op(0, 7), "an operator of it is none: 7"},
      {op(0, -1), "an operator of it is none: -1"},
      {op(kIn, 2), "values that it cannot have"},
      {op(kExists, 0), "values that it cannot have"},
      {op(kDoesNotExist, 1), "values that it cannot have"},
      {op(kExists, 4), "values that it cannot have"},
      {op(kExists, 6), "values that it cannot have"},
      {op(kInvalid, 5), "values that it cannot have"},
      {[](auto* list) { list->Mutable(kAbove)->add_values("Z"); },
       "values that it cannot have"},
      {[](auto* list) { list->Mutable(kIn)->add_values("0"); },
       "values of it are out of order"},
      {[](auto* list) { list->SwapElements(0, 1); },
       "requirements of it are out of order"},
      {[](auto* list) { *list->Add() = list->at(kInvalid); },
       "requirements of it are out of order"}};
  for (const Damage& damage : damages) {
    StoredRequirementList stored = Encode(Everything());
    damage.cause(&stored);
    EXPECT_THAT(Decode(stored),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(damage.error)));
  }
}

}  // namespace
}  // namespace sluice
