// The real daemon inside the test: real gRPC on a port of its own, a store in
// memory, no HTTP unless asked for.

#ifndef SLUICE_TESTS_INTEGRATION_MINI_SERVER_H_
#define SLUICE_TESTS_INTEGRATION_MINI_SERVER_H_

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "integration/client.h"
#include "server/server.h"

namespace sluice {

class MiniServer {
 public:
  explicit MiniServer(ReplyMode replies = ReplyMode::kContract)
      : MiniServer(OptionsFor(replies)) {}
  explicit MiniServer(const Options& options) {
    auto server = Server::Start(options);
    CHECK(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  static Options OptionsFor(ReplyMode replies) {
    Options options;
    options.listen_address = "127.0.0.1:0";
    options.http_address = "";
    options.replies = replies;
    return options;
  }

  int port() const { return server_->grpc_port(); }
  int http_port() const { return server_->http_port(); }

 private:
  std::unique_ptr<Server> server_;
};

// A daemon that answers by the contract, and a client of it.
class ContractFixture : public testing::Test {
 protected:
  explicit ContractFixture(ReplyMode replies = ReplyMode::kContract)
      : server_(replies), client_(server_.port()) {}

  MiniServer server_;
  Client client_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_MINI_SERVER_H_
