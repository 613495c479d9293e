// The resources of a cluster by name and by index (sluice/state/resources.h).
//
// Clients choose the names of extended resources, and each name may lengthen
// every vector of amounts, so there are at most kExtendedResourceNamesMax.
// Uses are counted, so that a name that nobody states any more makes room.  Its
// index is reused, so a name is freed only once its amount is 0 in all kept
// vectors.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_STATE_RESOURCE_NAMES_H_
#define SLUICE_STATE_RESOURCE_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sluice/state/resources.h"

namespace sluice {

class ResourceNames {
 public:
  ResourceNames();

  // The amounts by index.  A new name gets the lowest free index, and keeps it
  // at least until FreeUnused().  Amounts of 0 are skipped.
  // Errors: kResourceExhausted for too many names, kInvalidArgument for an
  // empty one.
  absl::StatusOr<Resources> FromNamed(const NamedAmounts& amounts);

  // kNoResource if nothing has that name.
  ResourceIndex Find(const std::string& name) const {
    const auto it = indices_.find(name);
    return it == indices_.end() ? kNoResource : it->second;
  }

  // Counts the names of amounts that are kept from here on, or no longer.
  void Acquire(const Resources& amounts) { Count(amounts, 1); }
  void Release(const Resources& amounts) { Count(amounts, -1); }
  // Replaces kept amounts by `amounts`.
  void Replace(Resources amounts, Resources* kept);
  // Frees the names of which no amount is kept.
  void FreeUnused();

  // Recovery: the name of the next index; empty if that is free.
  // Errors: kResourceExhausted for too many names, kDataLoss if another index
  // has the name.
  absl::Status Append(const std::string& name);

  // One more than the last index that has a name.
  size_t size() const { return entries_.size(); }
  // Empty if the index is free.  REQUIRES: index < size().
  const std::string& NameOf(ResourceIndex index) const {
    return entries_.at(index).name;
  }
  // A number above 0 that no other name ever has.  A name that was freed and
  // comes back gets a new one.  REQUIRES: the index has a name.
  uint64_t IdOf(ResourceIndex index) const { return entries_[index].id; }

 private:
  struct Entry {
    std::string name;
    uint64_t id = 0;
    int64_t uses = 0;
  };

  absl::StatusOr<ResourceIndex> IndexOf(const std::string& name);
  void SetName(ResourceIndex index, const std::string& name);
  void Count(const Resources& amounts, int64_t sign);

  std::vector<Entry> entries_;
  absl::flat_hash_map<std::string, ResourceIndex> indices_;
  uint64_t next_id_ = 1;
  std::vector<ResourceIndex> maybe_unused_;  // Since the last FreeUnused().
};

}  // namespace sluice

#endif  // SLUICE_STATE_RESOURCE_NAMES_H_
