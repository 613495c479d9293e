#include "server/logging_flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/strings.h"

namespace sluice {
namespace {

// Other libraries also declare flags, which do not concern this program.
bool IsOfLogging(const gflags::CommandLineFlagInfo& flag) {
  constexpr std::array<std::string_view, 3> kSources = {
      "src/logging.cc", "src/utilities.cc", "src/vlog_is_on.cc"};
  return std::ranges::any_of(kSources, [&](std::string_view source) {
    return flag.filename.ends_with(source);
  });
}

absl::Status Set(const gflags::CommandLineFlagInfo& flag,
                 std::string_view value) {
  // It returns an empty text if the value is invalid.
  if (!gflags::SetCommandLineOption(flag.name.c_str(),
                                    std::string(value).c_str())
           .empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      StrCat("'", Printable(value, 64), "' is not a valid ", flag.type));
}

}  // namespace

void AddLoggingFlags(FlagSet& flags) {
  gflags::SetCommandLineOptionWithMode("logtostderr", "true",
                                       gflags::SET_FLAGS_DEFAULT);
  std::vector<gflags::CommandLineFlagInfo> all;
  gflags::GetAllFlags(&all);
  std::ranges::sort(all, {}, &gflags::CommandLineFlagInfo::name);
  for (const gflags::CommandLineFlagInfo& flag : all) {
    if (!IsOfLogging(flag)) continue;
    flags.AddOther({.name = flag.name,
                    .value = flag.type == "bool" ? "" : "VALUE",
                    .help = flag.description},
                   flag.default_value,
                   [flag](std::string_view value) { return Set(flag, value); });
  }
}

}  // namespace sluice
