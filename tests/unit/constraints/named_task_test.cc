#include "constraints/named_task.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(NamedTask, HasTheUidThatItsClientGaveIt) {
  Task task;
  task.id = TaskId{~uint64_t{0}};
  task.client.uid = TaskUid{17};
  task.name = "web-1\n";
  EXPECT_EQ(NamedTask(task), "17 web-1\\n");
}

TEST(NamedTask, HasTheIdThatItsFeedGaveIt) {
  Task task;
  task.id = TaskId{~uint64_t{0}};
  task.client.feed = FeedId{1};
  task.client.feed_task_id = "pod-7\n";
  task.name = "web-1";
  EXPECT_EQ(NamedTask(task), "pod-7\\n web-1");
}

}  // namespace
}  // namespace sluice
