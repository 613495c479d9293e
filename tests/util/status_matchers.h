// Matchers for absl::Status and absl::StatusOr.
//
//   EXPECT_THAT(store.Write(batch), IsOk());
//   EXPECT_THAT(ParseLabel(""), StatusIs(absl::StatusCode::kInvalidArgument,
//                                        HasSubstr("empty")));

#ifndef SLUICE_TESTS_UTIL_STATUS_MATCHERS_H_
#define SLUICE_TESTS_UTIL_STATUS_MATCHERS_H_

#include <gmock/gmock.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"

namespace sluice {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}

template <class T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

MATCHER_P(StatusIs, code,
          testing::PrintToString(absl::StatusCodeToString(code))) {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code;
}

// `message` is a matcher for the text of the status, or the text itself.
MATCHER_P2(StatusIs, code, message,
           testing::PrintToString(absl::StatusCodeToString(code))) {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code &&
         testing::Value(std::string(Message(StatusOf(arg))), message);
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_STATUS_MATCHERS_H_
