// Lives simulated lives, and says which went wrong.
//
//   simulate --seeds=1000 --first=1
//   simulate --seed=42 --shrink

#include <glog/logging.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "sim/simulation.h"
#include "util/program_flags.h"

namespace {

using sluice::sim::LifeReport;
using sluice::sim::LifeShape;

struct Flags {
  uint64_t seed = 0;
  uint64_t first = 1;
  uint64_t seeds = 1000;
  bool shrink = false;
};

Flags ParseFlags(int argc, char** argv) {
  Flags flags;
  sluice::FlagSet set;
  set.AddInteger({"seed", "N", "Live this one only."}, sluice::kFromZero,
                 &flags.seed);
  set.AddInteger({"first", "N", "The first seed of many."}, sluice::kFromZero,
                 &flags.first);
  set.AddInteger({"seeds", "COUNT", "How many there are."}, sluice::kFromZero,
                 &flags.seeds);
  set.AddSwitch("shrink", "Look for the smallest life that goes wrong.",
                &flags.shrink);
  sluice::ParseProgramFlags(argc, argv, set);
  return flags;
}

void Show(uint64_t seed, const LifeShape& shape, const LifeReport& report) {
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
              sluice::sim::ToText(shape).c_str());
  for (const std::string& error : report.errors) {
    std::printf("  %s\n", error.c_str());
  }
}

bool LiveOne(uint64_t seed, bool shrinks, LifeReport* sum) {
  LifeShape shape = sluice::sim::DrawShape(seed);
  LifeReport report = sluice::sim::Live(seed, shape);
  sum->placements += report.placements;
  sum->stops += report.stops;
  sum->moves += report.moves;
  if (report.errors.empty()) return true;
  Show(seed, shape, report);
  if (!shrinks) return false;
  shape = sluice::sim::Shrink(seed, shape);
  Show(seed, shape, sluice::sim::Live(seed, shape));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags = ParseFlags(argc, argv);
  FLAGS_minloglevel = google::GLOG_FATAL;
  google::InitGoogleLogging(argv[0]);
  LifeReport sum;
  if (flags.seed != 0) return LiveOne(flags.seed, flags.shrink, &sum) ? 0 : 1;
  for (uint64_t i = 0; i < flags.seeds; ++i) {
    if (!LiveOne(flags.first + i, flags.shrink, &sum)) return 1;
  }
  std::printf("%llu lives, and nothing went wrong\n",
              static_cast<unsigned long long>(flags.seeds));
  std::printf("%lld placements, %lld stops, %lld moves\n",
              static_cast<long long>(sum.placements),
              static_cast<long long>(sum.stops),
              static_cast<long long>(sum.moves));
  return 0;
}
