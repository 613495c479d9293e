// Who may do what: TLS, certificates, tokens and roles, by the program itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <signal.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integration/await.h"
#include "integration/client.h"
#include "integration/daemon_process.h"
#include "integration/feed_client.h"
#include "integration/shell_command.h"
#include "unit/persist/temporary_directory.h"
#include "util/paths.h"
#include "util/test_authority.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using grpc::StatusCode;

constexpr char kReader[] = "a-token-that-reads";
constexpr char kWriter[] = "a-token-that-writes";
constexpr char kAdmin[] = "a-token-of-an-admin";

class Access : public testing::Test {
 protected:
  Access() {
    WriteServer("DNS:localhost,IP:127.0.0.1");
    Write("ca", authority_.certificate());
    Write("access", StrCat("# roles\n"
                           "write certificate bridge.sluice.svc\n"
                           "read certificate spiffe://cluster/viewer\n"
                           "read token reader ",
                           kReader, "\nwrite token writer ", kWriter,
                           "\nadmin token admin ", kAdmin, "\n"));
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
  }
  void WriteServer(const std::string& alternatives) {
    const CertificateAndKey server = authority_.Sign("server", alternatives);
    Write("cert", server.certificate);
    Write("key", server.key);
  }

  // Flags of these files.
  std::vector<std::string> Flags(const std::vector<std::string>& names) {
    std::vector<std::string> flags = {"--listen_address=127.0.0.1:0",
                                      "--http_address=127.0.0.1:0"};
    for (const std::string& name : names) {
      flags.push_back(StrCat(name == "access" ? "--access_file" : "--tls_",
                             name == "access" ? "" : name, "=",
                             directory_ / (name == "client_ca" ? "ca" : name)));
    }
    return flags;
  }
  void Start(const std::vector<std::string>& names = {"cert", "key",
                                                      "client_ca", "access"}) {
    daemon_.emplace(Flags(names));
    port_ = daemon_->AwaitReady();
    ASSERT_NE(port_, 0) << daemon_->log();
  }

  std::shared_ptr<grpc::Channel> Channel(
      const std::string& token, const CertificateAndKey& own = {},
      const std::string& authority = "") const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    auto credentials = grpc::SslCredentials(
        {.pem_root_certs =
             authority.empty() ? authority_.certificate() : authority,
         .pem_private_key = own.key,
         .pem_cert_chain = own.certificate});
    if (!token.empty()) {
      credentials = grpc::CompositeChannelCredentials(
          credentials, grpc::AccessTokenCredentials(token));
    }
    return grpc::CreateCustomChannel(StrCat("127.0.0.1:", port_), credentials,
                                     arguments);
  }
  grpc::Status Call(const std::shared_ptr<grpc::Channel>& channel,
                    const std::string& method) const {
    std::string response;
    return Client(channel).CallRaw(method, "", &response);
  }
  CertificateAndKey Bridge() {
    return authority_.Sign("any", "DNS:bridge.sluice.svc");
  }

  // What the HTTP port answers, headers included; TLS of at most `version`.
  std::string Get(const std::string& path, const std::string& token = "",
                  int version = 0) const {
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(context, version);
    BIO* const bio = BIO_new_ssl_connect(context);
    BIO_set_conn_hostname(bio,
                          StrCat("127.0.0.1:", daemon_->http_port()).c_str());
    std::string request =
        StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\n");
    if (!token.empty())
      request += StrCat("Authorization: Bearer ", token, "\r\n");
    request += "\r\n";
    BIO_write(bio, request.data(), static_cast<int>(request.size()));
    std::string response;
    char buffer[4096];
    int count = 0;
    while ((count = BIO_read(bio, buffer, sizeof(buffer))) > 0) {
      response.append(buffer, static_cast<size_t>(count));
    }
    BIO_free_all(bio);
    SSL_CTX_free(context);
    return response;
  }

  std::string Sluicectl(const std::string& arguments) const {
    return OutputOf(
        StrCat("env SLUICE_CONFIG=/dev/null ", ProgramPath("sluicectl"),
               " --server=127.0.0.1:", port_, " ", arguments, " 2>&1"));
  }

  const TemporaryDirectory directory_;
  TestAuthority authority_;
  std::optional<DaemonProcess> daemon_;
  int port_ = 0;
};

TEST_F(Access, EachCallNeedsItsRole) {
  Start();
  const auto nobody = Channel("");
  const auto unknown = Channel("", authority_.Sign("x", "DNS:x"));
  const auto viewer =
      Channel("", authority_.Sign("v", "URI:spiffe://cluster/viewer"));
  const auto bridge = Channel("", Bridge());
  const auto reader = Channel(kReader);
  const auto writer = Channel(kWriter);
  const auto admin = Channel(kAdmin);
  constexpr StatusCode kOk = StatusCode::OK;
  constexpr StatusCode kWho = StatusCode::UNAUTHENTICATED;
  constexpr StatusCode kNo = StatusCode::PERMISSION_DENIED;
  struct Row {
    std::string method;
    std::vector<StatusCode> expected;  // By caller, as below.
  };
  const std::vector<std::shared_ptr<grpc::Channel>> callers = {
      nobody, unknown, viewer, bridge, reader, writer, admin};
  for (const Row& row : std::vector<Row>{
           {"grpc.health.v1.Health/Check", {kOk, kOk, kOk, kOk, kOk, kOk, kOk}},
           {"firmament.FirmamentScheduler/Check",
            {kOk, kOk, kOk, kOk, kOk, kOk, kOk}},
           {"sluice.v1.Inspector/GetStatus",
            {kWho, kNo, kOk, kOk, kOk, kOk, kOk}},
           {"firmament.FirmamentScheduler/Schedule",
            {kWho, kNo, kNo, kOk, kNo, kOk, kOk}},
           {"firmament.FirmamentScheduler/NodeAdded",
            {kWho, kNo, kNo, kOk, kNo, kOk, kOk}},
           {"sluice.v1.Inspector/ForgetStale",
            {kWho, kNo, kNo, kNo, kNo, kNo, kOk}}}) {
    for (size_t i = 0; i < callers.size(); ++i) {
      EXPECT_EQ(Call(callers[i], row.method).error_code(), row.expected[i])
          << row.method << " by caller " << i;
    }
  }
  EXPECT_EQ(
      Call(Channel("a-token-that-is-wrong"), "sluice.v1.Inspector/GetStatus")
          .error_message(),
      "the token is unknown");
}

TEST_F(Access, WhatARoleLacksChangesNothing) {
  Start();
  EXPECT_EQ(Call(Channel(kReader), "firmament.FirmamentScheduler/NodeAdded")
                .error_code(),
            StatusCode::PERMISSION_DENIED);
  FeedClient feed(Channel(kReader), "shop");
  feed.BeginSnapshot();
  feed.AddMachine("n1", {.cpu = 1000});
  feed.EndSnapshot();
  feed.Flush();
  EXPECT_EQ(feed.AwaitEnd().error_code(), StatusCode::PERMISSION_DENIED);
  const v1::Status status = Client(Channel(kReader)).Status();
  EXPECT_EQ(status.machines(), 0);
  EXPECT_EQ(status.state_version(), 0u);
}

TEST_F(Access, CertificatesOfOthersAndOldTlsAreRefused) {
  Start();
  TestAuthority other("other");
  for (const auto& [channel, what] :
       {std::pair(Channel(kAdmin, other.Sign("x", "DNS:bridge.sluice.svc")),
                  "an unknown authority"),
        std::pair(Channel(kAdmin, authority_.Sign("x", "DNS:x", -7200, -3600)),
                  "an expired one"),
        std::pair(Channel(kAdmin, authority_.Sign("x", "DNS:x", 3600, 7200)),
                  "one that is not valid yet"),
        std::pair(Channel(kAdmin, {}, other.certificate()),
                  "a server that the client does not trust"),
        std::pair(grpc::CreateChannel(StrCat("127.0.0.1:", port_),
                                      grpc::InsecureChannelCredentials()),
                  "plain text")}) {
    EXPECT_EQ(Call(channel, "grpc.health.v1.Health/Check").error_code(),
              StatusCode::UNAVAILABLE)
        << what;
  }
  EXPECT_THAT(Get("/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(Get("/healthz", "", TLS1_2_VERSION), "");
  EXPECT_EQ(Call(Channel(kAdmin), "grpc.health.v1.Health/Check").error_code(),
            StatusCode::OK);
}

TEST_F(Access, WithoutRolesACertificateIsAllThatIsNeeded) {
  Start({"cert", "key", "client_ca"});
  EXPECT_EQ(Call(Channel(""), "grpc.health.v1.Health/Check").error_code(),
            StatusCode::UNAVAILABLE);
  EXPECT_EQ(Call(Channel("", authority_.Sign("x", "DNS:x")),
                 "sluice.v1.Inspector/ForgetStale")
                .error_code(),
            StatusCode::OK);
  EXPECT_THAT(Get("/metrics"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Access, WithTlsAloneEverybodyMayDoEverything) {
  Start({"cert", "key"});
  EXPECT_EQ(Call(Channel(""), "sluice.v1.Inspector/ForgetStale").error_code(),
            StatusCode::OK);
}

TEST_F(Access, MetricsNeedATokenAndProbesDoNot) {
  Start();
  EXPECT_THAT(Get("/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Get("/readyz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Get("/metrics"),
              AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("the role read is")));
  EXPECT_THAT(Get("/metrics", "a-token-that-is-wrong"),
              StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(
      Get("/metrics", kReader),
      AllOf(StartsWith("HTTP/1.1 200"),
            HasSubstr("sluice_tls_certificate_expiry_timestamp_seconds 1")));
}

TEST_F(Access, ChangesOfFilesTakeEffectAndCallsUnderWayGoOn) {
  Start();
  const auto old_channel = Channel(kWriter);
  FeedClient feed(old_channel, "shop");
  feed.BeginSnapshot();
  feed.AddMachine("n1", {.cpu = 1000});
  feed.EndSnapshot();
  ASSERT_TRUE(feed.Settle());

  TestAuthority next("next");
  const CertificateAndKey server = next.Sign("server", "IP:127.0.0.1");
  Write("ca", authority_.certificate() + next.certificate());
  Write("cert", server.certificate);
  Write("key", server.key);
  ASSERT_TRUE(Await([&] {
    return Call(Channel(kWriter, {}, next.certificate()),
                "sluice.v1.Inspector/GetStatus")
        .ok();
  }));
  // The new authority's clients come in, the old one's still do.
  for (TestAuthority* authority : {&next, &authority_}) {
    EXPECT_EQ(Call(Channel("", authority->Sign("x", "DNS:bridge.sluice.svc"),
                           next.certificate()),
                   "firmament.FirmamentScheduler/Schedule")
                  .error_code(),
              StatusCode::OK);
  }

  Write("access", StrCat("read token reader ", kReader, "\n"));
  ASSERT_TRUE(Await([&] {
    return Call(old_channel, "sluice.v1.Inspector/GetStatus").error_code() ==
           StatusCode::UNAUTHENTICATED;
  }));
  feed.AddTask("t", {.cpu = 100});
  ASSERT_TRUE(feed.Flush());
  EXPECT_TRUE(feed.AwaitDeltas(1));
}

TEST_F(Access, FilesThatAreWrongLaterChangeNothing) {
  Start();
  Write("cert", "nonsense");
  Write("access", "nonsense");
  ASSERT_TRUE(Await([&] {
    return Get("/metrics", kReader)
               .find("sluice_secret_reloads_failed_total 0") ==
           std::string::npos;
  }));
  EXPECT_EQ(Call(Channel(kWriter), "firmament.FirmamentScheduler/Schedule")
                .error_code(),
            StatusCode::OK);
}

TEST_F(Access, NoTokenIsInTheLog) {
  Start();
  Call(Channel(kReader), "sluice.v1.Inspector/ForgetStale");
  Call(Channel("a-token-that-is-wrong"), "sluice.v1.Inspector/GetStatus");
  Write("access", StrCat("read token reader ", kReader, "\nread token again ",
                         kReader, "\n"));
  ASSERT_TRUE(Await([&] {
    return Get("/metrics", kReader)
               .find("sluice_secret_reloads_failed_total 0") ==
           std::string::npos;
  }));
  daemon_->Signal(SIGTERM);
  EXPECT_EQ(daemon_->AwaitEnd(), 0);
  EXPECT_THAT(daemon_->log(),
              AllOf(HasSubstr("refused /sluice.v1.Inspector/ForgetStale: token "
                              "reader has the role read"),
                    HasSubstr("refused /sluice.v1.Inspector/GetStatus"),
                    HasSubstr("an earlier token has that value"),
                    Not(HasSubstr(kReader)), Not(HasSubstr("that-is-wrong"))));
}

TEST_F(Access, TheCommandLineHasACertificateOrATokenAndAConfigFile) {
  Start();
  const CertificateAndKey viewer =
      authority_.Sign("v", "URI:spiffe://cluster/viewer");
  Write("viewer.crt", viewer.certificate);
  Write("viewer.key", viewer.key);
  Write("token", StrCat(kAdmin, "\n"));
  const std::string ca = StrCat(" --tls_ca=", directory_ / "ca");
  const std::string certificate =
      StrCat(ca, " --tls_cert=", directory_ / "viewer.crt",
             " --tls_key=", directory_ / "viewer.key");
  EXPECT_THAT(Sluicectl(StrCat("status", certificate)),
              AllOf(HasSubstr("SLUICED"), HasSubstr("exit code 0")));
  EXPECT_THAT(Sluicectl(StrCat("forget", certificate)),
              HasSubstr("certificate spiffe://cluster/viewer has the role "
                        "read, but the role admin is needed"));
  EXPECT_THAT(
      Sluicectl(StrCat("forget", ca, " --token_file=", directory_ / "token")),
      HasSubstr("exit code 0"));
  EXPECT_THAT(Sluicectl("status"), HasSubstr("does it speak TLS (--tls)?"));
  EXPECT_THAT(Sluicectl(StrCat("status", ca)), HasSubstr("the role read is"));
  EXPECT_THAT(
      Sluicectl(StrCat("status --token_file=", directory_ / "no")),
      AllOf(HasSubstr("is empty or cannot be read"), HasSubstr("exit code 2")));
  Write("config", StrCat("# mine\nserver=127.0.0.1:", port_,
                         "\ntls_ca=", directory_ / "ca",
                         "\ntoken_file=", directory_ / "token", "\n"));
  EXPECT_THAT(OutputOf(StrCat("env SLUICE_CONFIG=", directory_ / "config", " ",
                              ProgramPath("sluicectl"), " forget 2>&1")),
              HasSubstr("exit code 0"));
}

}  // namespace
}  // namespace sluice
