// Instructions in final reports, and the policy that goes by them
// (--cost_model=whare_map,...), over real gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "integration/client.h"
#include "integration/messages.h"
#include "integration/mini_server.h"
#include "util/http_get.h"

namespace sluice {
namespace {

using firmament::TASK_COMPLETED_OK;
using testing::HasSubstr;

constexpr uint64_t kGiga = 1'000'000'000;
constexpr char kInstanceType[] = "node.kubernetes.io/instance-type";

// A large machine, which the load policy likes best, and a small one.
class WhareMapOverGrpc : public testing::Test {
 protected:
  WhareMapOverGrpc() : server_(WhareMapOptions()), client_(server_.port()) {
    client_.AddNode(NodeMessage(
        "large", {.cpu = 64000, .labels = {{kInstanceType, "large"}}}));
    client_.AddNode(NodeMessage(
        "small", {.cpu = 8000, .labels = {{kInstanceType, "small"}}}));
  }

  static Options WhareMapOptions() {
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.cost_model = "cpu_memory,whare_map:samples=2";
    options.http_address = "127.0.0.1:0";
    return options;
  }
  // Runs one, and reports so many instructions in a second.
  std::string RunOne(const char* binary, uint64_t instructions,
                     const char* pinned_to = nullptr) {
    TaskFields fields = {.cpu = 1000};
    if (pinned_to != nullptr)
      fields.node_selector = {{kInstanceType, pinned_to}};
    firmament::TaskDescription task = TaskMessage(++uid_, fields);
    task.mutable_task_descriptor()->set_binary(binary);
    client_.Submit(task);
    const auto places = PlacesOf(client_.Schedule());
    firmament::TaskUID report;
    report.set_task_uid(uid_);
    report.mutable_final_report()->set_runtime(1);
    report.mutable_final_report()->set_instructions(instructions);
    grpc::ClientContext context;
    firmament::TaskCompletedResponse response;
    const grpc::Status status =
        client_.scheduler().TaskCompleted(&context, report, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.type(), TASK_COMPLETED_OK);
    client_.Remove(uid_);
    return places.empty() ? "" : places.begin()->second;
  }

  MiniServer server_;
  Client client_;
  uint64_t uid_ = 0;
};

TEST_F(WhareMapOverGrpc, WhatFinalReportsSayChangesWhereTheNextTaskGoes) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(RunOne("/bin/a", 2 * kGiga), PuOf("large"));
    EXPECT_EQ(RunOne("/bin/a", 3 * kGiga, "small"), PuOf("small"));
  }
  EXPECT_EQ(RunOne("/bin/a", 3 * kGiga), PuOf("small"));
  EXPECT_EQ(RunOne("/bin/b", kGiga), PuOf("large")) << "another kind";
}

TEST_F(WhareMapOverGrpc, ReportsWithoutInstructionsChangeNothing) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(RunOne("/bin/a", 2 * kGiga), PuOf("large"));
    EXPECT_EQ(RunOne("/bin/a", 0, "small"), PuOf("small"));
  }
  EXPECT_EQ(RunOne("/bin/a", 2 * kGiga), PuOf("large"));
}

TEST_F(WhareMapOverGrpc, CountsReportsThatMakeNoSense) {
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(RunOne("/bin/a", 2 * kGiga), PuOf("large"));
    EXPECT_EQ(RunOne("/bin/a", kAll, "small"), PuOf("small"));
  }
  EXPECT_EQ(RunOne("/bin/a", 2 * kGiga), PuOf("large"));
  EXPECT_THAT(HttpGet(server_.http_port(), "/metrics").body,
              HasSubstr("sluice_malformed_total{kind=\"TaskCompleted\"} 3"));
}

}  // namespace
}  // namespace sluice
