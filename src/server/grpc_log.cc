#include "server/grpc_log.h"

#include <glog/logging.h>
#include <grpc/support/log.h>

#include <string>

#include "base/strings.h"
#include "observe/rate_limited_log.h"
#include "sluice/base/clock.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 1024;
constexpr int kLinesPerSecond = 5;

void Write(gpr_log_func_args* line) {
  static const SystemClock clock;
  static RateLimiter limiter(kLinesPerSecond);
  const auto suppressed = limiter.Admit(clock.MonotonicUs());
  if (!suppressed.has_value()) return;
  const std::string text =
      StrCat("gRPC: ", Printable(line->message, kShownBytes), " (", *suppressed,
             " such lines suppressed)");
  // What a client did is no error of the daemon.
  LOG(WARNING) << text;
}

}  // namespace

void TakeGrpcLog() { gpr_set_log_function(&Write); }

}  // namespace sluice
