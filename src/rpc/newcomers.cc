#include "rpc/newcomers.h"

namespace sluice {

void Newcomers::Add(const std::string& peer) {
  if (!peer.starts_with("ipv")) return;
  const MutexLock lock(mutex_);
  if (peers_.size() == kCountMax) peers_.erase(peers_.begin());
  peers_.insert(peer);
  is_empty_ = false;
}

bool Newcomers::Remove(const std::string& peer) {
  const MutexLock lock(mutex_);
  const bool was_there = peers_.erase(peer) > 0;
  is_empty_ = peers_.empty();
  return was_there;
}

}  // namespace sluice
