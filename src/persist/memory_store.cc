#include "persist/memory_store.h"

#include "base/status_macros.h"

namespace sluice {

absl::Status MemoryStore::Write(const WriteBatch& batch,
                                Durability /*durability*/) {
  for (const WriteBatch::Operation& operation : batch.operations()) {
    if (operation.value.has_value()) {
      values_[operation.key] = *operation.value;
    } else {
      values_.erase(operation.key);
    }
  }
  return absl::OkStatus();
}

absl::Status MemoryStore::Scan(std::string_view prefix, Visitor visit) const {
  for (auto it = values_.lower_bound(std::string(prefix));
       it != values_.end() && it->first.starts_with(prefix); ++it) {
    RETURN_IF_ERROR(visit(it->first, it->second));
  }
  return absl::OkStatus();
}

}  // namespace sluice
