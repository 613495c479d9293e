// Keeps each distinct string once, as long as anyone uses it.
//
// Labels repeat by the hundred thousand.  As pairs of small integers they cost
// eight bytes and compare in one step.  References are counted, so that a
// long-lived cluster does not keep the labels of every task it ever had.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_STATE_INTERNER_H_
#define SLUICE_STATE_INTERNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {

class Interner {
 public:
  // Returns the id of `text` and counts one more reference to it.
  uint32_t Acquire(std::string_view text);
  // Drops one reference.  REQUIRES: `id` was acquired and not released.
  void Release(uint32_t id);
  // REQUIRES: `id` is referenced.
  const std::string& Text(uint32_t id) const { return *entries_[id].text; }
  size_t size() const { return ids_.size(); }

 private:
  struct Entry {
    const std::string* text = nullptr;  // The key in ids_, which never moves.
    int64_t references = 0;
  };
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_ids_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_INTERNER_H_
