// gRPC's own log lines among ours, at a bounded rate: anybody who connects can
// cause some, by a handshake that fails for instance.
//
// A line that tells that gRPC listens no more ends the process with an error.
//
// Threads: any.

#ifndef SLUICE_SERVER_GRPC_LOG_H_
#define SLUICE_SERVER_GRPC_LOG_H_

namespace sluice {

// For the whole process, from now on.
void TakeGrpcLog();

}  // namespace sluice

#endif  // SLUICE_SERVER_GRPC_LOG_H_
