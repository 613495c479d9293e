// Converts our errors to those of gRPC.  The codes have the same numbers.

#ifndef SLUICE_RPC_STATUS_H_
#define SLUICE_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace sluice {

grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace sluice

#endif  // SLUICE_RPC_STATUS_H_
