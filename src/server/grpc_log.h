// gRPC's own log lines among ours, at a bounded rate: anybody who connects can
// cause some, for instance by a handshake that fails.
//
// If gRPC says that it no longer listens, the process ends with an error.
//
// Threads: any.

#ifndef SLUICE_SERVER_GRPC_LOG_H_
#define SLUICE_SERVER_GRPC_LOG_H_

namespace sluice {

// Takes effect for the whole process, from now on.
void TakeGrpcLog();

}  // namespace sluice

#endif  // SLUICE_SERVER_GRPC_LOG_H_
