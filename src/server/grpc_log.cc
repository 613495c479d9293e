#include "server/grpc_log.h"

#include <glog/logging.h>
#include <grpc/support/log.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "observe/rate_limited_log.h"
#include "sluice/base/clock.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 1024;
constexpr int kLinesPerSecond = 5;

// gRPC says this when it closes a port for good, which it does once the process
// or the system has no descriptor left for a connection.
constexpr std::string_view kPortIsClosed = "Failed accept4: ";

// A daemon that nobody can reach any more looks healthy from inside.  If it
// ends, a supervisor can start it again.
[[noreturn]] void EndUnreachable(std::string_view line) {
  LOG(ERROR) << "gRPC no longer listens: " << Printable(line, kShownBytes)
             << "; ending, so that a supervisor can start the daemon again; "
                "give it more descriptors (ulimit -n, LimitNOFILE)";
  google::FlushLogFiles(google::GLOG_INFO);
  std::_Exit(EXIT_FAILURE);
}

void Write(gpr_log_func_args* line) {
  if (std::string_view(line->message).starts_with(kPortIsClosed)) {
    EndUnreachable(line->message);
  }
  static const SystemClock clock;
  static RateLimiter limiter(kLinesPerSecond);
  const auto suppressed = limiter.Admit(clock.MonotonicUs());
  if (!suppressed.has_value()) return;
  const std::string text =
      StrCat("gRPC: ", Printable(line->message, kShownBytes), " (", *suppressed,
             " such lines suppressed)");
  // A client's mistake is no error of the daemon.
  LOG(WARNING) << text;
}

}  // namespace

void TakeGrpcLog() { gpr_set_log_function(&Write); }

}  // namespace sluice
