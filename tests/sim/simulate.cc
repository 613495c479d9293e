// Lives simulated lives, and says which went wrong.
//
//   simulate --seeds=1000 --first=1
//   simulate --seed=42 --shrink

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cstdio>

#include "sim/simulation.h"

DEFINE_uint64(seed, 0, "Live this one only.");
DEFINE_uint64(first, 1, "The first seed of many.");
DEFINE_uint64(seeds, 1000, "How many there are.");
DEFINE_bool(shrink, false, "Look for the smallest life that goes wrong.");

namespace {

using sluice::sim::LifeReport;
using sluice::sim::LifeShape;

void Show(uint64_t seed, const LifeShape& shape, const LifeReport& report) {
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
              sluice::sim::ToText(shape).c_str());
  for (const std::string& error : report.errors) {
    std::printf("  %s\n", error.c_str());
  }
}

bool LiveOne(uint64_t seed, LifeReport* sum) {
  LifeShape shape = sluice::sim::DrawShape(seed);
  LifeReport report = sluice::sim::Live(seed, shape);
  sum->placements += report.placements;
  sum->stops += report.stops;
  sum->moves += report.moves;
  if (report.errors.empty()) return true;
  Show(seed, shape, report);
  if (!FLAGS_shrink) return false;
  shape = sluice::sim::Shrink(seed, shape);
  Show(seed, shape, sluice::sim::Live(seed, shape));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  FLAGS_minloglevel = google::GLOG_FATAL;
  google::InitGoogleLogging(argv[0]);
  LifeReport sum;
  if (FLAGS_seed != 0) return LiveOne(FLAGS_seed, &sum) ? 0 : 1;
  for (uint64_t i = 0; i < FLAGS_seeds; ++i) {
    if (!LiveOne(FLAGS_first + i, &sum)) return 1;
  }
  std::printf("%llu lives, and nothing went wrong\n",
              static_cast<unsigned long long>(FLAGS_seeds));
  std::printf("%lld placements, %lld stops, %lld moves\n",
              static_cast<long long>(sum.placements),
              static_cast<long long>(sum.stops),
              static_cast<long long>(sum.moves));
  return 0;
}
