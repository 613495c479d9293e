#include "cli/base/process_usage.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace sluice {
namespace {

TEST(ProcessUsage, CountsMemoryThatWasTouched) {
  constexpr size_t kBytes = size_t{64} << 20;
  // Far more than what is there already in a small test.
  const std::vector<char> memory(kBytes, 'x');
  EXPECT_GT(memory[kBytes / 2], 0);
  EXPECT_GE(GetProcessUsage().peak_rss_kib, int64_t{kBytes >> 10});
}

TEST(ProcessUsage, CountsProcessorTime) {
  const int64_t before_us = GetProcessUsage().cpu_us;
  EXPECT_GE(before_us, 0);
  // Ends, for the loop itself takes time.
  while (GetProcessUsage().cpu_us < before_us + 1000) {
  }
}

}  // namespace
}  // namespace sluice
