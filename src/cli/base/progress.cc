#include "cli/base/progress.h"

#include <ostream>

#include "base/strings.h"

namespace sluice {
namespace {

constexpr int64_t kPeriodUs = 100'000;
// Returns to the margin and clears the line.
constexpr std::string_view kWipe = "\r\x1b[K";

}  // namespace

Progress::Progress(const CommandContext& context, std::string_view what,
                   int64_t total)
    : context_(context),
      what_(what),
      total_(total),
      is_shown_(context.console.err_is_terminal ||
                context.options.shows_progress),
      started_us_(context.clock.MonotonicUs()),
      drawn_us_(started_us_) {}

Progress::~Progress() {
  if (!has_drawn_) return;
  context_.console.err << (context_.console.err_is_terminal ? kWipe : "\n")
                       << std::flush;
}

void Progress::Show(int64_t done) {
  if (!is_shown_) return;
  const int64_t now_us = context_.clock.MonotonicUs();
  if (now_us - drawn_us_ < kPeriodUs) return;
  drawn_us_ = now_us;
  has_drawn_ = true;
  const int64_t elapsed_s = (now_us - started_us_) / 1'000'000;
  context_.console.err << (context_.console.err_is_terminal ? kWipe : "\r")
                       << done << (total_ > 0 ? StrCat("/", total_) : "") << ' '
                       << what_ << ", " << elapsed_s << " s" << std::flush;
}

}  // namespace sluice
