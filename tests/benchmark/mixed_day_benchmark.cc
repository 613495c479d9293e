// What shortest first is worth: a synthetic day (util/mixed_day.h) by age
// alone and with the policy sjf.

#include <gflags/gflags.h>

#include <iomanip>
#include <iostream>
#include <string>

#include "util/mixed_day.h"

DEFINE_int64(machines, 20, "with room for four tasks each");
DEFINE_int64(hours, 24, "how long the day is");
DEFINE_int64(load, 110, "in per cent of the room");
DEFINE_uint64(seed, 1, "of what comes and how long it runs");

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

int Main() {
  MixedDayOptions options{.seed = FLAGS_seed,
                          .machines = FLAGS_machines,
                          .hours = FLAGS_hours,
                          .load_percent = FLAGS_load};
  std::cout << "minutes       tasks      mean     short      wait    medium"
               "      wait      long      wait\n";
  Print("by age", RunMixedDay(options));
  options.policies += ",sjf";
  Print("with sjf", RunMixedDay(options));
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return sluice::Main();
}
