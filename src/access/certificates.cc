#include "access/certificates.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/conf.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

template <auto release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};
using Bio = std::unique_ptr<BIO, Release<BIO_free>>;
using Certificate = std::unique_ptr<X509, Release<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;
using Context = std::unique_ptr<SSL_CTX, Release<SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, Release<SSL_free>>;
using Config = std::unique_ptr<CONF, Release<NCONF_free>>;

Bio Open(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Never gives a passphrase: nobody is there to be asked.
int RefusePassphrase(char* /*buffer*/, int /*size*/, int /*writes*/,
                     void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

absl::Status Invalid(std::string_view flag, std::string_view why) {
  return absl::InvalidArgumentError(StrCat("--", flag, ": ", why));
}

absl::StatusOr<std::vector<Certificate>> ReadCertificates(
    std::string_view flag, std::string_view pem) {
  const Bio bio = Open(pem);
  std::vector<Certificate> certificates;
  while (X509* certificate =
             PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  const bool is_at_end =
      ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!is_at_end) {
    return Invalid(flag, StrCat("certificate ", certificates.size() + 1,
                                " in the file cannot be read"));
  }
  if (certificates.empty()) return Invalid(flag, "holds no certificate in PEM");
  return certificates;
}

absl::StatusOr<Key> ReadKey(std::string_view pem) {
  const Bio bio = Open(pem);
  bool has_passphrase = false;
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &RefusePassphrase,
                                  &has_passphrase));
  ERR_clear_error();
  if (has_passphrase) {
    return Invalid("tls_key",
                   "needs a passphrase, and the daemon asks nobody for one");
  }
  if (key == nullptr) return Invalid("tls_key", "holds no private key in PEM");
  return key;
}

int64_t MsOf(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return int64_t{timegm(&parts)} * 1000;
}

std::string TextOf(const ASN1_TIME* time) {
  const Bio bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(bio.get(), time);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

// When the certificate expires.
absl::StatusOr<int64_t> CheckValidity(std::string_view flag,
                                      const Certificate& certificate,
                                      int64_t now_ms) {
  const ASN1_TIME* const begin = X509_get0_notBefore(certificate.get());
  const ASN1_TIME* const end = X509_get0_notAfter(certificate.get());
  if (now_ms < MsOf(begin)) {
    return Invalid(flag, StrCat("is not valid before ", TextOf(begin)));
  }
  if (now_ms >= MsOf(end)) {
    return Invalid(flag, StrCat("expired on ", TextOf(end)));
  }
  return MsOf(end);
}

// Some code reads PEM as a C string, which would stop at a NUL.
absl::Status CheckNoNul(std::string_view flag, std::string_view text) {
  if (text.find('\0') == std::string_view::npos) return absl::OkStatus();
  return Invalid(flag, "holds a NUL byte");
}

absl::Status Unusable() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return Invalid("tls_cert", StrCat("cannot be used: ",
                                    reason == nullptr ? "unknown" : reason));
}

// A context for TLS 1.3 as gRPC makes one; null if this certificate cannot be
// used.
Context ServerContext(const std::vector<Certificate>& chain, EVP_PKEY& key) {
  Context context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  if (SSL_CTX_use_certificate(context.get(), chain.front().get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), &key) != 1) {
    return nullptr;
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    X509_up_ref(chain[i].get());
    SSL_CTX_add_extra_chain_cert(context.get(), chain[i].get());
  }
  return context;
}

// Takes the next step of the handshake; returns false if it has failed.
bool Continue(SSL* end) {
  const int result = SSL_do_handshake(end);
  if (result == 1) return true;
  const int error = SSL_get_error(end, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

// Tries a handshake with a client that trusts everybody: it fails if the key is
// too short, or on a curve that TLS 1.3 does not have.
absl::Status CheckUse(const std::vector<Certificate>& chain, EVP_PKEY& key) {
  // A handshake takes three flights, in pieces of 17 KiB.
  constexpr int kTurnsMax = 1000;
  ERR_clear_error();
  const Context server_context = ServerContext(chain, key);
  if (server_context == nullptr) return Unusable();
  const Context client_context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_verify(client_context.get(), SSL_VERIFY_NONE, nullptr);
  const Connection server(SSL_new(server_context.get()));
  const Connection client(SSL_new(client_context.get()));
  BIO* server_end = nullptr;
  BIO* client_end = nullptr;
  BIO_new_bio_pair(&server_end, 0, &client_end, 0);
  SSL_set_bio(server.get(), server_end, server_end);
  SSL_set_bio(client.get(), client_end, client_end);
  SSL_set_accept_state(server.get());
  SSL_set_connect_state(client.get());
  for (int i = 0; i < kTurnsMax; ++i) {
    if (!Continue(client.get()) || !Continue(server.get())) return Unusable();
    if (SSL_is_init_finished(client.get()) != 0 &&
        SSL_is_init_finished(server.get()) != 0) {
      return absl::OkStatus();
    }
  }
  return Unusable();
}

}  // namespace

absl::StatusOr<int64_t> CheckCertificate(const std::string& chain_pem,
                                         const std::string& key_pem,
                                         int64_t now_ms) {
  RETURN_IF_ERROR(CheckNoNul("tls_cert", chain_pem));
  RETURN_IF_ERROR(CheckNoNul("tls_key", key_pem));
  ASSIGN_OR_RETURN(const std::vector<Certificate> chain,
                   ReadCertificates("tls_cert", chain_pem));
  ASSIGN_OR_RETURN(const Key key, ReadKey(key_pem));
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    ERR_clear_error();
    return Invalid("tls_key",
                   "is not the key of the first certificate of "
                   "--tls_cert");
  }
  RETURN_IF_ERROR(CheckUse(chain, *key));
  int64_t end_ms = std::numeric_limits<int64_t>::max();
  for (const Certificate& certificate : chain) {
    ASSIGN_OR_RETURN(const int64_t its_end_ms,
                     CheckValidity("tls_cert", certificate, now_ms));
    end_ms = std::min(end_ms, its_end_ms);
  }
  return end_ms;
}

absl::Status CheckAuthorities(const std::string& pem, int64_t now_ms) {
  RETURN_IF_ERROR(CheckNoNul("tls_client_ca", pem));
  ASSIGN_OR_RETURN(const std::vector<Certificate> authorities,
                   ReadCertificates("tls_client_ca", pem));
  absl::Status status;
  for (const Certificate& authority : authorities) {
    status = CheckValidity("tls_client_ca", authority, now_ms).status();
    if (status.ok()) break;
  }
  return status;
}

void RequireTls13() {
  // Through the library's own configuration, which each new context reads.  A
  // lower bound would not help: gRPC sets its own later.
  constexpr std::string_view kPolicy =
      "openssl_conf = top\n"
      "[top]\n"
      "ssl_conf = names\n"
      "[names]\n"
      "system_default = policy\n"
      "[policy]\n"
      "Protocol = -ALL, TLSv1.3\n";
  OPENSSL_init_ssl(OPENSSL_INIT_LOAD_CONFIG, nullptr);
  const Config config(NCONF_new(nullptr));
  const Bio bio = Open(kPolicy);
  long line = 0;
  NCONF_load_bio(config.get(), bio.get(), &line);
  CONF_modules_load(config.get(), nullptr, 0);
}

}  // namespace sluice
