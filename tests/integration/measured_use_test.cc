// Placement by measured use (--use_measured_utilization), over real gRPC.

#include <gtest/gtest.h>

#include <string>

#include "integration/client.h"
#include "integration/messages.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

class MeasuredUseOverGrpc : public testing::Test {
 protected:
  MeasuredUseOverGrpc() : server_(MeasuredOptions()), client_(server_.port()) {
    client_.AddNode(NodeMessage("n", {.cpu = 1000}));
    for (uint64_t uid = 1; uid <= 4; ++uid) {
      client_.Submit(TaskMessage(uid, {.cpu = 500}));
    }
  }

  static Options MeasuredOptions() {
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.measured_use = {.is_on = true, .samples = 1};
    return options;
  }
  firmament::NodeReplyType Sample(const std::string& uuid, double cpu) {
    firmament::ResourceStats stats;
    stats.set_resource_id(uuid);
    firmament::CpuStats* sample = stats.add_cpus_stats();
    sample->set_cpu_capacity(1000);
    sample->set_cpu_utilization(cpu);
    stats.set_mem_utilization(0);
    return client_.AddStats(stats);
  }
  int Placed() { return client_.Schedule().deltas_size(); }
  // Tasks count as measured from the next millisecond on.
  int PlacedOnceMeasured(double cpu) {
    for (int i = 0; i < 10'000; ++i) {
      EXPECT_EQ(Sample("n", cpu), firmament::NODE_ADDED_OK);
      if (const int placed = Placed(); placed > 0) return placed;
    }
    return 0;
  }

  MiniServer server_;
  Client client_;
};

TEST_F(MeasuredUseOverGrpc, PlacesByWhatIsUsed) {
  EXPECT_EQ(Placed(), 2);
  EXPECT_EQ(Placed(), 0);
  EXPECT_EQ(PlacedOnceMeasured(0.5), 1) << "requests are at 150 per cent";
  EXPECT_EQ(Sample("n", 0.1), firmament::NODE_ADDED_OK);
  EXPECT_EQ(Placed(), 0);
}

TEST_F(MeasuredUseOverGrpc, PlacesNothingWhereAllIsUsed) {
  EXPECT_EQ(Placed(), 2);
  EXPECT_EQ(Sample("n", 1), firmament::NODE_ADDED_OK);
  EXPECT_EQ(Placed(), 0);
  EXPECT_EQ(Sample("nobody", 0), firmament::NODE_NOT_FOUND);
  EXPECT_EQ(Placed(), 0);
}

}  // namespace
}  // namespace sluice
