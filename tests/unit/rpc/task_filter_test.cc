#include "rpc/task_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "util/cluster_builder.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TaskFilterTest : public testing::Test {
 protected:
  TaskFilterTest() {
    ClusterBuilder()
        .Machine("m", {.cpu = 100})
        .Task(1, {.cpu = 100, .job = "web", .name = "shop/web-1"})
        .Task(2, {.cpu = 500, .job = "web", .name = "shopping/web-2"})
        .Task(3, {.job = "db", .name = "x", .quarantine_reason = "no sense"})
        .ApplyTo(&scheduler_);
    scheduler_.Round();
  }

  std::vector<uint64_t> Taken(const v1::ListTasksRequest& request) {
    const ClusterState& state = scheduler_.state();
    const absl::StatusOr<TaskFilter> filter = TaskFilter::Of(state, request);
    EXPECT_THAT(filter, IsOk());
    std::vector<uint64_t> uids;
    for (const auto& [id, task] : state.tasks()) {
      if (filter->Takes(*task)) uids.push_back(id.value);
    }
    return uids;
  }

  TestScheduler scheduler_;
};

TEST_F(TaskFilterTest, TakesAllWhereNothingIsAskedFor) {
  EXPECT_THAT(Taken({}), ElementsAre(1, 2, 3));
}

TEST_F(TaskFilterTest, GoesByJobMachineNamespaceAndState) {
  v1::ListTasksRequest request;
  request.set_job("web");
  EXPECT_THAT(Taken(request), ElementsAre(1, 2));
  request.set_namespace_("shop");
  EXPECT_THAT(Taken(request), ElementsAre(1));
  request.Clear();
  request.set_machine("m");
  EXPECT_THAT(Taken(request), ElementsAre(1));
  request.add_states(v1::Task::PENDING);
  EXPECT_THAT(Taken(request), IsEmpty());
  request.clear_machine();
  request.add_states(v1::Task::QUARANTINED);
  EXPECT_THAT(Taken(request), ElementsAre(2, 3));
}

TEST_F(TaskFilterTest, RefusesWhatIsUnknown) {
  v1::ListTasksRequest request;
  request.set_job("nobody");
  EXPECT_THAT(TaskFilter::Of(scheduler_.state(), request),
              StatusIs(absl::StatusCode::kNotFound, "job 'nobody' is unknown"));
  request.clear_job();
  request.set_machine("nowhere");
  EXPECT_THAT(TaskFilter::Of(scheduler_.state(), request),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere")));
}

}  // namespace
}  // namespace sluice
