// The clock of the operating system that also counts while the machine is
// suspended, as a virtual machine may be.  It judges what others wait for
// meanwhile, such as the end of a lease.
//
// Threads: any.

#ifndef SLUICE_BASE_BOOT_CLOCK_H_
#define SLUICE_BASE_BOOT_CLOCK_H_

#include <cstdint>

#include "sluice/base/clock.h"

namespace sluice {

class BootClock final : public Clock {
 public:
  int64_t NowMs() const override;
  // Since the machine was started.
  int64_t MonotonicUs() const override;
};

}  // namespace sluice

#endif  // SLUICE_BASE_BOOT_CLOCK_H_
