// What placement by measured use is worth: a synthetic day
// (util/measured_day.h) by requests and by use.

#include <gflags/gflags.h>

#include <iomanip>
#include <iostream>

#include "util/measured_day.h"

DEFINE_int64(machines, 1000, "of 16 cores and 64 GiB each");
DEFINE_int64(hours, 24, "how long the day is");
DEFINE_uint64(seed, 1, "of what comes and how long it stays");
DEFINE_int64(floor, 50, "as --utilization_floor");
DEFINE_int64(overcommit_max, 150, "as --utilization_overcommit_max");

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

int Main() {
  DayOptions options{
      .seed = FLAGS_seed, .machines = FLAGS_machines, .hours = FLAGS_hours};
  std::cout << "placed by     running   times   completed   asked max   samples"
               "  beyond\n";
  const DayResult requests = RunDay(options);
  Print("requests", requests, requests.running_mean);
  options.measured_use = {.is_on = true,
                          .floor_percent = FLAGS_floor,
                          .overcommit_percent = FLAGS_overcommit_max,
                          .stale_ms = 900'000};
  Print("use", RunDay(options), requests.running_mean);
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return sluice::Main();
}
