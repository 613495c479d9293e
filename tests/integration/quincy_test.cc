// Tasks that go to their data (--cost_model=quincy,...), over real gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "integration/await.h"
#include "integration/client.h"
#include "integration/messages.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

using firmament::ReferenceDescriptor;
using firmament::TaskDescription;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TaskDescription TaskThatReads(uint64_t uid, uint64_t bytes,
                              const std::string& location) {
  TaskDescription task = TaskMessage(uid, {.cpu = 1000});
  ReferenceDescriptor* object =
      task.mutable_task_descriptor()->add_dependencies();
  object->set_id("object");
  object->set_type(ReferenceDescriptor::CONCRETE);
  object->set_size(bytes);
  object->set_location(location);
  return task;
}

class QuincyOverGrpc : public testing::Test {
 protected:
  QuincyOverGrpc() : server_(QuincyOptions()), client_(server_.port()) {
    for (const char* uuid : {"a", "b", "c"}) client_.AddNode(NodeMessage(uuid));
  }
  static Options QuincyOptions() {
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.cost_model = "cpu_memory,quincy";
    return options;
  }

  MiniServer server_;
  Client client_;
};

constexpr uint64_t kGib = uint64_t{1} << 30;

TEST_F(QuincyOverGrpc, PutsATaskBesideItsData) {
  for (const char* uuid : {"b", "c", "b"}) {
    static uint64_t uid = 0;
    client_.Submit(TaskThatReads(++uid, 100 * kGib, uuid));
    EXPECT_THAT(PlacesOf(client_.Schedule()),
                ElementsAre(Pair(uid, PuOf(uuid))));
  }
}

TEST_F(QuincyOverGrpc, LetsATaskWaitForItsDataUntilTheWaitCostsMore) {
  client_.Submit(TaskMessage(1, {.cpu = 4000}));
  const std::string full = PlacesOf(client_.Schedule()).at(1);
  const std::string name = full.substr(0, full.find('-'));
  // It would wait for ever so long, and this one for eight seconds.
  client_.Submit(TaskThatReads(2, 1000 * kGib, name));
  client_.Submit(TaskThatReads(3, 2 * kGib, name));
  EXPECT_THAT(PlacesOf(client_.Schedule()), IsEmpty());
  EXPECT_THAT(client_.Explain(2).summary(),
              HasSubstr("it waits for a machine near its data"));
  std::map<uint64_t, std::string> places;
  Await([&] {
    places = PlacesOf(client_.Schedule());
    return !places.empty();
  });
  ASSERT_EQ(places.size(), 1u);
  EXPECT_TRUE(places.contains(3));
  client_.Remove(1);
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(2, full)));
}

TEST_F(QuincyOverGrpc, NamesALocationThatMakesNoSense) {
  client_.Submit(TaskThatReads(1, kGib, "/rack"));
  EXPECT_THAT(PlacesOf(client_.Schedule()), IsEmpty());
  EXPECT_THAT(client_.Explain(1).summary(),
              HasSubstr("location '/rack' is not /RACK/MACHINE"));
  client_.Submit(TaskThatReads(2, kGib, "nobody"));
  EXPECT_EQ(PlacesOf(client_.Schedule()).size(), 1u)
      << "it is far from its data wherever it goes";
}

}  // namespace
}  // namespace sluice
