#include "access/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "unit/persist/temporary_directory.h"
#include "util/status_matchers.h"
#include "util/test_authority.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SecretsTest : public testing::Test {
 protected:
  SecretsTest() {
    files_.tls_cert = directory_ / "cert";
    files_.tls_key = directory_ / "key";
    WriteServer("server");
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
  }
  void WriteServer(const std::string& name) {
    const CertificateAndKey server = authority_.Sign(name, "DNS:localhost");
    Write("cert", server.certificate);
    Write("key", server.key);
  }
  absl::StatusOr<std::unique_ptr<Secrets>> Open() {
    return Secrets::Open(files_, clock_, metrics_);
  }

  const TemporaryDirectory directory_;
  SecretFiles files_;
  TestAuthority authority_;
  SystemClock clock_;
  Metrics metrics_;
};

TEST_F(SecretsTest, AreWhatTheFilesHold) {
  files_.access = directory_ / "access";
  Write("access", "read anyone\n");
  const auto secrets = Open();
  ASSERT_THAT(secrets, IsOk());
  const auto [first, generation] = (*secrets)->certificates();
  EXPECT_THAT((*secrets)->Check({}, Role::kRead), IsOk());
  EXPECT_FALSE((*secrets)->Check({}, Role::kWrite).ok());
  EXPECT_GT(metrics_.certificate_expires_seconds.Value(), 1.7e9);
  WriteServer("next");
  EXPECT_THAT((*secrets)->Reload(), IsOk());
  EXPECT_GT((*secrets)->generation(), generation);
  EXPECT_NE((*secrets)->certificates().first.chain, first.chain);
}

TEST_F(SecretsTest, LetEverybodyDoEverythingWithoutAnAccessFile) {
  const auto secrets = Open();
  ASSERT_THAT(secrets, IsOk());
  EXPECT_THAT((*secrets)->Check({}, Role::kAdmin), IsOk());
}

TEST_F(SecretsTest, AreReadAgainWithoutBeingAsked) {
  const auto secrets = Open();
  ASSERT_THAT(secrets, IsOk());
  const int64_t generation = (*secrets)->generation();
  WriteServer("next");
  const int64_t end_us = clock_.MonotonicUs() + 30'000'000;
  while ((*secrets)->generation() == generation &&
         clock_.MonotonicUs() < end_us) {
    std::this_thread::yield();
  }
  EXPECT_GT((*secrets)->generation(), generation);
}

TEST_F(SecretsTest, StayAsTheyWereWhileAFileIsWrong) {
  files_.access = directory_ / "access";
  Write("access", "read anyone\n");
  const auto secrets = Open();
  ASSERT_THAT(secrets, IsOk());
  const auto first = (*secrets)->certificates();
  const CertificateAndKey next = authority_.Sign("next", "DNS:localhost");
  Write("cert", next.certificate);  // Beside the old key.
  EXPECT_THAT((*secrets)->Reload(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--tls_key: is not the key")));
  EXPECT_EQ((*secrets)->certificates(), first);
  Write("key", next.key);
  Write("access", "nonsense\n");
  EXPECT_THAT(
      (*secrets)->Reload(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("--access_file=" + files_.access + ": line 1")));
  EXPECT_THAT((*secrets)->Check({}, Role::kRead), IsOk());
  std::filesystem::remove(files_.access);
  EXPECT_THAT((*secrets)->Reload(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(files_.access)));
  EXPECT_THAT((*secrets)->Check({}, Role::kRead), IsOk());
  EXPECT_GE(metrics_.failed_secret_reloads.Value(), 3);
  Write("access", "read anyone\n");
  EXPECT_THAT((*secrets)->Reload(), IsOk());
  EXPECT_EQ((*secrets)->certificates().first.key, next.key);
}

TEST_F(SecretsTest, TakeEffectBesideWhatIsWrong) {
  files_.access = directory_ / "access";
  files_.tls_client_ca = directory_ / "ca";
  Write("access", "read anyone\n");
  Write("ca", authority_.certificate());
  const auto secrets = Open();
  ASSERT_THAT(secrets, IsOk());
  const Certificates first = (*secrets)->certificates().first;
  const CertificateAndKey old = authority_.Sign("o", "DNS:o", -7200, -3600);
  Write("cert", old.certificate);
  Write("key", old.key);
  Write("access", "write anyone\n");
  const std::string authorities =
      authority_.certificate() + TestAuthority("other").certificate();
  Write("ca", authorities);
  EXPECT_THAT((*secrets)->Reload(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(files_.tls_cert + " and " + files_.tls_key +
                                 ": --tls_cert: expired on ")));
  EXPECT_THAT((*secrets)->Check({}, Role::kWrite), IsOk());
  const auto [second, generation] = (*secrets)->certificates();
  EXPECT_EQ(second.client_ca, authorities);
  EXPECT_EQ(second.chain, first.chain);
  EXPECT_EQ(second.key, first.key);
  Write("ca", "nonsense");
  WriteServer("next");
  EXPECT_THAT((*secrets)->Reload(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--tls_client_ca: holds no certificate")));
  EXPECT_GT((*secrets)->generation(), generation);
  EXPECT_EQ((*secrets)->certificates().first.client_ca, authorities);
  EXPECT_NE((*secrets)->certificates().first.chain, first.chain);
}

TEST_F(SecretsTest, AllSayWhatIsWrong) {
  files_.access = directory_ / "access";
  Write("cert", "nonsense");
  Write("access", "nonsense");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                               AllOf(HasSubstr("--tls_cert: holds no"),
                                     HasSubstr("--access_file="))));
}

TEST_F(SecretsTest, AreNotOpenedWhereSomethingIsWrong) {
  files_.tls_client_ca = directory_ / "missing";
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr("--tls_client_ca=")));
  Write("missing", "");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr(": is empty")));
  files_.tls_client_ca.clear();
  Write("key", std::string(2 << 20, 'x'));
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("is larger than")));
  for (const std::string& path :
       {directory_.path(), std::string("/dev/zero"), directory_ / "fifo"}) {
    mkfifo((directory_ / "fifo").c_str(), 0600);
    files_.tls_key = path;
    EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("is not a regular file")));
  }
}

}  // namespace
}  // namespace sluice
