// The resources of a cluster by name and by index (sluice/state/resources.h).
//
// The names of extended resources come from clients, and each may make every
// vector of amounts longer: there are at most kExtendedResourceNamesMax.  Uses
// are counted, so that a name that nobody states any more is free for another.
// Its index is used again, so it is freed only once it is 0 in all vectors that
// are kept.
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

  // The amounts by index.  A name that is new gets the lowest free index, and
  // keeps it until FreeUnused() at least.  What there is nothing of is not
  // named.
  // Errors: kResourceExhausted beyond that many, kInvalidArgument for no name.
  absl::StatusOr<Resources> FromNamed(const NamedAmounts& amounts);

  // kNoResource where nothing has that name.
  ResourceIndex Find(const std::string& name) const {
    const auto it = indices_.find(name);
    return it == indices_.end() ? kNoResource : it->second;
  }

  // Counts the names of amounts that are kept from here on, or no more.
  void Acquire(const Resources& amounts) { Count(amounts, 1); }
  void Release(const Resources& amounts) { Count(amounts, -1); }
  // Keeps `amounts` in the place of others.
  void Replace(Resources amounts, Resources* kept);
  // Frees the names of which no amounts are kept.
  void FreeUnused();

  // Recovery: the name of the next index; empty where that is free.
  // Errors: as FromNamed(), and kDataLoss where another index has the name.
  absl::Status Append(const std::string& name);

  // One more than the last index that has a name.
  size_t size() const { return entries_.size(); }
  // Empty where the index is free.  REQUIRES: index < size().
  const std::string& NameOf(ResourceIndex index) const {
    return entries_.at(index).name;
  }
  // A number above 0 that no other name ever has; one that was freed and comes
  // again has another.  REQUIRES: the index has a name.
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
