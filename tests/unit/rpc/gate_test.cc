#include "rpc/gate.h"

#include <gtest/gtest.h>

#include "sluice/v1/errors.pb.h"

namespace sluice {
namespace {

// The detail for programs; its leader.
std::string LeaderIn(const grpc::Status& status) {
  v1::ErrorStatus details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(details.message(), status.error_message());
  v1::NotLeading detail;
  EXPECT_EQ(details.details_size(), 1);
  EXPECT_TRUE(details.details(0).UnpackTo(&detail));
  return detail.leader();
}

TEST(Gate, SaysWhoLeadsUntilItIsOpen) {
  Gate gate;
  EXPECT_FALSE(gate.is_open());
  EXPECT_EQ(gate.Refusal().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(gate.Refusal().error_message(),
            "this daemon does not lead, and nobody does yet");
  EXPECT_EQ(LeaderIn(gate.Refusal()), "");
  gate.SetLeader("10.0.0.7:9090");
  EXPECT_EQ(gate.Refusal().error_message(),
            "this daemon does not lead; 10.0.0.7:9090 does");
  EXPECT_EQ(LeaderIn(gate.Refusal()), "10.0.0.7:9090");
  gate.Open();
  EXPECT_TRUE(gate.is_open());
}

}  // namespace
}  // namespace sluice
