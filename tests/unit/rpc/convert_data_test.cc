#include "rpc/convert_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using firmament::ReferenceDescriptor;
using firmament::TaskDescriptor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class ConvertDataTest : public testing::Test {
 protected:
  void Add(
      const std::string& id, uint64_t size, const std::string& location,
      ReferenceDescriptor::ReferenceType type = ReferenceDescriptor::CONCRETE) {
    ReferenceDescriptor* reference = task_.add_dependencies();
    reference->set_id(id);
    reference->set_size(size);
    reference->set_location(location);
    reference->set_type(type);
  }
  std::string Fault() const {
    return std::string(ToTaskData(task_).status().message());
  }
  TaskDescriptor task_;
};

TEST_F(ConvertDataTest, AddsUpWhatLiesOnAMachineAndInARack) {
  Add("x", 10, "/r/m1");
  Add("y", 5, "/r/m1");
  Add("y", 5, "/r/m2");
  Add("y", 5, "/s/m3");
  Add("z", 1, "m2");
  const auto data = ToTaskData(task_);
  ASSERT_THAT(data, IsOk());
  EXPECT_EQ(data->bytes, 16);
  EXPECT_THAT(data->on_machines,
              ElementsAre(Pair("m1", 15), Pair("m2", 6), Pair("m3", 5)));
  EXPECT_THAT(data->in_racks, ElementsAre(Pair("r", 15), Pair("s", 5)));
}

TEST_F(ConvertDataTest, LooksAtWhatIsStoredSomewhere) {
  Add("x", 1, "m", ReferenceDescriptor::TOMBSTONE);
  Add("x", 1, "m", ReferenceDescriptor::FUTURE);
  Add("x", 1, "m", ReferenceDescriptor::VALUE);
  Add("x", 1, "m", ReferenceDescriptor::ERROR);
  EXPECT_TRUE(ToTaskData(task_)->empty());
  Add("x", 3, "m", ReferenceDescriptor::STREAM);
  EXPECT_EQ(ToTaskData(task_)->bytes, 3);
}

TEST_F(ConvertDataTest, KeepsWhatLiesNowhere) {
  Add("x", 3, "");
  Add("empty", 0, "m");
  const auto data = ToTaskData(task_);
  EXPECT_EQ(data->bytes, 3);
  EXPECT_THAT(data->on_machines, IsEmpty());
}

TEST_F(ConvertDataTest, NamesWhatMakesNoSense) {
  for (const char* location : {"/", "/r", "/r/", "//m", "/r/m/x"}) {
    task_.Clear();
    Add("x", 1, location);
    EXPECT_EQ(Fault(), std::string("dependencies: location '") + location +
                           "' is not /RACK/MACHINE");
  }
  task_.Clear();
  Add("x", 1, std::string(5000, 'm'));
  EXPECT_THAT(Fault(), HasSubstr("dependencies: location"));
  task_.Clear();
  Add("x", UINT64_MAX, "m");
  EXPECT_THAT(Fault(), HasSubstr("dependencies: size: more than"));
  task_.Clear();
  for (int i = 0; i <= 1000; ++i) Add("x", 1, "m");
  EXPECT_THAT(Fault(), HasSubstr("1001 of them"));
}

}  // namespace
}  // namespace sluice
