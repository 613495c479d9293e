// TLS for the gRPC server, and the role that each call needs.
//
// A connection uses the certificates that are in effect when it begins, and a
// call the roles that are in effect when it begins.  Both use public parts of
// gRPC's C interface: the C++ one can neither exchange certificates that were
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
// With --tls_client_ca and without --access_file a client must show a
// certificate of that authority.  With --access_file it may show one, and a
// call without the role that it needs ends with UNAUTHENTICATED or
// PERMISSION_DENIED before its service sees it.  Such calls are logged at a
// bounded rate.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(
    const Secrets& secrets, const Clock& clock, Metrics& metrics);

}  // namespace sluice

#endif  // SLUICE_SERVER_TLS_CREDENTIALS_H_
