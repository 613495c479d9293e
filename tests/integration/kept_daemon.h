// A daemon that keeps its state over restarts, and a client of it.

#ifndef SLUICE_TESTS_INTEGRATION_KEPT_DAEMON_H_
#define SLUICE_TESTS_INTEGRATION_KEPT_DAEMON_H_

#include <gtest/gtest.h>

#include <optional>

#include "integration/client.h"
#include "integration/mini_server.h"
#include "unit/persist/temporary_directory.h"

namespace sluice {

class KeptDaemonTest : public testing::Test {
 protected:
  // Again, where it ran before; the client connects anew.
  void Start(Options options = MiniServer::OptionsFor(ReplyMode::kContract)) {
    client_.reset();
    server_.reset();
    options.data_dir = directory_.path();
    server_.emplace(options);
    client_.emplace(server_->port());
  }

  const TemporaryDirectory directory_;
  std::optional<MiniServer> server_;
  std::optional<Client> client_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_KEPT_DAEMON_H_
