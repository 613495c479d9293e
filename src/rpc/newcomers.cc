#include "rpc/newcomers.h"

namespace sluice {

void Newcomers::NoteCheck(const std::string& peer) {
  if (!peer.starts_with("ipv")) return;
  const MutexLock lock(mutex_);
  if (peers_.size() == kCountMax) peers_.erase(peers_.begin());
  peers_.try_emplace(peer, Standing::kFirst);
  is_empty_ = false;
}

Newcomers::Standing Newcomers::NoteSchedule(const std::string& peer) {
  if (is_empty_) return Standing::kOther;
  const MutexLock lock(mutex_);
  const auto it = peers_.find(peer);
  if (it == peers_.end()) return Standing::kOther;
  const Standing standing = it->second;
  if (standing == Standing::kFirst) it->second = Standing::kRepeated;
  return standing;
}

void Newcomers::NoteOther(const std::string& peer) {
  if (is_empty_) return;
  const MutexLock lock(mutex_);
  const auto it = peers_.find(peer);
  if (it != peers_.end()) it->second = Standing::kOther;
}

}  // namespace sluice
