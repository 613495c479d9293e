// What every store must do, whatever it keeps its bytes in.
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreContract,
//                            testing::Values(&MakeMemoryStore));

#ifndef SLUICE_TESTS_UNIT_PERSIST_STORE_CONTRACT_H_
#define SLUICE_TESTS_UNIT_PERSIST_STORE_CONTRACT_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "persist/store.h"
#include "unit/persist/temporary_directory.h"

namespace sluice {

using Entries = std::vector<std::pair<std::string, std::string>>;

// All entries whose keys start with `prefix`, in the order of the scan.
// A scan that fails fails the test.
Entries ScanAll(const Store& store, std::string_view prefix = "");

// Makes an empty store, in `directory` if it needs a place; nothing where there
// is no store of its kind, and the tests are skipped.
using StoreMaker = std::unique_ptr<Store> (*)(const std::string& directory);

class StoreContract : public testing::TestWithParam<StoreMaker> {
 protected:
  void SetUp() override {
    if (store_ == nullptr) GTEST_SKIP() << "there is no such store here";
  }

  TemporaryDirectory directory_;
  const std::unique_ptr<Store> store_ = GetParam()(directory_.path());
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_PERSIST_STORE_CONTRACT_H_
