#include "state/interner.h"

#include <glog/logging.h>

namespace sluice {

uint32_t Interner::Acquire(std::string_view text) {
  auto [it, is_new] = ids_.try_emplace(std::string(text), 0);
  if (is_new) {
    if (free_ids_.empty()) {
      it->second = static_cast<uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      it->second = free_ids_.back();
      free_ids_.pop_back();
    }
    entries_[it->second].text = &it->first;
  }
  ++entries_[it->second].references;
  return it->second;
}

void Interner::Release(uint32_t id) {
  CHECK(id < entries_.size() && entries_[id].references > 0);
  Entry& entry = entries_[id];
  if (--entry.references > 0) return;
  ids_.erase(*entry.text);
  entry.text = nullptr;
  free_ids_.push_back(id);
}

}  // namespace sluice
