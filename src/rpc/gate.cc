#include "rpc/gate.h"

#include <utility>

#include "base/strings.h"
#include "sluice/v1/errors.pb.h"

namespace sluice {

void Gate::SetLeader(std::string address) {
  const MutexLock lock(mutex_);
  leader_ = std::move(address);
}

grpc::Status Gate::Refusal() const {
  std::string leader;
  {
    const MutexLock lock(mutex_);
    leader = leader_;
  }
  const std::string message =
      leader.empty() ? "this daemon does not lead, and nobody does yet"
                     : StrCat("this daemon does not lead; ", leader, " does");
  v1::NotLeading detail;
  detail.set_leader(leader);
  v1::ErrorStatus details;
  details.set_code(grpc::StatusCode::UNAVAILABLE);
  details.set_message(message);
  details.add_details()->PackFrom(detail);
  return grpc::Status(grpc::StatusCode::UNAVAILABLE, message,
                      details.SerializeAsString());
}

}  // namespace sluice
