// A test against a real etcd.  All tests of a program share it, except those
// that kill it; each test has a prefix of its own.

#ifndef SLUICE_TESTS_UNIT_ETCD_ETCD_FIXTURE_H_
#define SLUICE_TESTS_UNIT_ETCD_ETCD_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "etcd/etcd_address.h"
#include "etcd/etcd_client.h"
#include "sluice/base/clock.h"
#include "util/etcd_server.h"
#include "util/status_matchers.h"

namespace sluice {

inline EtcdServer& SharedEtcd() {
  static EtcdServer server;
  return server;
}

inline EtcdClientOptions OptionsFor(const std::string& address,
                                    int64_t timeout_ms = 10000) {
  return {.address = ParseEtcdAddress(address).value(),
          .timeout_ms = timeout_ms};
}

inline std::unique_ptr<EtcdClient> MakeClient(const std::string& address,
                                              int64_t timeout_ms = 10000) {
  return EtcdClient::Make(OptionsFor(address, timeout_ms)).value();
}

// Waits by asking again and again, for half a minute at most.
template <class Condition>
bool Eventually(const Condition& condition) {
  const SystemClock clock;
  const int64_t end_us = clock.MonotonicUs() + 30000000;
  Mutex mutex;
  CondVar pause;
  while (!condition()) {
    if (clock.MonotonicUs() > end_us) return false;
    const MutexLock lock(mutex);
    pause.WaitFor(mutex, 10000);
  }
  return true;
}

// Makes a call again while it fails with `code`, for half a minute at most: its
// time was too short to tell.  Returns its last status.
template <class Call>
absl::Status RetriedWhile(absl::StatusCode code, const Call& call) {
  absl::Status status;
  Eventually([&] {
    status = StatusOf(call());
    return status.code() != code;
  });
  return status;
}

// Compacts history.  If the first attempt is answered late, the next one finds
// it compacted.
inline void Compact(EtcdClient& client, int64_t revision) {
  EXPECT_THAT(client.Compact(revision),
              testing::AnyOf(IsOk(), StatusIs(absl::StatusCode::kOutOfRange)));
}

class EtcdFixture : public testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdServer::IsInstalled()) {
      GTEST_SKIP() << "there is no etcd here: scripts/install-deps --test";
    }
  }

  static std::string Prefix() {
    static int count = 0;
    return StrCat("/test-", ++count);
  }
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_ETCD_ETCD_FIXTURE_H_
