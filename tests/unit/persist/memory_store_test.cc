#include "persist/memory_store.h"

#include <gtest/gtest.h>

#include "unit/persist/store_contract.h"

namespace sluice {
namespace {

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract,
                         testing::Values([](const std::string&) {
                           return std::unique_ptr<Store>(
                               std::make_unique<MemoryStore>());
                         }));

TEST(MemoryStore, IsDescribedAsMemory) {
  EXPECT_EQ(MemoryStore().description(), "memory");
}

}  // namespace
}  // namespace sluice
