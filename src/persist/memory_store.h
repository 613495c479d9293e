// A store that ends with the process: for a daemon without a data directory,
// and for tests.
//
// Threads: one call at a time, like every store.

#ifndef SLUICE_PERSIST_MEMORY_STORE_H_
#define SLUICE_PERSIST_MEMORY_STORE_H_

#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "persist/store.h"

namespace sluice {

class MemoryStore final : public Store {
 public:
  // Never fails, and ignores the durability.
  absl::Status Write(const WriteBatch& batch, Durability durability) override;
  absl::Status Scan(std::string_view prefix, Visitor visit) const override;
  std::string description() const override { return "memory"; }

 private:
  absl::btree_map<std::string, std::string> values_;
};

}  // namespace sluice

#endif  // SLUICE_PERSIST_MEMORY_STORE_H_
