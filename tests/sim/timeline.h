// Simulated time: what will happen, in its order, and a clock that stands still
// between two events.
//
// Threads: one.

#ifndef SLUICE_TESTS_SIM_TIMELINE_H_
#define SLUICE_TESTS_SIM_TIMELINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "sluice/base/clock.h"

namespace sluice::sim {

class Timeline final : public Clock {
 public:
  int64_t NowMs() const override { return wall_ms_ + now_us_ / 1000; }
  int64_t MonotonicUs() const override { return now_us_; }

  // Events of one moment happen in the order in which they were asked for.
  void After(int64_t delay_us, std::function<void()> event) {
    events_.emplace(std::pair(now_us_ + delay_us, ++sequence_),
                    std::move(event));
  }
  // Goes on to the next event.
  void Step() {
    auto event = events_.extract(events_.begin());
    now_us_ = event.key().first;
    event.mapped()();
  }
  // Somebody sets the wall clock.
  void JumpMs(int64_t by_ms) { wall_ms_ += by_ms; }

 private:
  int64_t now_us_ = 0;
  int64_t wall_ms_ = 1'700'000'000'000;
  uint64_t sequence_ = 0;
  std::map<std::pair<int64_t, uint64_t>, std::function<void()>> events_;
};

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_TIMELINE_H_
