#include "util/paths.h"

#include <glog/logging.h>

#include <filesystem>
#include <fstream>

namespace sluice {
namespace {

// Test programs lie in <build>/tests.
std::filesystem::path TestDirectory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace

std::string ProgramPath(std::string_view name) {
  return TestDirectory().parent_path() / "bin" / name;
}

std::string SourcePath(std::string_view path) {
  // The build writes it (tests/util/CMakeLists.txt).
  const std::filesystem::path pointer = TestDirectory() / "checkout";
  std::string checkout;
  CHECK(std::getline(std::ifstream(pointer), checkout)) << pointer;
  return std::filesystem::path(checkout) / path;
}

}  // namespace sluice
