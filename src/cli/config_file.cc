#include "cli/config_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "base/strings.h"

namespace sluice {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string ConfigFilePath() {
  if (std::string path = Environment("SLUICE_CONFIG"); !path.empty()) {
    return path;
  }
  std::filesystem::path folder = Environment("XDG_CONFIG_HOME");
  if (folder.empty()) {
    const std::string home = Environment("HOME");
    if (home.empty()) return "";
    folder = std::filesystem::path(home) / ".config";
  }
  const std::filesystem::path path = folder / "sluice" / "config";
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? path.string() : "";
}

absl::StatusOr<std::vector<std::string>> ReadConfigFile(
    const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> flags;
  std::string line;
  while (std::getline(file, line)) {
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string::npos || line[begin] == '#') continue;
    const size_t end = line.find_last_not_of(kBlanks) + 1;
    flags.push_back(StrCat("--", line.substr(begin, end - begin)));
  }
  if (!file.eof()) return absl::InvalidArgumentError("cannot be read");
  return flags;
}

}  // namespace sluice
