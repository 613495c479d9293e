// TLS for the gRPC server, and the role that each call needs.
//
// The certificates are those in effect when a connection begins, the roles
// those in effect when a call begins.  Both are public parts of gRPC's C
// interface, since the C++ one can neither exchange certificates that were
// checked first nor look at a call without copying its metadata.
//
// Threads: gRPC's.

#ifndef SLUICE_SERVER_TLS_CREDENTIALS_H_
#define SLUICE_SERVER_TLS_CREDENTIALS_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "access/secrets.h"
#include "observe/metrics.h"
#include "sluice/base/clock.h"

namespace sluice {

// All must outlive the server that is given the result, and so must the result:
// gRPC asks it about connections and calls, and keeps no share in it.
//
// A client must show a certificate of --tls_client_ca if there is one and there
// is no --access_file.  With such a file it may, and a call without the role
// that it needs ends with UNAUTHENTICATED or PERMISSION_DENIED before its
// service sees it; the log has a line of it, at a bounded rate.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(
    const Secrets& secrets, const Clock& clock, Metrics& metrics);

}  // namespace sluice

#endif  // SLUICE_SERVER_TLS_CREDENTIALS_H_
