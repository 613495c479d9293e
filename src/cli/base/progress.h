// A line of progress on standard error, redrawn in place.
//
// It is shown only if standard error is a terminal or the user asked for it.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_CLI_BASE_PROGRESS_H_
#define SLUICE_CLI_BASE_PROGRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/base/command.h"

namespace sluice {

class Progress {
 public:
  // `what` follows the numbers ("events").  `total` is 0 if it is not known.
  // `context` must outlive the progress.
  Progress(const CommandContext& context, std::string_view what, int64_t total);
  // Wipes the line.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Draws at most ten times a second.
  void Show(int64_t done);

 private:
  const CommandContext& context_;
  const std::string what_;
  const int64_t total_;
  const bool is_shown_;
  const int64_t started_us_;
  int64_t drawn_us_;
  bool has_drawn_ = false;
};

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_PROGRESS_H_
