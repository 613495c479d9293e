#include "cli/base/console.h"

#include <unistd.h>

#include <iostream>

namespace sluice {

Console StandardConsole() {
  return {.in = std::cin,
          .out = std::cout,
          .err = std::cerr,
          .err_is_terminal = isatty(STDERR_FILENO) == 1};
}

}  // namespace sluice
