#include "cli/base/json.h"

#include <gtest/gtest.h>

#include <string_view>

#include "firmament/firmament_scheduler.pb.h"

namespace sluice {
namespace {

TEST(JsonOf, WritesZerosAndAllDigits) {
  firmament::SchedulingDeltas deltas;
  firmament::SchedulingDelta& delta = *deltas.add_deltas();
  delta.set_task_id(UINT64_MAX);
  delta.set_resource_id("r");
  EXPECT_EQ(JsonOf(deltas, JsonLayout::kOneLine),
            R"({"deltas":[{"taskId":"18446744073709551615","resourceId":"r",)"
            R"("type":"NOOP"}],"unscheduledTasks":[]})");
}

TEST(JsonOf, IndentsWithoutALineEnd) {
  EXPECT_EQ(JsonOf(firmament::TaskUID(), JsonLayout::kIndented),
            "{\n \"taskUid\": \"0\"\n}");
}

TEST(JsonString, EscapesWhatJsonForbids) {
  EXPECT_EQ(JsonString(""), "\"\"");
  EXPECT_EQ(JsonString("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(JsonString(std::string_view("\n\0\x1f", 3)),
            R"("\u000a\u0000\u001f")");
  EXPECT_EQ(JsonString("\xc3\xa4"), "\"\xc3\xa4\"");
}

}  // namespace
}  // namespace sluice
