#include "access/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "sluice/base/clock.h"
#include "util/status_matchers.h"
#include "util/test_authority.h"

namespace sluice {
namespace {

using testing::HasSubstr;

class CertificatesTest : public testing::Test {
 protected:
  Certificates Valid() {
    const CertificateAndKey server = authority_.Sign("server", "DNS:localhost");
    return {.chain = server.certificate + authority_.certificate(),
            .key = server.key,
            .client_ca = authority_.certificate()};
  }

  static absl::StatusOr<int64_t> Check(const Certificates& certificates,
                                       int64_t now_ms) {
    if (!certificates.client_ca.empty()) {
      RETURN_IF_ERROR(CheckAuthorities(certificates.client_ca, now_ms));
    }
    return CheckCertificate(certificates.chain, certificates.key, now_ms);
  }

  const int64_t now_ms_ = SystemClock().NowMs();
  TestAuthority authority_;
};

TEST_F(CertificatesTest, EndWithTheFirstOfTheChain) {
  Certificates certificates = Valid();
  const auto end_ms = Check(certificates, now_ms_);
  ASSERT_THAT(end_ms, IsOk());
  EXPECT_NEAR(static_cast<double>(*end_ms),
              static_cast<double>(now_ms_ + 86400 * 1000), 5000);
  const CertificateAndKey shorter =
      authority_.Sign("server", "DNS:localhost", -60, 3600);
  certificates.chain = shorter.certificate + authority_.certificate();
  certificates.key = shorter.key;
  EXPECT_LT(*Check(certificates, now_ms_), now_ms_ + 3601 * 1000);
  EXPECT_THAT(Check(certificates, now_ms_ + 3601 * 1000),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--tls_cert: expired on ")));
}

TEST_F(CertificatesTest, NameTheFlagOfWhatIsWrong) {
  const Certificates valid = Valid();
  const CertificateAndKey other = authority_.Sign("other", "DNS:other");
  const CertificateAndKey late = authority_.Sign("l", "DNS:l", 3600, 7200);
  const CertificateAndKey old = authority_.Sign("o", "DNS:o", -7200, -3600);
  const std::string nul = std::string(1, '\0');
  std::string torn = valid.chain;
  torn.erase(torn.size() - 100);
  for (const auto& [certificates, why] :
       std::vector<std::pair<Certificates, std::string>>{
           {{"", valid.key, ""}, "--tls_cert: holds no certificate"},
           {{"nonsense", valid.key, ""}, "--tls_cert: holds no certificate"},
           {{valid.key, valid.key, ""}, "--tls_cert: holds no certificate"},
           {{torn, valid.key, ""}, "in the file cannot be read"},
           {{valid.chain, "", ""}, "--tls_key: holds no private key"},
           {{valid.chain, valid.chain, ""}, "--tls_key: holds no private key"},
           {{valid.chain, other.key, ""}, "--tls_key: is not the key of the"},
           {{late.certificate, late.key, ""},
            "--tls_cert: is not valid before"},
           {{old.certificate, old.key, ""}, "--tls_cert: expired on "},
           {{nul + valid.chain, valid.key, ""}, "--tls_cert: holds a NUL"},
           {{valid.chain, nul + valid.key, ""}, "--tls_key: holds a NUL"},
           {{valid.chain, valid.key, nul + valid.chain},
            "--tls_client_ca: holds a NUL"},
           {{valid.chain, valid.key, "x"}, "--tls_client_ca: holds no cert"},
           {{valid.chain, valid.key, old.certificate},
            "--tls_client_ca: expired on "}}) {
    EXPECT_THAT(Check(certificates, now_ms_),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
  }
}

TEST_F(CertificatesTest, TakeAnOldAuthorityBesideTheNewOne) {
  Certificates certificates = Valid();
  const CertificateAndKey old = authority_.Sign("o", "DNS:o", -7200, -3600);
  certificates.client_ca = old.certificate + authority_.certificate();
  EXPECT_THAT(Check(certificates, now_ms_), IsOk());
}

TEST_F(CertificatesTest, HaveAKeyThatTls13Has) {
  for (const char* curve : {"P-256", "P-384", "P-521"}) {
    const auto [chain, key] = authority_.Sign("s", "DNS:s", -60, 3600, curve);
    EXPECT_THAT(CheckCertificate(chain, key, now_ms_), IsOk()) << curve;
  }
  for (const char* curve : {"secp256k1", "brainpoolP256r1"}) {
    const auto [chain, key] = authority_.Sign("s", "DNS:s", -60, 3600, curve);
    EXPECT_THAT(CheckCertificate(chain, key, now_ms_),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("--tls_cert: cannot be used: ")))
        << curve;
  }
}

TEST_F(CertificatesTest, MayBeALongChain) {
  auto [chain, key] = authority_.Sign("server", "DNS:localhost");
  for (int i = 0; i < 100; ++i) chain += authority_.certificate();
  EXPECT_THAT(CheckCertificate(chain, key, now_ms_), IsOk());
}

TEST_F(CertificatesTest, RefuseAKeyWithAPassphrase) {
  Certificates certificates = Valid();
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  BIO* const bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PKCS8PrivateKey(bio, key, EVP_aes_128_cbc(), "open", 4, nullptr,
                                nullptr);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  certificates.key.assign(bytes, static_cast<size_t>(size));
  BIO_free(bio);
  EVP_PKEY_free(key);
  EXPECT_THAT(Check(certificates, now_ms_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--tls_key: needs a passphrase")));
}

}  // namespace
}  // namespace sluice
