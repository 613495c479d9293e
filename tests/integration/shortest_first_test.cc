// Final reports, and the policy that goes by them (--cost_model=sjf), over real
// gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
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
using firmament::TASK_NOT_FOUND;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr uint64_t kBegin = 1'700'000'000'000'000;  // In microseconds.
constexpr uint64_t kSecondUs = 1'000'000;

firmament::TaskDescription TaskOfProgram(uint64_t uid, const char* binary) {
  firmament::TaskDescription task = TaskMessage(uid, {.cpu = 4000});
  task.mutable_task_descriptor()->set_binary(binary);
  return task;
}

// One machine with room for one task.
class ShortestFirstOverGrpc : public testing::Test {
 protected:
  ShortestFirstOverGrpc() : server_(SjfOptions()), client_(server_.port()) {
    client_.AddNode(NodeMessage("n"));
  }

  static Options SjfOptions() {
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.cost_model = "cpu_memory,sjf";
    options.http_address = "127.0.0.1:0";
    return options;
  }
  firmament::TaskReplyType Complete(const firmament::TaskUID& uid) {
    grpc::ClientContext context;
    firmament::TaskCompletedResponse response;
    const grpc::Status status =
        client_.scheduler().TaskCompleted(&context, uid, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.type();
  }
  static firmament::TaskUID Report(uint64_t uid, uint64_t start_us,
                                   uint64_t finish_us, double seconds = 0) {
    firmament::TaskUID report;
    report.set_task_uid(uid);
    report.mutable_final_report()->set_start_time(start_us);
    report.mutable_final_report()->set_finish_time(finish_us);
    report.mutable_final_report()->set_runtime(seconds);
    return report;
  }
  // Runs a task and reports it.
  void RunOne(uint64_t uid, const char* binary, uint64_t seconds) {
    client_.Submit(TaskOfProgram(uid, binary));
    EXPECT_THAT(PlacesOf(client_.Schedule()),
                ElementsAre(Pair(uid, PuOf("n"))));
    EXPECT_EQ(Complete(Report(uid, kBegin, kBegin + seconds * kSecondUs)),
              TASK_COMPLETED_OK);
    client_.Remove(uid);
  }
  // Who goes first of one of each, the long one submitted before.
  uint64_t FirstOfTwo() {
    client_.Submit(TaskOfProgram(11, "/bin/long"));
    client_.Submit(TaskOfProgram(12, "/bin/short"));
    const auto places = PlacesOf(client_.Schedule());
    EXPECT_EQ(places.size(), 1u);
    return places.empty() ? 0 : places.begin()->first;
  }

  MiniServer server_;
  Client client_;
};

TEST_F(ShortestFirstOverGrpc, TheOlderGoesWhereNothingIsKnown) {
  EXPECT_EQ(FirstOfTwo(), 11u);
}

TEST_F(ShortestFirstOverGrpc, WhatFinalReportsSayChangesWhoGoesFirst) {
  RunOne(1, "/bin/long", 1000);
  RunOne(2, "/bin/short", 10);
  EXPECT_EQ(FirstOfTwo(), 12u);
}

TEST_F(ShortestFirstOverGrpc, ReportsOfOneAndTheSameTimeChangeNothing) {
  RunOne(1, "/bin/long", 100);
  RunOne(2, "/bin/short", 100);
  EXPECT_EQ(FirstOfTwo(), 11u);
}

TEST_F(ShortestFirstOverGrpc, CountsReportsThatMakeNoSense) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const firmament::TaskUID bad[] = {
      Report(0, kBegin, kBegin - 1),
      Report(0, kBegin, std::numeric_limits<uint64_t>::max()),
      Report(0, 0, 0, -1),
      Report(0, 0, 0, std::nan("")),
      Report(0, 0, 0, kNever),
      Report(0, 0, 0, -kNever),
  };
  // Of the short kind: were they taken for long times, it would not be short.
  RunOne(1, "/bin/long", 1000);
  uint64_t uid = 1;
  for (firmament::TaskUID report : bad) {
    client_.Submit(TaskOfProgram(++uid, "/bin/short"));
    client_.Schedule();
    report.set_task_uid(uid);
    EXPECT_EQ(Complete(report), TASK_COMPLETED_OK);
    EXPECT_EQ(Complete(report), TASK_COMPLETED_OK) << "once more";
    client_.Remove(uid);
  }
  EXPECT_THAT(HttpGet(server_.http_port(), "/metrics").body,
              HasSubstr("sluice_malformed_total{kind=\"TaskCompleted\"} 12"));
  // What counted is the daemon's own account: next to no time.
  EXPECT_EQ(FirstOfTwo(), 12u);
}

TEST_F(ShortestFirstOverGrpc, IgnoresReportsOfTasksThatNobodyKnows) {
  RunOne(1, "/bin/long", 100);
  RunOne(2, "/bin/short", 100);
  EXPECT_EQ(Complete(Report(99, kBegin, kBegin + kSecondUs)), TASK_NOT_FOUND);
  EXPECT_EQ(Complete(Report(1, kBegin, kBegin + kSecondUs)), TASK_NOT_FOUND);
  EXPECT_EQ(Complete(Report(0, 0, 0, -1)), TASK_NOT_FOUND);
  EXPECT_EQ(FirstOfTwo(), 11u);
}

}  // namespace
}  // namespace sluice
