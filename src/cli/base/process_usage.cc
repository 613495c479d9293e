#include "cli/base/process_usage.h"

#include <glog/logging.h>
#include <sys/resource.h>

namespace sluice {

ProcessUsage GetProcessUsage() {
  rusage usage = {};
  PCHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  const auto microseconds = [](const timeval& time) {
    return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
  };
  return {.cpu_us = microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
          .peak_rss_kib = usage.ru_maxrss};
}

}  // namespace sluice
