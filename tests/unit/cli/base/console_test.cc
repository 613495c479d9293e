#include "cli/base/console.h"

#include <gtest/gtest.h>

#include <iostream>

namespace sluice {
namespace {

TEST(StandardConsole, IsTheStandardStreams) {
  const Console console = StandardConsole();
  EXPECT_EQ(&console.in, &std::cin);
  EXPECT_EQ(&console.out, &std::cout);
  EXPECT_EQ(&console.err, &std::cerr);
}

}  // namespace
}  // namespace sluice
