#include "rpc/status.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"

namespace sluice {
namespace {

TEST(Status, KeepsCodeAndMessage) {
  const grpc::Status status =
      ToGrpcStatus(absl::NotFoundError("task 7 is unknown"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "task 7 is unknown");
}

TEST(Status, KeepsOk) { EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok()); }

}  // namespace
}  // namespace sluice
