#include "clients/newcomers.h"

namespace sluice {

void Newcomers::NoteCheck(ConnectionId connection) {
  if (connection == ConnectionId()) return;
  if (standings_.size() == kCountMax) standings_.erase(standings_.begin());
  standings_.try_emplace(connection, Standing::kFirst);
}

Newcomers::Standing Newcomers::NoteSchedule(ConnectionId connection) {
  const auto it = standings_.find(connection);
  if (it == standings_.end()) return Standing::kOther;
  const Standing standing = it->second;
  if (standing == Standing::kFirst) it->second = Standing::kRepeated;
  return standing;
}

void Newcomers::NoteOther(ConnectionId connection) {
  const auto it = standings_.find(connection);
  if (it != standings_.end()) it->second = Standing::kOther;
}

}  // namespace sluice
