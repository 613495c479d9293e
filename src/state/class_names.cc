#include "state/class_names.h"

#include <utility>

namespace sluice {

uint64_t ClassNames::NameOf(const ClassKey& key,
                            const ResourceNames& resources) {
  Content content = ContentOf(key, resources);
  if (const auto it = recent_.find(content); it != recent_.end()) {
    return it->second;
  }
  uint64_t name = 0;
  if (const auto it = former_.find(content); it != former_.end()) {
    name = it->second;
    former_.erase(it);
  } else {
    name = next_name_++;
  }
  if (recent_.size() >= recent_max_) {
    former_ = std::exchange(recent_, Names());
  }
  recent_.emplace(std::move(content), name);
  return name;
}

ClassNames::Content ClassNames::ContentOf(const ClassKey& key,
                                          const ResourceNames& resources) {
  Content content = {key.priority, key.rules->id, key.gang.has_value(),
                     key.gang.value_or(JobId()).value};
  for (ResourceIndex i = 0; i < key.request.size(); ++i) {
    if (key.request[i] == 0) continue;
    content.push_back(resources.IdOf(i));
    content.push_back(static_cast<uint64_t>(key.request[i]));
  }
  content.push_back(0);  // No resource has this id.
  content.insert(content.end(), key.meant_by->begin(), key.meant_by->end());
  return content;
}

}  // namespace sluice
