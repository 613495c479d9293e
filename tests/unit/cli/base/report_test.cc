#include "cli/base/report.h"

#include <gtest/gtest.h>

#include <sstream>

namespace sluice {
namespace {

Report Sample() {
  Report report;
  report.AddCount({"tasks", "tasks"}, 12);
  report.AddMicroseconds({"round_us", "round time"}, 3200);
  report.AddShare({"cpu", "cpu in use"}, 1, 4);
  report.AddShare({"gpu", "GPUs in use"}, 0, 0);
  report.AddRate({"per_s", "rate"}, 10, 4'000'000);
  report.AddRate({"none_per_s", "no rate"}, 10, 0);
  report.AddText({"note", "note"}, "a \"b\"");
  return report;
}

TEST(Report, PrintsATableWithUnits) {
  std::ostringstream out;
  Sample().PrintTable(out);
  EXPECT_EQ(out.str(),
            "tasks        12\n"
            "round time   3.2 ms\n"
            "cpu in use   25 %\n"
            "GPUs in use  -\n"
            "rate         2.5 /s\n"
            "no rate      -\n"
            "note         a \"b\"\n");
}

TEST(Report, PrintsJsonWithPlainNumbers) {
  std::ostringstream out;
  Sample().PrintJson(out);
  EXPECT_EQ(out.str(),
            "{\n"
            "  \"tasks\": 12,\n"
            "  \"round_us\": 3200,\n"
            "  \"cpu\": 0.25,\n"
            "  \"gpu\": null,\n"
            "  \"per_s\": 2.5,\n"
            "  \"none_per_s\": null,\n"
            "  \"note\": \"a \\\"b\\\"\"\n"
            "}\n");
}

TEST(Report, OfNothingIsAnEmptyObject) {
  std::ostringstream out;
  Report().PrintJson(out);
  EXPECT_EQ(out.str(), "{\n}\n");
}

}  // namespace
}  // namespace sluice
