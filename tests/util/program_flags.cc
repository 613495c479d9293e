#include "util/program_flags.h"

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

[[noreturn]] void Fail(std::string_view program, std::string_view why) {
  std::cerr << program << ": " << why << '\n';
  std::exit(EXIT_FAILURE);
}

}  // namespace

void ParseProgramFlags(int argc, char** argv, FlagSet& flags) {
  bool wants_help = false;
  flags.AddSwitch("help", "Shows this text.", &wants_help);
  const auto others =
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!others.ok()) Fail(argv[0], Message(others.status()));
  if (wants_help) {
    std::cout << flags.HelpWithDefaults();
    std::exit(EXIT_SUCCESS);
  }
  if (!others->empty()) Fail(argv[0], StrCat(others->front(), " is no flag"));
}

}  // namespace sluice
