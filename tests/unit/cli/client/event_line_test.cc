#include "cli/client/event_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/client/contract.h"
#include "firmament/firmament_scheduler.pb.h"
#include "util/paths.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(IsCommentLine, SkipsBlanksAndComments) {
  for (const char* line : {"", "  \t", "\r", "# x", "  // x", "//", "#"}) {
    EXPECT_TRUE(IsCommentLine(line)) << line;
  }
  EXPECT_FALSE(IsCommentLine("{\"schedule\": {}} # x"));
  EXPECT_FALSE(IsCommentLine("/ x"));
}

TEST(LineName, NamesTheFile) {
  EXPECT_EQ(LineName("-", 3), "line 3");
  EXPECT_EQ(LineName("a/b.jsonl", 3), "a/b.jsonl, line 3");
}

TEST(ParseEventLine, KnowsEveryMethodOfTheContract) {
  const google::protobuf::ServiceDescriptor& service = SchedulerService();
  ASSERT_EQ(service.method_count(), 14);
  for (int i = 0; i < service.method_count(); ++i) {
    const std::string name = EventName(*service.method(i));
    const auto event = ParseEventLine("{\"" + name + "\": {}}");
    ASSERT_THAT(event, IsOk()) << name;
    EXPECT_EQ(event->method, service.method(i));
    EXPECT_EQ(event->request->GetDescriptor(), service.method(i)->input_type());
  }
}

TEST(ParseEventLine, ReadsTheRequestWithAllDigitsOfAUid) {
  const auto event = ParseEventLine(
      " { \"taskCompleted\" : {\"taskUid\": "
      "\"18446744073709551615\"} } \r");
  ASSERT_THAT(event, IsOk());
  EXPECT_EQ(static_cast<const firmament::TaskUID&>(*event->request).task_uid(),
            UINT64_MAX);
}

TEST(ParseEventLine, IsNotMisledByBracesInStrings) {
  const auto event =
      ParseEventLine(R"({"nodeRemoved": {"resourceUid": "a}{\"}}"}})");
  ASSERT_THAT(event, IsOk());
  EXPECT_EQ(static_cast<const firmament::ResourceUID&>(*event->request)
                .resource_uid(),
            "a}{\"}}");
}

TEST(ParseEventLine, RefusesWhatIsNotOneObjectWithOneKey) {
  for (const char* line :
       {"x", "[]", "{}", "{\"schedule\"}", "{\"schedule\":}",
        "{\"schedule\": 1}", "{schedule: {}}", "{\"schedule"}) {
    EXPECT_THAT(ParseEventLine(line),
                StatusIs(kInvalid, "not of the form {\"eventName\": {...}}"))
        << line;
  }
  for (const char* line : {"{\"schedule\": {}", "{\"schedule\": {\"}}"}) {
    EXPECT_THAT(ParseEventLine(line),
                StatusIs(kInvalid, "a closing brace is missing"))
        << line;
  }
  EXPECT_THAT(ParseEventLine(R"({"schedule": {}, "check": {}})"),
              StatusIs(kInvalid,
                       "a line holds one event, but something "
                       "follows schedule"));
  EXPECT_THAT(ParseEventLine(R"({"schedule": {}} {"check": {}})"),
              StatusIs(kInvalid, "something follows the closing brace"));
}

TEST(ParseEventLine, ListsTheEventsThereAre) {
  EXPECT_THAT(
      ParseEventLine(R"({"nodAdded": {}})"),
      StatusIs(kInvalid, testing::AllOf(HasSubstr("unknown event 'nodAdded'"),
                                        HasSubstr("nodeAdded, "))));
  EXPECT_THAT(ParseEventLine(R"({"NodeAdded": {}})"),
              StatusIs(kInvalid, HasSubstr("unknown event 'NodeAdded'")));
}

TEST(ParseEventLine, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(ParseEventLine(R"({"taskCompleted": {"taskUuid": 1}})"),
              StatusIs(kInvalid, testing::AllOf(HasSubstr("taskCompleted: "),
                                                HasSubstr("taskUuid"))));
  EXPECT_THAT(ParseEventLine(R"({"taskCompleted": {"taskUid": -1}})"),
              StatusIs(kInvalid, HasSubstr("taskUid: -1 is not")));
  EXPECT_THAT(ParseEventLine(R"({"addTaskInfo": {"type": "NONSENSE"}})"),
              StatusIs(kInvalid, HasSubstr("NONSENSE")));
}

TEST(ParseEventLine, AnswersHostileTextWithAnError) {
  const std::string deep = "{\"nodeAdded\": " + std::string(100'000, '{') +
                           std::string(100'000, '}') + "}";
  EXPECT_THAT(ParseEventLine(deep), StatusIs(kInvalid));
  EXPECT_THAT(ParseEventLine(std::string("{\"check\": {\"\0\"}}", 16)),
              StatusIs(kInvalid));
}

// Returns how many files of events there are in the directory.
int ReadEventsIn(const char* directory) {
  int file_count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(SourcePath(directory))) {
    if (entry.path().extension() != ".jsonl") continue;
    ++file_count;
    std::ifstream file(entry.path());
    std::string line;
    int event_count = 0;
    while (std::getline(file, line)) {
      if (IsCommentLine(line)) continue;
      EXPECT_THAT(ParseEventLine(line), IsOk()) << entry.path() << line;
      ++event_count;
    }
    EXPECT_GT(event_count, 2) << entry.path();
  }
  return file_count;
}

TEST(ParseEventLine, ReadsTheExamples) {
  EXPECT_GE(ReadEventsIn("deploy/examples"), 11);
  EXPECT_GE(ReadEventsIn("docs/networks"), 6);
}

}  // namespace
}  // namespace sluice
