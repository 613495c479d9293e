// Certificates for tests, signed by an authority of the test's own.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_UTIL_TEST_AUTHORITY_H_
#define SLUICE_TESTS_UTIL_TEST_AUTHORITY_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <string>

namespace sluice {

// In PEM.
struct CertificateAndKey {
  std::string certificate;
  std::string key;
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name = "authority");

  // Its own certificate.
  const std::string& certificate() const { return own_.certificate; }

  // `alternatives` is as in OpenSSL's configuration: "DNS:localhost,URI:a:b".
  // It begins and ends to be valid so many seconds from now, and has a key on
  // that curve.
  CertificateAndKey Sign(const std::string& common_name,
                         const std::string& alternatives, int64_t begin_s = -60,
                         int64_t end_s = 86400, const char* curve = "P-256");

 private:
  struct Release {
    void operator()(X509* x509) const { X509_free(x509); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };

  std::unique_ptr<EVP_PKEY, Release> key_;
  std::unique_ptr<X509, Release> x509_;
  CertificateAndKey own_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_TEST_AUTHORITY_H_
