#include "base/status_macros.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "util/status_matchers.h"

namespace sluice {
namespace {

absl::Status Fail() { return absl::NotFoundError("task 7"); }

TEST(ReturnIfError, ReturnsTheErrorAndStops) {
  int steps = 0;
  const auto run = [&]() -> absl::Status {
    RETURN_IF_ERROR(absl::OkStatus());
    ++steps;
    RETURN_IF_ERROR(Fail());
    ++steps;
    return absl::OkStatus();
  };
  EXPECT_THAT(run(), StatusIs(absl::StatusCode::kNotFound, "task 7"));
  EXPECT_EQ(steps, 1);
}

TEST(ReturnIfError, EvaluatesItsExpressionOnce) {
  int calls = 0;
  const auto count = [&] {
    ++calls;
    return absl::OkStatus();
  };
  const auto run = [&]() -> absl::StatusOr<int> {
    RETURN_IF_ERROR(count());
    return 1;
  };
  EXPECT_THAT(run(), IsOk());
  EXPECT_EQ(calls, 1);
}

TEST(AssignOrReturn, DeclaresAssignsAndMoves) {
  const auto make = []() -> absl::StatusOr<std::unique_ptr<int>> {
    return std::make_unique<int>(5);
  };
  const auto run = [&]() -> absl::StatusOr<int> {
    ASSIGN_OR_RETURN(std::unique_ptr<int> first, make());
    std::unique_ptr<int> second;
    ASSIGN_OR_RETURN(second, make());
    return *first + *second;
  };
  ASSERT_THAT(run(), IsOk());
  EXPECT_EQ(*run(), 10);
}

TEST(AssignOrReturn, ReturnsTheErrorOfAnotherType) {
  const auto run = []() -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(const int value, absl::StatusOr<int>(Fail()));
    return StrCat(value);
  };
  EXPECT_THAT(run(), StatusIs(absl::StatusCode::kNotFound, "task 7"));
}

TEST(Annotate, PutsTheContextBeforeTheMessage) {
  EXPECT_THAT(Annotate(Fail(), "record 3"),
              StatusIs(absl::StatusCode::kNotFound, "record 3: task 7"));
}

TEST(Annotate, LeavesOkAlone) {
  EXPECT_THAT(Annotate(absl::OkStatus(), "record 3"), IsOk());
}

TEST(Message, IsTheTextOfTheStatus) {
  EXPECT_EQ(Message(Fail()), "task 7");
  EXPECT_EQ(Message(absl::OkStatus()), "");
}

}  // namespace
}  // namespace sluice
