#include "rpc/feed_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/limits.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class FeedProtocolTest : public testing::Test {
 protected:
  v1::FeedEvent* Add() {
    v1::FeedEvent* event = request_.add_events();
    event->set_sequence(++sequence_);
    return event;
  }
  absl::StatusOr<FeedBatch> Take() {
    request_.set_feed("shop");
    absl::StatusOr<FeedBatch> batch = protocol_.Take(request_);
    request_.Clear();
    return batch;
  }

  FeedProtocol protocol_{{.max_pods = 110}};
  v1::FeedRequest request_;
  uint64_t sequence_ = 0;
};

// Before the snapshot nobody knows whether the client may have the feed.
TEST_F(FeedProtocolTest, NamesTheFeedWhereTheFirstSnapshotBegins) {
  EXPECT_EQ(Take()->feed, "");
  EXPECT_FALSE(protocol_.has_begun());
  Add()->mutable_begin_snapshot();
  EXPECT_EQ(Take()->feed, "shop");
  EXPECT_TRUE(protocol_.has_begun());
  Add()->mutable_end_snapshot();
  Add()->mutable_begin_snapshot();
  EXPECT_EQ(Take()->feed, "");
}

TEST_F(FeedProtocolTest, ConvertsTheTermOfTheClient) {
  v1::FeedTerm* term = Add()->mutable_begin_snapshot()->mutable_term();
  term->set_lease("lease");
  term->set_number(7);
  term->set_holder("holder");
  term->set_settle_ms(5000);
  const absl::StatusOr<FeedBatch> batch = Take();
  const auto& began = std::get<SnapshotBegan>(batch->events[0].event);
  EXPECT_EQ(began.term, (FeedTerm{"lease", 7, "holder"}));
  EXPECT_EQ(began.settle_ms, 5000);
  EXPECT_EQ(began.priority_zero, 0);
}

TEST_F(FeedProtocolTest, ConvertsWhatTheClientCallsPriorityZero) {
  Add()->mutable_begin_snapshot()->set_priority_zero(1000);
  const absl::StatusOr<FeedBatch> batch = Take();
  EXPECT_EQ(std::get<SnapshotBegan>(batch->events[0].event).priority_zero,
            1000);
}

TEST_F(FeedProtocolTest, ConvertsAStandbyAndThatItLeads) {
  Add()->mutable_begin_snapshot()->set_is_standby(true);
  v1::FeedTerm* term = Add()->mutable_leads()->mutable_term();
  term->set_lease("lease");
  term->set_number(7);
  term->set_holder("holder");
  term->set_settle_ms(5000);
  const absl::StatusOr<FeedBatch> batch = Take();
  ASSERT_THAT(batch, IsOk());
  const auto& began = std::get<SnapshotBegan>(batch->events[0].event);
  EXPECT_TRUE(began.is_standby);
  EXPECT_EQ(began.term, FeedTerm());
  const auto& led = std::get<FeedLed>(batch->events[1].event);
  EXPECT_EQ(led.term, (FeedTerm{"lease", 7, "holder"}));
  EXPECT_EQ(led.settle_ms, 5000);
}

TEST_F(FeedProtocolTest, RefusesAStandbyWithATerm) {
  v1::BeginSnapshot* began = Add()->mutable_begin_snapshot();
  began->set_is_standby(true);
  began->mutable_term()->set_lease("lease");
  EXPECT_THAT(Take(), StatusIs(absl::StatusCode::kInvalidArgument,
                               testing::HasSubstr("a standby has none")));
}

TEST_F(FeedProtocolTest, RefusesALeaderWithABadTerm) {
  Add()->mutable_begin_snapshot();
  Add()->mutable_leads()->mutable_term()->set_settle_ms(-1);
  EXPECT_THAT(Take(), StatusIs(absl::StatusCode::kInvalidArgument,
                               testing::HasSubstr("term.settle_ms")));
}

TEST_F(FeedProtocolTest, RefusesATermThatMakesNoSense) {
  const std::string too_long(254, 'x');
  const std::vector<std::function<void(v1::FeedTerm*)>> mistakes = {
      [&](v1::FeedTerm* term) { term->set_lease(too_long); },
      [&](v1::FeedTerm* term) { term->set_holder(too_long); },
      [](v1::FeedTerm* term) { term->set_settle_ms(-1); },
      [](v1::FeedTerm* term) { term->set_settle_ms(3600001); },
  };
  for (const auto& mistake : mistakes) {
    FeedProtocol protocol({.max_pods = 110});
    v1::FeedRequest request;
    request.set_feed("shop");
    v1::FeedEvent* event = request.add_events();
    event->set_sequence(1);
    mistake(event->mutable_begin_snapshot()->mutable_term());
    EXPECT_THAT(protocol.Take(request),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         testing::HasSubstr("term.")));
  }
}

TEST_F(FeedProtocolTest, ConvertsEveryKindOfEvent) {
  Add()->mutable_begin_snapshot();
  Add()->mutable_machine()->mutable_resource_desc()->set_uuid("m");
  v1::TaskStated* task = Add()->mutable_task();
  task->set_id("a");
  task->set_runs_on("m");
  task->set_is_foreign(true);
  firmament::TaskDescriptor* description =
      task->mutable_description()->mutable_task_descriptor();
  description->set_uid(77);
  description->set_state(firmament::TaskDescriptor::RUNNING);
  description->set_job_id("job");
  Add()->mutable_end_snapshot();
  Add()->mutable_machine_gone()->set_machine("m");
  Add()->mutable_task_ended()->set_id("a");
  Add()->mutable_task_gone()->set_id("a");
  v1::BindFailed* failed = Add()->mutable_bind_failed();
  failed->set_id("a");
  failed->set_machine("m");
  failed->set_reason("why");
  v1::BudgetStated* budget = Add()->mutable_budget();
  budget->set_id("shop/web");
  budget->mutable_budget()->set_min_available("2");
  Add()->mutable_budget_gone()->set_id("shop/web");
  const absl::StatusOr<FeedBatch> batch = Take();
  ASSERT_THAT(batch, IsOk());
  EXPECT_THAT(batch->problems, IsEmpty());
  EXPECT_EQ(batch->up_to, 10u);
  ASSERT_THAT(batch->events, SizeIs(10));
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(batch->events[i].sequence, i + 1);
  const auto& machine = std::get<MachineStated>(batch->events[1].event);
  EXPECT_EQ(machine.spec.uuid, "m");
  const auto& stated = std::get<TaskStated>(batch->events[2].event);
  EXPECT_EQ(stated.id, "a");
  EXPECT_EQ(stated.job_uuid, "job");
  EXPECT_EQ(stated.machine_uuid, "m");
  EXPECT_TRUE(stated.is_foreign);
  EXPECT_EQ(std::get<BindFailed>(batch->events[7].event).reason, "why");
  const auto& limit = std::get<BudgetStated>(batch->events[8].event);
  EXPECT_EQ(limit.id, "shop/web");
  EXPECT_EQ(limit.budget.amount, 2);
  EXPECT_EQ(limit.budget.tasks, TaskSelector()) << "of no task";
  EXPECT_EQ(std::get<BudgetGone>(batch->events[9].event).id, "shop/web");
}

TEST_F(FeedProtocolTest, KeepsTheFormerOfABudgetThatMakesNoSense) {
  Add()->mutable_begin_snapshot();
  Add()->mutable_budget()->mutable_budget()->set_min_available("2");
  v1::BudgetStated* both = Add()->mutable_budget();
  both->set_id("shop/both");
  both->mutable_budget()->set_min_available("2");
  both->mutable_budget()->set_max_unavailable("2");
  Add()->mutable_budget()->set_id("shop/neither");
  Add()->mutable_budget_gone();
  const absl::StatusOr<FeedBatch> batch = Take();
  ASSERT_THAT(batch, IsOk());
  ASSERT_THAT(batch->events, SizeIs(3));
  EXPECT_EQ(std::get<BudgetKept>(batch->events[1].event).id, "shop/both");
  EXPECT_EQ(std::get<BudgetKept>(batch->events[2].event).id, "shop/neither");
  ASSERT_THAT(batch->problems, SizeIs(4));
  EXPECT_EQ(batch->problems[0].message, "the budget has no id");
  EXPECT_THAT(batch->problems[1].message,
              testing::HasSubstr("budget 'shop/both': min_available and"));
  EXPECT_THAT(batch->problems[2].message,
              testing::HasSubstr("budget 'shop/neither': neither"));
  EXPECT_EQ(batch->problems[3].message, "the budget has no id");
}

TEST_F(FeedProtocolTest, TakesSamplesThatMakeSense) {
  request_.add_machine_usage()->set_resource_id("m");
  request_.add_machine_usage()->set_mem_utilization(-1);
  v1::TaskUsage* usage = request_.add_task_usage();
  usage->set_id("a");
  usage->mutable_stats()->set_cpu_usage(7);
  request_.add_task_usage()->mutable_stats()->set_cpu_usage(-7);
  const absl::StatusOr<FeedBatch> batch = Take();
  ASSERT_THAT(batch, IsOk());
  ASSERT_THAT(batch->machine_usage, SizeIs(1));
  EXPECT_EQ(batch->machine_usage[0].machine_uuid, "m");
  ASSERT_THAT(batch->task_usage, SizeIs(1));
  EXPECT_EQ(batch->task_usage[0].id, "a");
  EXPECT_EQ(batch->task_usage[0].usage.cpu, 7);
  EXPECT_EQ(batch->malformed_samples, 2);
}

TEST_F(FeedProtocolTest, RefusesTooManySamplesAtATime) {
  for (int i = 0; i <= kFeedEventsMax; ++i) request_.add_task_usage();
  EXPECT_THAT(Take(), StatusIs(absl::StatusCode::kInvalidArgument,
                               testing::HasSubstr("more than 4096 samples")));
}

TEST_F(FeedProtocolTest, KnowsThatWhatIsStoppedRunsSomewhere) {
  Add()->mutable_begin_snapshot();
  v1::TaskStated* task = Add()->mutable_task();
  task->set_id("a");
  task->set_is_terminating(true);
  EXPECT_THAT(Take()->problems, SizeIs(1));
  task = Add()->mutable_task();
  task->set_id("a");
  task->mutable_description()->mutable_task_descriptor()->set_job_id("job");
  task->set_runs_on("m");
  task->set_is_terminating(true);
  const absl::StatusOr<FeedBatch> batch = Take();
  EXPECT_THAT(batch->problems, IsEmpty());
  EXPECT_TRUE(std::get<TaskStated>(batch->events[0].event).is_terminating);
}

TEST_F(FeedProtocolTest, CoversEventsThatAreNotPassedOn) {
  Add()->mutable_begin_snapshot();
  Add()->mutable_machine();
  Add()->mutable_task()->set_id(std::string(1025, 'x'));
  v1::TaskStated* foreign = Add()->mutable_task();
  foreign->set_id("f");
  foreign->set_is_foreign(true);
  Add()->mutable_task_gone();
  const absl::StatusOr<FeedBatch> batch = Take();
  ASSERT_THAT(batch, IsOk());
  EXPECT_THAT(batch->events, SizeIs(1));
  EXPECT_THAT(batch->problems, SizeIs(4));
  EXPECT_EQ(batch->up_to, 5u);
}

TEST_F(FeedProtocolTest, MayStateEverythingAnew) {
  Add()->mutable_begin_snapshot();
  Add()->mutable_end_snapshot();
  Add()->mutable_begin_snapshot();
  Add()->mutable_end_snapshot();
  EXPECT_THAT(Take()->events, SizeIs(4));
}

TEST_F(FeedProtocolTest, RefusesAnEventWithoutASequence) {
  request_.add_events()->mutable_begin_snapshot();
  EXPECT_EQ(Take().status().message(), "event without a sequence");
}

}  // namespace
}  // namespace sluice
