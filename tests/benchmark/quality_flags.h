// What quality_benchmark is asked for.

#ifndef SLUICE_TESTS_BENCHMARK_QUALITY_FLAGS_H_
#define SLUICE_TESTS_BENCHMARK_QUALITY_FLAGS_H_

#include <cstdint>
#include <string>

#include "base/flag_set.h"
#include "util/program_flags.h"

namespace sluice {

struct QualityFlags {
  std::string nodes;
  std::string pods;
  bool smoke = false;
  uint64_t seed = 1;
  int clusters = 3;
  std::string only;
  double mip_seconds = 10;
  bool report_only = false;
  std::string output = "table";

  bool IsCsv() const { return output == "csv"; }

  void AddTo(FlagSet& flags) {
    flags.AddString({"nodes", "FILE", "Node list of the openb trace."}, &nodes);
    flags.AddString({"pods", "FILE", "Pod list of the openb trace."}, &pods);
    flags.AddSwitch("smoke", "One small input of each kind.", &smoke);
    flags.AddInteger({"seed", "N", "Seed of the generated inputs."}, kFromZero,
                     &seed);
    flags.AddInteger({"clusters", "COUNT", "Clusters of each family and size."},
                     kFromOne, &clusters);
    flags.AddString({"only", "TEXT", "Only inputs whose name contains this."},
                    &only);
    flags.AddNumber(
        {"mip_seconds", "SECONDS", "Time for each MIP, all levels; 0: none."},
        &mip_seconds);
    flags.AddSwitch("report_only", "Exit code 0 even where the round loses.",
                    &report_only);
    flags.AddChoice({"output", "table|csv", "What is printed."},
                    {"table", "csv"}, &output);
  }
};

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_QUALITY_FLAGS_H_
