#include "cli/client/connection.h"

#include <gtest/gtest.h>

#include <string>

#include "sluice/v1/errors.pb.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

absl::Status StatusOf(grpc::StatusCode code, const std::string& message) {
  GlobalOptions options;
  options.server = "host:1";
  options.timeout_s = 7;
  return Connection(options).StatusOf(grpc::Status(code, message));
}

TEST(WithPort, AddsThePortOfTheDaemonWhereThereIsNone) {
  EXPECT_EQ(WithPort("localhost"), "localhost:9090");
  EXPECT_EQ(WithPort("10.0.0.7"), "10.0.0.7:9090");
  EXPECT_EQ(WithPort("::1"), "[::1]:9090");
  EXPECT_EQ(WithPort("fe80::1%eth0"), "[fe80::1%eth0]:9090");
  EXPECT_EQ(WithPort("[::1]"), "[::1]:9090");
}

TEST(WithPort, LeavesOthersAlone) {
  for (const char* server : {"", "localhost:80", "[::1]:80", "unix:a",
                             "unix:///a/b", "ipv4:1.2.3.4:5", "dns:///host"}) {
    EXPECT_EQ(WithPort(server), server);
  }
}

TEST(Connection, PassesSuccessOn) {
  EXPECT_THAT(StatusOf(grpc::StatusCode::OK, ""), IsOk());
}

TEST(Connection, PutsErrorsIntoWords) {
  EXPECT_THAT(
      StatusOf(grpc::StatusCode::UNAVAILABLE, "refused"),
      StatusIs(absl::StatusCode::kUnavailable, "cannot reach host:1: refused"));
  EXPECT_THAT(StatusOf(grpc::StatusCode::DEADLINE_EXCEEDED, "late"),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       "no answer from host:1 within 7 s: late"));
  EXPECT_THAT(StatusOf(grpc::StatusCode::UNIMPLEMENTED, ""),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "host:1 does not offer this call: "));
  EXPECT_THAT(StatusOf(grpc::StatusCode::NOT_FOUND, "no task 7"),
              StatusIs(absl::StatusCode::kNotFound, "host:1: no task 7"));
}

TEST(Connection, SaysWhoLeadsInsteadOfOneThatFollows) {
  GlobalOptions options;
  options.server = "host:1";
  const Connection connection(options);
  const auto status_of = [&](const std::string& leader) {
    v1::NotLeading detail;
    detail.set_leader(leader);
    v1::ErrorStatus details;
    details.add_details()->PackFrom(detail);
    return connection.StatusOf(grpc::Status(grpc::StatusCode::UNAVAILABLE, "no",
                                            details.SerializeAsString()));
  };
  EXPECT_THAT(status_of("host:2"),
              StatusIs(absl::StatusCode::kUnavailable,
                       "host:1 follows; host:2 leads: --server=host:2"));
  EXPECT_THAT(status_of(""), StatusIs(absl::StatusCode::kUnavailable,
                                      "host:1 follows, and nobody leads yet"));
  EXPECT_THAT(
      connection.StatusOf(
          grpc::Status(grpc::StatusCode::UNAVAILABLE, "no", "no details")),
      StatusIs(absl::StatusCode::kUnavailable, "cannot reach host:1: no"));
}

TEST(Connection, ShowsNoControlBytesOfTheServer) {
  EXPECT_THAT(StatusOf(grpc::StatusCode::INTERNAL, "a\nb"),
              StatusIs(absl::StatusCode::kInternal, "host:1: a\\nb"));
}

TEST(Connection, GivesEachCallTheDeadlineOfTheUser) {
  GlobalOptions options;
  options.timeout_s = 3600;
  const auto context = Connection(options).MakeContext();
  const gpr_timespec left = gpr_time_sub(
      gpr_convert_clock_type(context->raw_deadline(), GPR_CLOCK_MONOTONIC),
      gpr_now(GPR_CLOCK_MONOTONIC));
  EXPECT_GT(gpr_timespec_to_micros(left), 3590e6);
  EXPECT_LT(gpr_timespec_to_micros(left), 3601e6);
  options.timeout_s = 0;
  const auto forever = Connection(options).MakeContext();
  EXPECT_EQ(gpr_time_cmp(forever->raw_deadline(),
                         gpr_inf_future(forever->raw_deadline().clock_type)),
            0);
}

}  // namespace
}  // namespace sluice
