#include "server/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "access/secrets.h"
#include "base/limits.h"
#include "base/strings.h"
#include "sluice/base/clock.h"
#include "unit/persist/temporary_directory.h"
#include "util/http_get.h"
#include "util/status_matchers.h"
#include "util/test_authority.h"

namespace sluice {
namespace {

using testing::HasSubstr;

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    EXPECT_THAT(server_.Start({"127.0.0.1", 0}), IsOk());
    EXPECT_NE(server_.port(), 0);
  }

  // More connections than the server lets in; each has sent `text`.
  std::vector<TcpConnection> Crowd(const std::string& text,
                                   int receive_bytes = 0) {
    std::vector<TcpConnection> crowd;
    for (int i = 0; i < 500; ++i) {
      crowd.emplace_back(server_.port(), receive_bytes);
      crowd.back().Send(text);
    }
    return crowd;
  }

  Metrics metrics_;
  HttpServer server_{metrics_, nullptr};
};

TEST_F(HttpServerTest, ServesTheMetrics) {
  metrics_.rounds.Increment();
  const HttpResponse response = HttpGet(server_.port(), "/metrics");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr("sluice_rounds_total 1"));
}

TEST_F(HttpServerTest, IsHealthyAsLongAsItAnswersAndReadyWhenItIsTold) {
  EXPECT_EQ(HttpGet(server_.port(), "/healthz").status, 200);
  EXPECT_EQ(HttpGet(server_.port(), "/readyz").status, 503);
  server_.SetReady(true);
  EXPECT_EQ(HttpGet(server_.port(), "/readyz").status, 200);
  server_.SetReady(false);
  EXPECT_EQ(HttpGet(server_.port(), "/readyz").status, 503);
  EXPECT_EQ(HttpGet(server_.port(), "/healthz").status, 200);
}

TEST_F(HttpServerTest, KnowsNothingElse) {
  for (const char* path : {"/", "/metricsx", "/x/metrics", "/../etc/passwd"}) {
    EXPECT_EQ(HttpGet(server_.port(), path).status, 404) << path;
  }
}

TEST_F(HttpServerTest, AnswersGetAndHeadOnly) {
  TcpConnection head(server_.port());
  head.Send("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const HttpResponse response = ReadResponse(head);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
  TcpConnection post(server_.port());
  post.Send(
      "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n");
  EXPECT_EQ(ReadResponse(post).status, 405);
}

TEST_F(HttpServerTest, RefusesRequestsThatAreNone) {
  TcpConnection noise(server_.port());
  noise.Send("\x16\x03\x01\r\n\r\n");
  EXPECT_NE(ReadResponse(noise).status, 200);
  TcpConnection endless(server_.port());
  endless.Send("GET /healthz HTTP/1.1\r\nX: " + std::string(20000, 'x'));
  EXPECT_EQ(ReadResponse(endless).status, 431);
  EXPECT_EQ(HttpGet(server_.port(), "/healthz").status, 200);
}

// The last connection of the crowd is still open when the probe is answered, so
// it was not a timeout of the crowd that let the probe in.
TEST_F(HttpServerTest, AnswersProbesBesideHalfRequestsOfTheSameAddress) {
  std::vector<TcpConnection> crowd = Crowd("GET /hea");
  EXPECT_EQ(HttpGet(server_.port(), "/readyz").status, 503);
  crowd.back().Send("lthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(ReadResponse(crowd.back()).status, 200);
  EXPECT_EQ(crowd.front().ReadToEnd(), "");
}

TEST_F(HttpServerTest, AnswersProbesBesideSlowReaders) {
  // The page does not fit into the buffers of a connection.
  for (int i = 0; i < 2000; ++i) {
    metrics_.events.With(StrCat("kind-", i)).Increment();
  }
  std::vector<TcpConnection> crowd =
      Crowd("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 4096);
  EXPECT_EQ(HttpGet(server_.port(), "/readyz").status, 503);
  const size_t page_bytes = ReadResponse(crowd.back()).body.size();
  EXPECT_EQ(page_bytes, HttpGet(server_.port(), "/metrics").body.size());
  EXPECT_LT(ReadResponse(crowd.front()).body.size(), page_bytes);
}

TEST_F(HttpServerTest, CountsTheConnectionsThatMadeRoom) {
  const std::vector<TcpConnection> crowd = Crowd("GET /hea");
  EXPECT_THAT(HttpGet(server_.port(), "/metrics").body,
              HasSubstr(StrCat("sluice_http_connections_displaced_total ",
                               crowd.size() + 1 - kHttpConnectionsPerAddressMax,
                               "\n")));
}

// The server does not wait for a client that sends or reads nothing.
TEST_F(HttpServerTest, EndsWhileConnectionsAreOpen) {
  TcpConnection idle(server_.port());
  TcpConnection half(server_.port());
  half.Send("GET /hea");
  HttpGet(server_.port(), "/healthz");  // Comes after them.
}

TEST_F(HttpServerTest, SaysThatItsPortIsTaken) {
  HttpServer second(metrics_, nullptr);
  EXPECT_THAT(
      second.Start({"127.0.0.1", static_cast<uint16_t>(server_.port())}),
      StatusIs(absl::StatusCode::kUnavailable,
               StrCat("cannot listen on 127.0.0.1:", server_.port(),
                      ": address already in use")));
}

// Anybody who reaches the port can begin a handshake and then stay silent.
TEST(HttpServerWithTls, DoesNotSpinWhileAHandshakeWaits) {
  const TemporaryDirectory directory;
  TestAuthority authority;
  const CertificateAndKey pair = authority.Sign("server", "DNS:localhost");
  std::ofstream(directory / "cert") << pair.certificate;
  std::ofstream(directory / "key") << pair.key;
  const SystemClock clock;
  Metrics metrics;
  SecretFiles files;
  files.tls_cert = directory / "cert";
  files.tls_key = directory / "key";
  const auto secrets = Secrets::Open(files, clock, metrics);
  ASSERT_THAT(secrets, IsOk());
  HttpServer server(metrics, secrets->get());
  ASSERT_THAT(server.Start({"127.0.0.1", 0}), IsOk());
  TcpConnection half(server.port());
  half.Send(std::string("\x16\x03\x01\x02\0", 5));
  const std::clock_t begin = std::clock();
  half.ReadToEnd();  // The server gives it up after some seconds.
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace sluice
