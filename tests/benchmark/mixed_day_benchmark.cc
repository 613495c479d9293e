// What shortest first is worth: a synthetic day (util/mixed_day.h) by age
// alone and with the policy sjf.

#include <iomanip>
#include <iostream>
#include <string>

#include "util/mixed_day.h"
#include "util/program_flags.h"

namespace sluice {
namespace {

void Print(const char* name, const MixedDayResult& day) {
  std::cout << std::left << std::setw(10) << name << std::right << std::fixed
            << std::setprecision(1) << std::setw(10) << day.completed
            << std::setw(10) << day.mean_completion;
  for (const MixedDayResult::Kind& kind : day.kinds) {
    std::cout << std::setw(10) << kind.mean_completion << std::setw(10)
              << kind.longest_wait;
  }
  std::cout << '\n';
}

int Main(int argc, char** argv) {
  MixedDayOptions options{
      .seed = 1, .machines = 20, .hours = 24, .load_percent = 110};
  FlagSet flags;
  flags.AddInteger({"machines", "COUNT", "With room for four tasks each."},
                   kFromOne, &options.machines);
  flags.AddInteger({"hours", "COUNT", "How long the day is."}, kFromOne,
                   &options.hours);
  flags.AddInteger({"load", "PERCENT", "Of the room."}, kFromOne,
                   &options.load_percent);
  flags.AddInteger({"seed", "N", "Of what comes and how long it runs."},
                   kFromZero, &options.seed);
  ParseProgramFlags(argc, argv, flags);
  std::cout << "minutes       tasks      mean     short      wait    medium"
               "      wait      long      wait\n";
  Print("by age", RunMixedDay(options));
  options.policies += ",sjf";
  Print("with sjf", RunMixedDay(options));
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) { return sluice::Main(argc, argv); }
