// TLS for the HTTP server: the certificate in effect, as GnuTLS takes it.
//
// Threads: confined to the thread of the HTTP server.

#ifndef SLUICE_SERVER_HTTP_TLS_H_
#define SLUICE_SERVER_HTTP_TLS_H_

#include <gnutls/abstract.h>

#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/status.h"
#include "access/secrets.h"

namespace sluice {

class HttpTls {
 public:
  // `secrets` must outlive it.
  explicit HttpTls(const Secrets& secrets);
  ~HttpTls();

  HttpTls(const HttpTls&) = delete;
  HttpTls& operator=(const HttpTls&) = delete;

  // From now on handshakes on this thread use the certificates of this object:
  // GnuTLS hands no context to Retrieve().
  void ServeThisThread();

  // A gnutls_certificate_retrieve_function2.
  static int Retrieve(gnutls_session_t session, const gnutls_datum_t* names,
                      int name_count, const gnutls_pk_algorithm_t* algorithms,
                      int algorithm_count, gnutls_pcert_st** chain,
                      unsigned int* chain_size, gnutls_privkey_t* key);

  // OK if GnuTLS, too, can use the certificates.
  absl::Status Check();

 private:
  struct Loaded;

  // The certificates in effect; null if GnuTLS does not take them.
  const Loaded* Load();

  const Secrets& secrets_;
  // A handshake under way may still use older ones than the newest.
  std::deque<std::unique_ptr<const Loaded>> loaded_;
  int64_t generation_ = 0;  // That of the newest.
};

}  // namespace sluice

#endif  // SLUICE_SERVER_HTTP_TLS_H_
