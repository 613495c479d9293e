// The only way to get the time.
//
// Only the edges of the program (loop, rpc, server, cli) hold a Clock.  All
// other code is given the time with its input, so that the same input gives the
// same output.
//
// Threads: any.

#ifndef SLUICE_BASE_CLOCK_H_
#define SLUICE_BASE_CLOCK_H_

#include <cstdint>

namespace sluice {

class Clock {
 public:
  virtual ~Clock() = default;

  // Wall clock, milliseconds since the Unix epoch.  May jump either way.
  virtual int64_t NowMs() const = 0;

  // Microseconds since some moment that is fixed for the life of the process.
  // Never goes back.
  virtual int64_t MonotonicUs() const = 0;
};

// The clocks of the operating system.
class SystemClock final : public Clock {
 public:
  int64_t NowMs() const override;
  int64_t MonotonicUs() const override;
};

}  // namespace sluice

#endif  // SLUICE_BASE_CLOCK_H_
