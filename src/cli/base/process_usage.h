// The processor time and the memory that this process has used so far.
//
// Threads: any.

#ifndef SLUICE_CLI_BASE_PROCESS_USAGE_H_
#define SLUICE_CLI_BASE_PROCESS_USAGE_H_

#include <cstdint>

namespace sluice {

struct ProcessUsage {
  int64_t cpu_us = 0;        // All threads, user and system together.
  int64_t peak_rss_kib = 0;  // The most that was ever resident.
};

ProcessUsage GetProcessUsage();

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_PROCESS_USAGE_H_
