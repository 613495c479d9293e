#include "etcd/etcd_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "sluice/base/clock.h"
#include "unit/etcd/etcd_fixture.h"
#include "unit/persist/temporary_directory.h"
#include "util/status_matchers.h"
#include "util/tcp_proxy.h"

namespace sluice {
namespace {

MATCHER_P(IsOkAndHolds, value, "") {
  *result_listener << arg.status().ToString();
  return arg.ok() && *arg == value;
}

using testing::AllOf;
using testing::HasSubstr;

class EtcdClientTest : public EtcdFixture {};

etcdserverpb::TxnRequest Put(const std::string& key, const std::string& value) {
  etcdserverpb::TxnRequest request;
  auto& put = *request.add_success()->mutable_request_put();
  put.set_key(key);
  put.set_value(value);
  return request;
}

etcdserverpb::RangeRequest Get(const std::string& key) {
  etcdserverpb::RangeRequest request;
  request.set_key(key);
  return request;
}

etcdserverpb::WatchCreateRequest WatchOf(const std::string& prefix,
                                         int64_t revision) {
  etcdserverpb::WatchCreateRequest request;
  request.set_key(prefix);
  request.set_range_end(prefix + "\xff");
  request.set_start_revision(revision);
  return request;
}

int PortOf(const EtcdServer& server) {
  return std::atoi(server.endpoint().c_str() + server.endpoint().find(':') + 1);
}

TEST_F(EtcdClientTest, ReadsWhatItWrote) {
  const std::string prefix = Prefix();
  const auto client = MakeClient(SharedEtcd().Address(prefix));
  const std::string value("\0any\xff", 5);
  const auto written = client->Txn(Put(prefix, value));
  ASSERT_THAT(written, IsOk());
  EXPECT_TRUE(written->succeeded());
  const auto read = client->Range(Get(prefix));
  ASSERT_THAT(read, IsOk());
  ASSERT_EQ(read->kvs_size(), 1);
  EXPECT_EQ(read->kvs(0).key(), prefix);
  EXPECT_EQ(read->kvs(0).value(), value);
  EXPECT_EQ(read->kvs(0).version(), 1);
  EXPECT_EQ(read->kvs(0).create_revision(), written->header().revision());
  EXPECT_EQ(read->kvs(0).mod_revision(), written->header().revision());
  EXPECT_NE(read->header().cluster_id(), 0u);
}

TEST_F(EtcdClientTest, WritesNothingWhereAComparisonFails) {
  const std::string prefix = Prefix();
  const auto client = MakeClient(SharedEtcd().Address(prefix));
  ASSERT_THAT(client->Txn(Put(prefix, "1")), IsOk());
  etcdserverpb::TxnRequest request = Put(prefix, "2");
  auto& compare = *request.add_compare();
  compare.set_target(etcdserverpb::Compare::VALUE);
  compare.set_key(prefix);
  compare.set_value("other");
  *request.add_failure()->mutable_request_range() = Get(prefix);
  const auto response = client->Txn(request);
  ASSERT_THAT(response, IsOk());
  EXPECT_FALSE(response->succeeded());
  ASSERT_EQ(response->responses_size(), 1);
  EXPECT_EQ(response->responses(0).response_range().kvs(0).value(), "1");
}

TEST_F(EtcdClientTest, MakesManyTransactionsAtATime) {
  const std::string prefix = Prefix();
  const auto client = MakeClient(SharedEtcd().Address(prefix));
  std::vector<etcdserverpb::TxnRequest> requests;
  for (int i = 0; i < 50; ++i) requests.push_back(Put(StrCat(prefix, i), "x"));
  const auto responses = client->TxnAll(requests);
  ASSERT_THAT(responses, IsOk());
  EXPECT_EQ(responses->size(), 50u);
  etcdserverpb::RangeRequest all = Get(prefix);
  all.set_range_end(prefix + "\xff");
  all.set_count_only(true);
  EXPECT_EQ(client->Range(all)->count(), 50);
}

TEST_F(EtcdClientTest, KeepsLeasesAndEndsThem) {
  const std::string prefix = Prefix();
  const auto client = MakeClient(SharedEtcd().Address(prefix));
  const auto grant = client->GrantLease(60);
  ASSERT_THAT(grant, IsOk());
  EXPECT_EQ(grant->ttl_s, 60);
  etcdserverpb::TxnRequest request = Put(prefix, "leased");
  request.mutable_success(0)->mutable_request_put()->set_lease(grant->lease);
  const auto written = client->Txn(request);
  ASSERT_THAT(written, IsOk());
  const auto await_deletion = [&](int64_t timeout_ms) {
    return client->AwaitDeletion(prefix, written->header().revision(),
                                 timeout_ms);
  };
  EXPECT_THAT(client->KeepAlive(grant->lease, 10000), IsOkAndHolds(60));
  EXPECT_THAT(RetriedWhile(absl::StatusCode::kUnavailable,
                           [&] { return await_deletion(500); }),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr(prefix)));
  EXPECT_THAT(client->RevokeLease(grant->lease, 10000), IsOk());
  EXPECT_THAT(await_deletion(20000), IsOk());
  EXPECT_EQ(client->Range(Get(prefix))->kvs_size(), 0);
  EXPECT_THAT(client->KeepAlive(grant->lease, 10000), IsOkAndHolds(0));
  EXPECT_THAT(client->RevokeLease(grant->lease, 10000), IsOk());
}

TEST_F(EtcdClientTest, ReadsNoRevisionThatIsCompacted) {
  const std::string prefix = Prefix();
  const auto client = MakeClient(SharedEtcd().Address(prefix));
  const int64_t first = client->Txn(Put(prefix, "1"))->header().revision();
  const int64_t second = client->Txn(Put(prefix, "2"))->header().revision();
  Compact(*client, second);
  etcdserverpb::RangeRequest request = Get(prefix);
  request.set_revision(first);
  EXPECT_THAT(client->Range(request),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("compacted")));
  EXPECT_THAT(client->AwaitDeletion(prefix, first, 20000), IsOk());
}

TEST_F(EtcdClientTest, TellsTheVersionOfTheMember) {
  const auto client = MakeClient(SharedEtcd().Address(Prefix()));
  const auto status = client->MemberStatus();
  ASSERT_THAT(status, IsOk());
  EXPECT_THAT(status->version(), HasSubstr("3."));
  EXPECT_NE(status->leader(), 0u);
}

TEST_F(EtcdClientTest, GoesToTheNextEndpointWhereOneIsAway) {
  const std::string prefix = Prefix();
  const auto client = MakeClient(
      StrCat("etcd://127.0.0.1:1,", SharedEtcd().endpoint(), prefix));
  EXPECT_THAT(client->Txn(Put(prefix, "1")), IsOk());
  EXPECT_THAT(client->Range(Get(prefix)), IsOk());
}

TEST_F(EtcdClientTest, DoesNotTakeASilentEndpointForOneWithNothingToSay) {
  const std::string prefix = Prefix();
  const int port = PortOf(SharedEtcd());
  for (const auto mode :
       {TcpProxy::Mode::kIsSilent, TcpProxy::Mode::kLosesAnswers}) {
    TcpProxy network(port);
    EtcdClientOptions options =
        OptionsFor(StrCat("etcd://127.0.0.1:", network.port(), ",",
                          SharedEtcd().endpoint(), prefix));
    options.attempt_ms = options.timeout_ms;  // The first one answers this.
    const auto client = EtcdClient::Make(options).value();
    const auto written = client->Txn(Put(prefix, "1"));
    ASSERT_THAT(written, IsOk());
    const int64_t revision = written->header().revision();
    network.SetMode(mode);
    // If the next one takes longer than this to begin a watch, the silent one
    // is asked once more, and then the next one again.
    absl::Status at_next;
    Eventually([&] {
      EXPECT_THAT(client->AwaitDeletion(prefix, revision, 500),
                  StatusIs(absl::StatusCode::kUnavailable, HasSubstr(prefix)));
      at_next = client->AwaitDeletion(prefix, revision, 500);
      return !absl::IsUnavailable(at_next);
    });
    EXPECT_THAT(at_next, StatusIs(absl::StatusCode::kDeadlineExceeded));
  }
}

TEST_F(EtcdClientTest, AsksTheNextEndpointBeforeASilentOneHasTakenAllTime) {
  const std::string prefix = Prefix();
  const int port = PortOf(SharedEtcd());
  for (const auto mode :
       {TcpProxy::Mode::kIsSilent, TcpProxy::Mode::kLosesAnswers}) {
    for (const int count : {1, 8}) {
      TcpProxy network(port);
      EtcdClientOptions options =
          OptionsFor(StrCat("etcd://127.0.0.1:", network.port(), ",",
                            SharedEtcd().endpoint(), prefix),
                     /*timeout_ms=*/8000);
      options.attempt_ms = 500;
      const auto client = EtcdClient::Make(options).value();
      ASSERT_THAT(client->Txn(Put(prefix, "1")), IsOk());
      network.SetMode(mode);
      EXPECT_THAT(client->TxnAll(std::vector(count, Put(prefix, "2"))), IsOk());
    }
  }
}

TEST_F(EtcdClientTest, WaitsForAnEndpointThatTakesLongerThanTheFirstAttempt) {
  EtcdClientOptions options = OptionsFor(SharedEtcd().Address(Prefix()));
  options.attempt_ms = 1;
  const auto client = EtcdClient::Make(options);
  ASSERT_THAT(client, IsOk());
  // It connects meanwhile, which alone takes longer.
  EXPECT_THAT((*client)->Txn(Put(Prefix(), std::string(1 << 20, 'x'))), IsOk());
}

TEST_F(EtcdClientTest, NamesTheEndpointThatIsAway) {
  const auto client = MakeClient("etcd://127.0.0.1:1/some/prefix", 500);
  EXPECT_THAT(
      RetriedWhile(absl::StatusCode::kDeadlineExceeded,
                   [&] { return client->Range(Get("key")); }),
      StatusIs(absl::StatusCode::kUnavailable,
               AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("/some/prefix"),
                     HasSubstr("does etcd run there"))));
}

TEST_F(EtcdClientTest, GivesUpAnEtcdThatIsSilentAndThenGoesOn) {
  EtcdServer server;
  const auto client = MakeClient(server.Address("/a"), 500);
  ASSERT_TRUE(Eventually([&] { return client->Txn(Put("/a", "1")).ok(); }));
  server.Signal(SIGSTOP);
  EXPECT_THAT(client->Range(Get("/a")),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       AllOf(HasSubstr(server.endpoint()), HasSubstr("/a"),
                             HasSubstr("too slow"))));
  EXPECT_THAT(client->TxnAll({Put("/b", "1"), Put("/c", "1")}),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  server.Signal(SIGCONT);
  EXPECT_TRUE(Eventually([&] { return client->Range(Get("/a")).ok(); }));
}

TEST_F(EtcdClientTest, WaitsForAnEtcdThatIsStartedAgain) {
  EtcdServer server;
  const auto client = MakeClient(server.Address("/a"), 30000);
  ASSERT_THAT(client->Txn(Put("/a", "1")), IsOk());
  server.Kill();
  const auto impatient = MakeClient(server.Address("/a"), 500);
  EXPECT_THAT(RetriedWhile(absl::StatusCode::kDeadlineExceeded,
                           [&] { return impatient->Range(Get("/a")); }),
              StatusIs(absl::StatusCode::kUnavailable));
  server.Start();
  const auto read = client->Range(Get("/a"));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->kvs(0).value(), "1");
}

TEST_F(EtcdClientTest, RefusesAnotherClusterAtTheSameEndpoint) {
  EtcdServer first;
  const auto client = MakeClient(
      StrCat("etcd://", first.endpoint(), ",", SharedEtcd().endpoint(), "/a"));
  ASSERT_THAT(client->Txn(Put("/a", "1")), IsOk());
  first.Kill();
  EXPECT_THAT(client->Range(Get("/a")),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(first.endpoint()),
                             HasSubstr("restored from a backup"))));
  EXPECT_THAT(client->Txn(Put("/a", "2")),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(EtcdClientTest, RefusesAnEtcdThatWasSetBack) {
  EtcdServer server;
  const auto client = MakeClient(server.Address("/a"));
  ASSERT_THAT(client->Txn(Put("/a", "1")), IsOk());
  server.Kill();
  const std::string data = server.directory() + "/data";
  std::filesystem::copy(data, data + "-old",
                        std::filesystem::copy_options::recursive);
  server.Start();
  for (int i = 0; i < 10; ++i) ASSERT_THAT(client->Txn(Put("/a", "2")), IsOk());
  server.Kill();
  std::filesystem::remove_all(data);
  std::filesystem::rename(data + "-old", data);
  server.Start();
  EXPECT_THAT(client->Range(Get("/a")),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("was it restored from an old backup?")));
  // Still refused once it has caught up.
  const auto other = MakeClient(server.Address("/a"));
  for (int i = 0; i < 20; ++i) ASSERT_THAT(other->Txn(Put("/a", "3")), IsOk());
  EXPECT_THAT(client->Txn(Put("/a", "4")),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(EtcdClientTest, EndsAllThatWaitsForASilentEtcdWhenItIsCancelled) {
  const std::string prefix = Prefix();
  TcpProxy network(PortOf(SharedEtcd()));
  const auto client =
      MakeClient(StrCat("etcd://127.0.0.1:", network.port(), prefix),
                 /*timeout_ms=*/60000);
  ASSERT_THAT(client->Txn(Put(prefix, "1")), IsOk());
  const auto grant = client->GrantLease(60);
  ASSERT_THAT(grant, IsOk());
  EtcdClient::Watch watch(*client, WatchOf(prefix, 0));
  ASSERT_THAT(watch.Next(), IsOk());
  network.SetMode(TcpProxy::Mode::kIsSilent);
  const auto start = [](auto call) {
    return std::async(std::launch::async, call);
  };
  std::vector<std::future<absl::Status>> calls;
  calls.push_back(start([&] { return client->Range(Get(prefix)).status(); }));
  calls.push_back(start([&] {
    return client->TxnAll({Put(prefix, "2"), Put(prefix, "3")}).status();
  }));
  calls.push_back(
      start([&] { return client->KeepAlive(grant->lease, 60000).status(); }));
  calls.push_back(
      start([&] { return client->AwaitDeletion(prefix, 0, 60000); }));
  calls.push_back(start([&] { return watch.Next().status(); }));
  for (auto& call : calls) {
    EXPECT_EQ(call.wait_for(std::chrono::milliseconds(10)),
              std::future_status::timeout);
  }
  const SystemClock clock;
  const int64_t cancelled_us = clock.MonotonicUs();
  client->Cancel();
  for (auto& call : calls) {
    EXPECT_THAT(call.get(),
                StatusIs(absl::StatusCode::kCancelled,
                         AllOf(HasSubstr(prefix), HasSubstr("cancelled"))));
  }
  EXPECT_THAT(client->Txn(Put(prefix, "4")),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_LT(clock.MonotonicUs() - cancelled_us, 20'000'000);
  // Only leases are still given back.
  network.SetMode(TcpProxy::Mode::kForwards);
  EXPECT_THAT(client->RevokeLease(grant->lease, 20000), IsOk());
}

TEST_F(EtcdClientTest, SaysWhatToDoWhenEtcdIsFull) {
  EtcdServer server({"--quota-backend-bytes=1000000"});
  const auto client = MakeClient(server.Address("/a"));
  absl::Status status;
  // etcd checks the size of its file ten times a second.
  for (int i = 0; i < 2000 && status.ok(); ++i) {
    status = client->Txn(Put(StrCat("/a/", i % 20), std::string(100000, 'x')))
                 .status();
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("`etcdctl alarm disarm`")));
  EXPECT_THAT(client->Range(Get("/a/0")), IsOk());
}

TEST_F(EtcdClientTest, SaysWhatIsWrongWithFilesOfTls) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "empty").close();
  EtcdClientOptions options = OptionsFor("etcd://127.0.0.1:1/a");
  options.cert_file = "cert";
  EXPECT_THAT(EtcdClient::Make(options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a certificate for etcd needs its key")));
  options.key_file = "key";
  EXPECT_THAT(EtcdClient::Make(options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("needs the CA of etcd")));
  for (const char* name : {"missing", "empty"}) {
    options.ca_file = directory / name;
    EXPECT_THAT(EtcdClient::Make(options).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(directory / name),
                               HasSubstr("cannot be read or is empty"))));
  }
}

// Makes a CA, NAME.crt and NAME.key, and a certificate of it for this machine.
void MakeCertificates(const TemporaryDirectory& directory) {
  const std::string request =
      "openssl req -newkey ec -nodes -pkeyopt "
      "ec_paramgen_curve:P-256 -days 2 ";
  const std::string in = StrCat("cd ", directory.path(), " && { ", request);
  for (const char* ca : {"ca", "other-ca"}) {
    ASSERT_EQ(std::system(StrCat(in, "-x509 -subj /CN=", ca, " -keyout ", ca,
                                 ".key -out ", ca, ".crt; } 2>log")
                              .c_str()),
              0);
  }
  ASSERT_EQ(std::system(
                StrCat(in,
                       "-subj /CN=etcd -addext subjectAltName=IP:127.0.0.1 "
                       "-keyout etcd.key -out etcd.csr && openssl x509 -req "
                       "-in etcd.csr -CA ca.crt -CAkey ca.key -CAcreateserial "
                       "-copy_extensions copy -days 2 -out etcd.crt; } 2>log")
                    .c_str()),
            0);
}

TEST_F(EtcdClientTest, SpeaksTlsWithCertificatesOfBothSides) {
  const TemporaryDirectory directory;
  MakeCertificates(directory);
  const EtcdServer server({}, {.ca_file = directory / "ca.crt",
                               .cert_file = directory / "etcd.crt",
                               .key_file = directory / "etcd.key"});
  EtcdClientOptions options = OptionsFor(server.Address("/a"));
  options.ca_file = directory / "ca.crt";
  options.cert_file = directory / "etcd.crt";
  options.key_file = directory / "etcd.key";
  EXPECT_THAT((*EtcdClient::Make(options))->Txn(Put("/a", "1")), IsOk());

  const auto expect_refusal = [](EtcdClientOptions refused) {
    refused.timeout_ms = 1000;
    const auto client = EtcdClient::Make(refused);
    ASSERT_THAT(client, IsOk());
    EXPECT_THAT(RetriedWhile(absl::StatusCode::kDeadlineExceeded,
                             [&] { return (*client)->Txn(Put("/a", "2")); }),
                StatusIs(absl::StatusCode::kUnavailable));
  };
  EtcdClientOptions stranger = options;
  stranger.ca_file = directory / "other-ca.crt";
  expect_refusal(stranger);
  EtcdClientOptions nobody = options;
  nobody.cert_file = nobody.key_file = "";
  expect_refusal(nobody);
  expect_refusal(OptionsFor(server.Address("/a")));
  const auto read = (*EtcdClient::Make(options))->Range(Get("/a"));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->kvs(0).value(), "1");
}

TEST_F(EtcdClientTest, ReadsTheFilesOfTlsAgainWhereTheyHaveChanged) {
  const TemporaryDirectory directory;
  MakeCertificates(directory);
  const EtcdServer server({}, {.ca_file = directory / "ca.crt",
                               .cert_file = directory / "etcd.crt",
                               .key_file = directory / "etcd.key"});
  const auto put_in_place = [&](const char* from, const char* to) {
    const std::string next = directory / "next";
    std::filesystem::copy_file(directory / from, next);
    std::filesystem::rename(next, directory / to);
  };
  // A certificate that etcd does not trust, and a CA that is not etcd's.
  put_in_place("other-ca.crt", "client.crt");
  put_in_place("other-ca.key", "client.key");
  put_in_place("other-ca.crt", "trusted.crt");
  EtcdClientOptions options = OptionsFor(server.Address("/a"), 1000);
  options.ca_file = directory / "trusted.crt";
  options.cert_file = directory / "client.crt";
  options.key_file = directory / "client.key";
  const auto client = EtcdClient::Make(options);
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(RetriedWhile(absl::StatusCode::kDeadlineExceeded,
                           [&] { return (*client)->Txn(Put("/a", "1")); }),
              StatusIs(absl::StatusCode::kUnavailable));
  put_in_place("ca.crt", "trusted.crt");
  put_in_place("etcd.key", "client.key");
  put_in_place("etcd.crt", "client.crt");
  EXPECT_TRUE(Eventually([&] { return (*client)->Txn(Put("/a", "2")).ok(); }));
}

TEST_F(EtcdClientTest, WatchesWhatHappensFromARevisionOn) {
  const std::string prefix = Prefix();
  const auto client = MakeClient(SharedEtcd().Address(prefix));
  const int64_t revision =
      client->Txn(Put(prefix + "0", "1"))->header().revision();
  EtcdClient::Watch watch(*client, WatchOf(prefix, revision));
  std::vector<std::string> seen;
  for (int i = 1; seen.size() < 4; ++i) {
    const auto response = watch.Next();
    ASSERT_THAT(response, IsOk());
    for (const mvccpb::Event& event : response->events()) {
      seen.push_back(event.kv().key().substr(prefix.size()));
    }
    if (i < 4) {
      ASSERT_THAT(client->Txn(Put(StrCat(prefix, i), "")), IsOk());
    }
  }
  EXPECT_THAT(seen, testing::ElementsAre("0", "1", "2", "3"));
}

TEST_F(EtcdClientTest, EndsAWatchThatIsCancelledBeforeOrMeanwhile) {
  const auto client = MakeClient(SharedEtcd().Address(Prefix()));
  EtcdClient::Watch before(*client, WatchOf("/nothing", 0));
  before.Cancel();
  EXPECT_THAT(before.Next(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(before.Next(), StatusIs(absl::StatusCode::kUnavailable));
  EtcdClient::Watch meanwhile(*client, WatchOf("/nothing", 0));
  ASSERT_THAT(meanwhile.Next(), IsOk());  // The watch has begun.
  std::thread other([&] { meanwhile.Cancel(); });
  EXPECT_THAT(meanwhile.Next(),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(SharedEtcd().endpoint()),
                             HasSubstr("the watch has ended"))));
  other.join();
}

TEST_F(EtcdClientTest, SaysThatWhatIsWatchedIsCompacted) {
  const std::string prefix = Prefix();
  const auto client = MakeClient(SharedEtcd().Address(prefix));
  const int64_t first = client->Txn(Put(prefix, "1"))->header().revision();
  const int64_t second = client->Txn(Put(prefix, "2"))->header().revision();
  Compact(*client, second);
  EtcdClient::Watch watch(*client, WatchOf(prefix, first));
  absl::Status status;
  while (status.ok()) status = watch.Next().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange,
                               AllOf(HasSubstr(prefix),
                                     HasSubstr("is compacted up to"))));
}

TEST_F(EtcdClientTest, WatchesAtTheNextEndpointWhereOneIsAway) {
  const std::string prefix = Prefix();
  const auto client =
      MakeClient("etcd://127.0.0.1:1," + SharedEtcd().endpoint() + prefix);
  EXPECT_THAT(
      EtcdClient::Watch(*client, WatchOf(prefix, 0)).Next(),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("127.0.0.1:1")));
  EXPECT_THAT(EtcdClient::Watch(*client, WatchOf(prefix, 0)).Next(), IsOk());
}

}  // namespace
}  // namespace sluice
