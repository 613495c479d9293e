// What placement by measured use is worth: a synthetic day
// (util/measured_day.h) by requests and by use.

#include <iomanip>
#include <iostream>

#include "util/measured_day.h"
#include "util/program_flags.h"

namespace sluice {
namespace {

void Print(const char* name, const DayResult& day, double running_by_requests) {
  std::cout << std::left << std::setw(12) << name << std::right << std::fixed
            << std::setprecision(0) << std::setw(10) << day.running_mean
            << std::setprecision(2) << std::setw(8)
            << day.running_mean / running_by_requests << std::setw(12)
            << day.completed << std::setw(11) << day.requested_percent_max
            << " %" << std::setw(10) << day.samples << std::setw(8)
            << day.samples_beyond << '\n';
}

int Main(int argc, char** argv) {
  DayOptions options{.seed = 1, .machines = 1000, .hours = 24};
  MeasuredUseOptions use{.is_on = true, .stale_ms = 900'000};
  FlagSet flags;
  flags.AddInteger({"machines", "COUNT", "Of 16 cores and 64 GiB each."},
                   kFromOne, &options.machines);
  flags.AddInteger({"hours", "COUNT", "How long the day is."}, kFromOne,
                   &options.hours);
  flags.AddInteger({"seed", "N", "Of what comes and how long it stays."},
                   kFromZero, &options.seed);
  flags.AddInteger({"floor", "PERCENT", "As --utilization_floor."}, {0, 100},
                   &use.floor_percent);
  flags.AddInteger(
      {"overcommit_max", "PERCENT", "As --utilization_overcommit_max."},
      {100, 1000}, &use.overcommit_percent);
  ParseProgramFlags(argc, argv, flags);
  std::cout << "placed by     running   times   completed   asked max   samples"
               "  beyond\n";
  const DayResult requests = RunDay(options);
  Print("requests", requests, requests.running_mean);
  options.measured_use = use;
  Print("use", RunDay(options), requests.running_mean);
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) { return sluice::Main(argc, argv); }
