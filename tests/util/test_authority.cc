#include "util/test_authority.h"

#include <glog/logging.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <functional>

namespace sluice {
namespace {

std::string Pem(const std::function<int(BIO*)>& write) {
  BIO* const bio = BIO_new(BIO_s_mem());
  CHECK_EQ(write(bio), 1);
  char* bytes = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(bio, &bytes));
  std::string text(bytes, size);
  BIO_free(bio);
  return text;
}

void AddExtension(X509* x509, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, x509, x509, nullptr, nullptr, 0);
  X509_EXTENSION* const extension =
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  CHECK(extension != nullptr) << value;
  X509_add_ext(x509, extension, -1);
  X509_EXTENSION_free(extension);
}

// Not signed yet.
X509* Make(const std::string& common_name, EVP_PKEY* key, int64_t begin_s,
           int64_t end_s) {
  static int serial = 0;
  X509* const x509 = X509_new();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(x509), static_cast<long>(begin_s));
  X509_gmtime_adj(X509_getm_notAfter(x509), static_cast<long>(end_s));
  X509_NAME* const name = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_NID(
      name, NID_commonName, MBSTRING_UTF8,
      // NOLINTNEXTLINE(*-reinterpret-cast): OpenSSL takes unsigned bytes.
      reinterpret_cast<const unsigned char*>(common_name.data()),
      static_cast<int>(common_name.size()), -1, 0);
  X509_set_pubkey(x509, key);
  return x509;
}

std::string KeyPem(EVP_PKEY* key) {
  return Pem([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr,
                                    nullptr);
  });
}

std::string CertificatePem(X509* x509) {
  return Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, x509); });
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name)
    : key_(EVP_EC_gen("P-256")), x509_(Make(name, key_.get(), -60, 86400)) {
  X509_set_issuer_name(x509_.get(), X509_get_subject_name(x509_.get()));
  AddExtension(x509_.get(), NID_basic_constraints, "critical,CA:TRUE");
  CHECK_NE(X509_sign(x509_.get(), key_.get(), EVP_sha256()), 0);
  own_ = {CertificatePem(x509_.get()), KeyPem(key_.get())};
}

CertificateAndKey TestAuthority::Sign(const std::string& common_name,
                                      const std::string& alternatives,
                                      int64_t begin_s, int64_t end_s,
                                      const char* curve) {
  const std::unique_ptr<EVP_PKEY, Release> key(EVP_EC_gen(curve));
  const std::unique_ptr<X509, Release> x509(
      Make(common_name, key.get(), begin_s, end_s));
  X509_set_issuer_name(x509.get(), X509_get_subject_name(x509_.get()));
  AddExtension(x509.get(), NID_subject_alt_name, alternatives);
  CHECK_NE(X509_sign(x509.get(), key_.get(), EVP_sha256()), 0);
  return {CertificatePem(x509.get()), KeyPem(key.get())};
}

}  // namespace sluice
