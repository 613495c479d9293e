#include "server/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/strings.h"
#include "util/http_get.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

// One server for all tests: stopping one takes seconds.
class HttpServerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = std::make_unique<World>();
    ASSERT_THAT(world_->server.Start({"127.0.0.1", 0}), IsOk());
    ASSERT_NE(world_->server.port(), 0);
  }
  static void TearDownTestSuite() { world_.reset(); }

  struct World {
    Metrics metrics;
    HttpServer server{metrics};
  };
  static inline std::unique_ptr<World> world_;
  Metrics& metrics_ = world_->metrics;
  HttpServer& server_ = world_->server;
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

TEST_F(HttpServerTest, SaysThatItsPortIsTaken) {
  HttpServer second(metrics_);
  EXPECT_THAT(
      second.Start({"127.0.0.1", static_cast<uint16_t>(server_.port())}),
      StatusIs(absl::StatusCode::kUnavailable,
               StrCat("cannot listen on 127.0.0.1:", server_.port(),
                      ": address already in use")));
}

}  // namespace
}  // namespace sluice
