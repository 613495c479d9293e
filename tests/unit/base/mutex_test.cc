#include "base/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sluice {
namespace {

struct Counter {
  Mutex mutex;
  CondVar changed;
  int value ABSL_GUARDED_BY(mutex) = 0;
};

TEST(Mutex, LetsOneThreadInAtATime) {
  Counter counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10'000; ++k) {
        MutexLock lock(counter.mutex);
        ++counter.value;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  MutexLock lock(counter.mutex);
  EXPECT_EQ(counter.value, 40'000);
}

TEST(CondVar, WakesAWaiterThatHoldsTheMutexAgain) {
  Counter counter;
  std::thread other([&] {
    MutexLock lock(counter.mutex);
    while (counter.value != 1) counter.changed.Wait(counter.mutex);
    counter.value = 2;
    counter.changed.NotifyAll();
  });
  {
    MutexLock lock(counter.mutex);
    counter.value = 1;
    counter.changed.NotifyOne();
    while (counter.value != 2) counter.changed.Wait(counter.mutex);
  }
  other.join();
}

TEST(CondVar, WaitForGivesUpAfterItsTimeout) {
  Counter counter;
  MutexLock lock(counter.mutex);
  while (counter.changed.WaitFor(counter.mutex, 1000)) {
    // A spurious wakeup: nobody notifies.
  }
  EXPECT_EQ(counter.value, 0);
}

TEST(CondVar, WaitForReturnsWhenNotified) {
  Counter counter;
  std::thread other([&] {
    MutexLock lock(counter.mutex);
    counter.value = 1;
    counter.changed.NotifyOne();
  });
  {
    constexpr int64_t kMinuteUs = 60'000'000;
    MutexLock lock(counter.mutex);
    while (counter.value == 0) {
      ASSERT_TRUE(counter.changed.WaitFor(counter.mutex, kMinuteUs));
    }
  }
  other.join();
}

}  // namespace
}  // namespace sluice
