#include "state/resource_names.h"

#include <glog/logging.h>

#include <utility>

#include "base/limits.h"
#include "base/strings.h"

namespace sluice {

ResourceNames::ResourceNames() {
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods"}) {
    entries_.emplace_back();
    SetName(entries_.size() - 1, name);
  }
}

absl::StatusOr<Resources> ResourceNames::FromNamed(
    const NamedAmounts& amounts) {
  Resources resources;
  for (const auto& [name, amount] : amounts) {
    if (amount == 0) continue;
    const absl::StatusOr<ResourceIndex> index = IndexOf(name);
    if (!index.ok()) return index.status();
    resources.Set(*index, amount);
  }
  return resources;
}

absl::StatusOr<ResourceIndex> ResourceNames::IndexOf(const std::string& name) {
  const auto it = indices_.find(name);
  if (it != indices_.end()) return it->second;
  if (name.empty()) {
    return absl::InvalidArgumentError("extended resource: its name is empty");
  }
  // Names are few, and new ones rare: a free list would not pay.
  ResourceIndex index = kBuiltinResourceCount;
  while (index < entries_.size() && !entries_[index].name.empty()) ++index;
  if (index >= kBuiltinResourceCount + kExtendedResourceNamesMax) {
    return absl::ResourceExhaustedError(
        StrCat("extended resource '", name, "': more than ",
               kExtendedResourceNamesMax, " distinct names"));
  }
  if (index == entries_.size()) entries_.emplace_back();
  SetName(index, name);
  maybe_unused_.push_back(index);
  return index;
}

void ResourceNames::SetName(ResourceIndex index, const std::string& name) {
  entries_[index] = {name, next_id_++, 0};
  indices_.emplace(name, index);
}

void ResourceNames::Count(const Resources& amounts, int64_t sign) {
  for (ResourceIndex i = kBuiltinResourceCount; i < amounts.size(); ++i) {
    if (amounts[i] == 0) continue;
    CHECK_LT(i, entries_.size());
    entries_[i].uses += sign;
    CHECK_GE(entries_[i].uses, 0) << entries_[i].name;
    if (entries_[i].uses == 0) maybe_unused_.push_back(i);
  }
}

void ResourceNames::Replace(Resources amounts, Resources* kept) {
  Acquire(amounts);
  Release(*kept);
  *kept = std::move(amounts);
}

void ResourceNames::FreeUnused() {
  for (const ResourceIndex index : maybe_unused_) {
    Entry& entry = entries_[index];
    // An index may be listed twice.
    if (entry.uses > 0 || entry.name.empty()) continue;
    indices_.erase(entry.name);
    entry = Entry();
  }
  maybe_unused_.clear();
  while (entries_.back().name.empty()) entries_.pop_back();
}

absl::Status ResourceNames::Append(const std::string& name) {
  if (entries_.size() >= kBuiltinResourceCount + kExtendedResourceNamesMax) {
    return absl::ResourceExhaustedError(
        StrCat("more than ", kExtendedResourceNamesMax,
               " distinct names of extended resources"));
  }
  entries_.emplace_back();
  if (name.empty()) return absl::OkStatus();
  if (indices_.contains(name)) {
    return absl::DataLossError(
        StrCat("extended resource '", name, "': stored twice"));
  }
  SetName(entries_.size() - 1, name);
  maybe_unused_.push_back(entries_.size() - 1);
  return absl::OkStatus();
}

}  // namespace sluice
