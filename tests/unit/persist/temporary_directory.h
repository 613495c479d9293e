// A directory that is gone, with all in it, when the test is over.

#ifndef SLUICE_TESTS_UNIT_PERSIST_TEMPORARY_DIRECTORY_H_
#define SLUICE_TESTS_UNIT_PERSIST_TEMPORARY_DIRECTORY_H_

#include <glog/logging.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace sluice {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(testing::TempDir() + "sluice-XXXXXX") {
    CHECK(mkdtemp(path_.data()) != nullptr) << path_;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_PERSIST_TEMPORARY_DIRECTORY_H_
