#include "server/open_calls.h"

#include <grpcpp/server_context.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sluice {
namespace {

constexpr int64_t kHourMs = 3600 * 1000;

class OpenCallsTest : public testing::Test {
 protected:
  const SystemClock clock_;
  OpenCalls calls_;
  const std::unique_ptr<grpc::ContextAllocator> counter_ = calls_.MakeCounter();
  grpc::CallbackServerContext context_;
};

TEST_F(OpenCallsTest, AreNotWaitedForWhereThereIsNone) {
  EXPECT_TRUE(calls_.AwaitNone(clock_, kHourMs));
  EXPECT_TRUE(calls_.AwaitNone(clock_, 0));
}

TEST_F(OpenCallsTest, AreWaitedForAsLongAsIsAsked) {
  EXPECT_EQ(counter_->NewCallbackServerContext(), nullptr);
  EXPECT_FALSE(calls_.AwaitNone(clock_, 0));
  EXPECT_FALSE(calls_.AwaitNone(clock_, 1));
}

TEST_F(OpenCallsTest, AreWaitedForUntilTheLastHasEnded) {
  counter_->NewCallbackServerContext();
  counter_->NewCallbackServerContext();
  std::atomic<bool> has_ended = false;
  std::thread waiter([&] {
    EXPECT_TRUE(calls_.AwaitNone(clock_, kHourMs));
    EXPECT_TRUE(has_ended);
  });
  counter_->Release(&context_);
  has_ended = true;
  counter_->Release(&context_);
  waiter.join();
}

}  // namespace
}  // namespace sluice
