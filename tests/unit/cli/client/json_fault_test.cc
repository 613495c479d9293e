#include "cli/client/json_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "firmament/firmament_scheduler.pb.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

// What is wrong with a NodeAdded request.
std::string Fault(const std::string& json) {
  firmament::ResourceTopologyNodeDescriptor machine;
  const absl::Status status = ReadJson(json, &machine);
  EXPECT_NE(status.code(), absl::StatusCode::kOk) << json;
  return std::string(status.message());
}

TEST(ReadJson, ReadsAMessage) {
  firmament::TaskUID task;
  EXPECT_THAT(ReadJson(R"({"taskUid": "7"})", &task), IsOk());
  EXPECT_EQ(task.task_uid(), 7u);
}

TEST(ReadJson, NamesTheFieldAndWhatItHolds) {
  firmament::TaskUID task;
  EXPECT_THAT(ReadJson(R"({"taskUid": "x"})", &task),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "taskUid: \"x\" is not a whole number from 0 up"));
  EXPECT_EQ(Fault(R"({"resourceDesc": {"schedulable": "maybe"}})"),
            "resourceDesc.schedulable: \"maybe\" is not true or false");
  EXPECT_EQ(
      Fault(R"({"resourceDesc": {"availableResources": {"cpuCores": "a"}}})"),
      "resourceDesc.availableResources.cpuCores: \"a\" is not a number");
  EXPECT_EQ(Fault(R"({"resourceDesc": 3})"),
            "resourceDesc: 3 is not an object in braces");
  EXPECT_EQ(Fault(R"({"resourceDesc": {"state": "x"}})").substr(0, 40),
            "resourceDesc.state: \"x\" is not one of RE");
  EXPECT_EQ(Fault(R"({"resourceDesc": {"uuid": {}}})"),
            "resourceDesc.uuid: takes no object");
  EXPECT_EQ(Fault(R"({"resourceDesc": {"uuid": [1]}})"),
            "resourceDesc.uuid: takes one value, not a list");
}

TEST(ReadJson, GuessesWhichFieldWasMeant) {
  EXPECT_EQ(Fault(R"({"resourceDsc": {}})"),
            "there is no field 'resourceDsc'; did you mean 'resourceDesc'?");
  EXPECT_EQ(Fault(R"({"children": [{"resourceDesc": {"uid": "m"}}]})"),
            "children[0].resourceDesc has no field 'uid'; did you mean "
            "'uuid'?");
  EXPECT_EQ(Fault(R"({"elephants": 7})"), "there is no field 'elephants'");
}

TEST(ReadJson, SaysWhereTheGrammarIsBroken) {
  EXPECT_EQ(Fault(R"({"parentId": "a" "resourceDesc": {}})"),
            "a comma or a closing brace is missing before "
            "'\"resourceDesc\": {}}'");
  EXPECT_EQ(Fault(R"({"children": [{} {}]})"),
            "a comma or a closing bracket is missing before '{}]}'");
  EXPECT_EQ(Fault(R"({,})"),
            "a key in quotes or a closing brace is missing before ',}'");
  EXPECT_EQ(Fault(R"({"parentId": tru})"), "a value is missing before 'tru}'");
  EXPECT_EQ(Fault("{\"parentId\": \"\xff\"}").substr(0, 19),
            "a text is not UTF-8");
}

TEST(JsonFaultText, PassesOnWhatItDoesNotKnow) {
  EXPECT_EQ(JsonFaultText("(x): odd\n{}\n^", *firmament::TaskUID::descriptor()),
            "(x): odd");
  EXPECT_EQ(JsonFaultText("", *firmament::TaskUID::descriptor()), "");
}

}  // namespace
}  // namespace sluice
